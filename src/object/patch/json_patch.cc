// SPDX-License-Identifier: Apache-2.0
#include "object/patch/json_patch.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "object/patch/depth.h"
#include "object/patch/json_pointer.h"
#include "object/type/go_text.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace {

constexpr std::string_view kMissing = ": missing value";
constexpr std::string_view kBadIndex = ": invalid index referenced";

Status Fail(std::string message) { return Status::Invalid(std::move(message)); }

std::string NoNumber(std::string_view token, const ArrayIndex& index) {
  return "strconv.Atoi: parsing " + Quote(token) +
         (index.out_of_range ? ": value out of range" : ": invalid syntax");
}

std::string Inaccessible(int64_t index) {
  return "Unable to access invalid index: " + std::to_string(index) + std::string(kBadIndex);
}

// The position of an item, or of a new item: `size` is the number of valid positions. The error
// contains only the cause; operations add their context.
Result<size_t> Position(std::string_view token, size_t size) {
  ArrayIndex index = ParseArrayIndex(token);
  if (!index.value) return Fail(NoNumber(token, index));
  auto places = static_cast<int64_t>(size);
  if (*index.value >= places || *index.value < -places) return Fail(Inaccessible(*index.value));
  return static_cast<size_t>(*index.value < 0 ? *index.value + places : *index.value);
}

// The value of `token` in `parent`; a missing member is null (`absent`), a missing item an error.
Result<const Value*> Get(const Value& parent, std::string_view token) {
  static const Value absent;
  if (parent.is_object()) {
    const Value* member = parent.Find(token);
    return member != nullptr ? member : &absent;
  }
  COX_ASSIGN_OR_RETURN(size_t at, Position(token, parent.as_array().size()));
  return &parent.as_array()[at];
}

Status Add(Value& parent, const std::string& token, Value value) {
  if (parent.is_object()) {
    parent.as_object()[token] = std::move(value);
    return {};
  }
  Value::Array& items = parent.as_array();
  if (token == "-") {
    items.push_back(std::move(value));
    return {};
  }
  Result<size_t> at = Position(token, items.size() + 1);
  if (!at.ok()) {
    if (ParseArrayIndex(token).value) return at.status();
    return at.status().WithContext("value was not a proper array index: '" + token + "'");
  }
  items.insert(items.begin() + static_cast<ptrdiff_t>(*at), std::move(value));
  return {};
}

Result<Value> Remove(Value& parent, const std::string& token) {
  Value removed;
  if (parent.is_object()) {
    Value* member = parent.Find(token);
    if (member == nullptr) {
      return Fail("Unable to remove nonexistent key: " + token + std::string(kMissing));
    }
    removed = std::move(*member);
    parent.as_object().Erase(token);
    return removed;
  }
  Value::Array& items = parent.as_array();
  COX_ASSIGN_OR_RETURN(size_t at, Position(token, items.size()));
  removed = std::move(items[at]);
  items.erase(items.begin() + static_cast<ptrdiff_t>(at));
  return removed;
}

// A position of an item or member in its container.
struct Place {
  Value* parent = nullptr;  // null: the container does not exist
  std::string token;
  int depth = 0;  // number of arrays and objects around it
};

// The application of a patch to a document.
class Run {
 public:
  explicit Run(Value& document) : document_(document), depth_bound_(DepthOf(document)) {}

  Status Apply(const JsonPatchOperation& operation) {
    const std::string op = operation.op.value_or("unknown");
    if (op == "add") return ApplyAdd(operation);
    if (op == "remove") return ApplyRemove(operation);
    if (op == "replace") return ApplyReplace(operation);
    if (op == "move") return ApplyMove(operation);
    if (op == "copy") return ApplyCopy(operation);
    if (op == "test") return ApplyTest(operation);
    return Fail("Unexpected kind: " + op);
  }

 private:
  Place Find(const std::string& path) {
    std::optional<JsonPointer> pointer = JsonPointer::Parse(path);
    if (!pointer) return {};
    return {.parent = pointer->FindParent(document_),
            .token = pointer->last(),
            .depth = static_cast<int>(pointer->tokens().size())};
  }

  // Whether `value`, with a depth of at most `below`, can be put at `to`. Copies into copies double
  // the depth, and the recursion of Value must be limited. The exact depth needs a traversal of the
  // document, so it is computed only if the cheap upper bound exceeds the limit.
  Status CheckDepth(const Place& to, const Value& value, int below) {
    int bound = std::max(depth_bound_, to.depth + below);
    if (bound > limits::kMaxDepth) {
      below = DepthOf(value);
      if (to.depth + below > limits::kMaxDepth) return Fail("exceeded max depth");
      bound = std::max(DepthOf(document_), to.depth + below);
    }
    depth_bound_ = bound;
    return {};
  }

  Status Put(const Place& to, Value value, int below) {
    COX_RETURN_IF_ERROR(CheckDepth(to, value, below));
    return Add(*to.parent, to.token, std::move(value));
  }

  Status ApplyAdd(const JsonPatchOperation& operation) {
    if (!operation.path) return Fail("add operation failed to decode path: missing value");
    Place to = Find(*operation.path);
    if (to.parent == nullptr) {
      return Fail("add operation does not apply: doc is missing path: " + Quote(*operation.path) +
                  std::string(kMissing));
    }
    Status added = Put(to, operation.value, DepthOf(operation.value));
    return added.ok() ? added
                      : added.WithContext("error in add for path: '" + *operation.path + "'");
  }

  Status ApplyRemove(const JsonPatchOperation& operation) {
    if (!operation.path) return Fail("remove operation failed to decode path: missing value");
    Place at = Find(*operation.path);
    if (at.parent == nullptr) {
      return Fail("remove operation does not apply: doc is missing path: " +
                  Quote(*operation.path) + std::string(kMissing));
    }
    Status removed = Remove(*at.parent, at.token).status();
    return removed.ok()
               ? removed
               : removed.WithContext("error in remove for path: '" + *operation.path + "'");
  }

  Status ApplyReplace(const JsonPatchOperation& operation) {
    if (!operation.path) return NoPath("replace");
    if (operation.path->empty()) {
      if (!operation.value.is_object() && !operation.value.is_array()) {
        return Fail("replace operation value must be object or array");
      }
      document_ = operation.value;
      depth_bound_ = DepthOf(document_);
      return {};
    }
    Place at = Find(*operation.path);
    if (at.parent == nullptr) {
      return Fail("replace operation does not apply: doc is missing path: " + *operation.path +
                  std::string(kMissing));
    }
    Result<const Value*> old = Get(*at.parent, at.token);
    if (!old.ok()) {
      return Fail("replace operation does not apply: doc is missing key: " + *operation.path +
                  std::string(kMissing));
    }
    COX_RETURN_IF_ERROR(CheckDepth(at, operation.value, DepthOf(operation.value)));
    if (at.parent->is_object()) {
      at.parent->as_object()[at.token] = operation.value;
    } else {
      *const_cast<Value*>(*old) = operation.value;  // safe: an item of document_
    }
    return {};
  }

  Status ApplyMove(const JsonPatchOperation& operation) {
    if (!operation.from) return NoFrom("move");
    Place from = Find(*operation.from);
    if (from.parent == nullptr) return NoSource("move", *operation.from);
    Result<Value> moved = Remove(*from.parent, from.token);
    if (!moved.ok()) {
      return moved.status().WithContext("error in move for path: '" + from.token + "'");
    }
    if (!operation.path) return NoPath("move");
    Place to = Find(*operation.path);  // after the removal, which may have changed the position
    if (to.parent == nullptr) return NoDestination("move", *operation.path);
    Status added = Put(to, std::move(*moved), depth_bound_);
    return added.ok() ? added
                      : added.WithContext("error in move for path: '" + *operation.path + "'");
  }

  Status ApplyCopy(const JsonPatchOperation& operation) {
    if (!operation.from) return NoFrom("copy");
    Place from = Find(*operation.from);
    if (from.parent == nullptr) return NoSource("copy", *operation.from);
    Result<const Value*> source = Get(*from.parent, from.token);
    if (!source.ok()) {
      return source.status().WithContext("error in copy for from: '" + *operation.from + "'");
    }
    if (!operation.path) return NoPath("copy");
    Place to = Find(*operation.path);
    if (to.parent == nullptr) return NoDestination("copy", *operation.path);

    copied_bytes_ += json::Write(**source).size();
    if (copied_bytes_ > limits::kMaxJsonPatchCopyBytes) {
      return Fail("Unable to complete the copy, the accumulated size increase of copy is " +
                  std::to_string(copied_bytes_) + ", exceeding the limit " +
                  std::to_string(limits::kMaxJsonPatchCopyBytes));
    }
    Status added = Put(to, Value(**source), depth_bound_);
    return added.ok() ? added : added.WithContext("error while adding value during copy");
  }

  Status ApplyTest(const JsonPatchOperation& operation) {
    if (!operation.path) return NoPath("test");
    const Value* found = &document_;
    if (!operation.path->empty()) {
      Place at = Find(*operation.path);
      if (at.parent == nullptr) {
        return Fail("test operation does not apply: is missing path: " + *operation.path +
                    std::string(kMissing));
      }
      Result<const Value*> got = Get(*at.parent, at.token);
      if (!got.ok()) {
        return got.status().WithContext("error in test for path: '" + *operation.path + "'");
      }
      found = *got;
    }
    if (*found == operation.value) return {};
    return Fail("testing value " + *operation.path + " failed: test failed");
  }

  static Status NoPath(const std::string& op) {
    return Fail(op + " operation failed to decode path: operation missing path field" +
                std::string(kMissing));
  }
  static Status NoFrom(const std::string& op) {
    return Fail(op + " operation failed to decode from: operation, missing from field" +
                std::string(kMissing));
  }
  static Status NoSource(const std::string& op, const std::string& from) {
    return Fail(op + " operation does not apply: doc is missing from path: " + from +
                std::string(kMissing));
  }
  static Status NoDestination(const std::string& op, const std::string& path) {
    return Fail(op + " operation does not apply: doc is missing destination path: " + path +
                std::string(kMissing));
  }

  Value& document_;
  size_t copied_bytes_ = 0;
  int depth_bound_;  // upper bound of the document's depth
};

Status Undecodable(std::string_view why) {
  return Status::BadRequest("error decoding patch: " + std::string(why));
}

// Reads a member that is a string, absent or null.
Status ReadText(const Value& operation, std::string_view field, std::optional<std::string>* text) {
  const Value* member = operation.Find(field);
  if (member == nullptr || member->is_null()) return {};
  if (!member->is_string()) {
    return Undecodable(CannotUnmarshal(
        *member, "struct field jsonPatchOp." + std::string(field) + " of type string"));
  }
  *text = std::string(member->as_string());
  return {};
}

Result<JsonPatchOperation> ReadOperation(const Value& value) {
  JsonPatchOperation operation;
  if (value.is_null()) return operation;
  if (!value.is_object()) {
    return Undecodable(CannotUnmarshal(value, "value of type handlers.jsonPatchOp"));
  }
  COX_RETURN_IF_ERROR(ReadText(value, "op", &operation.op));
  COX_RETURN_IF_ERROR(ReadText(value, "path", &operation.path));
  COX_RETURN_IF_ERROR(ReadText(value, "from", &operation.from));
  if (const Value* member = value.Find("value"); member != nullptr) operation.value = *member;
  return operation;
}

void ReportUnknown(const Value& patch, json::Strictness* strict) {
  if (strict == nullptr || !patch.is_array()) return;
  for (size_t i = 0; i < patch.as_array().size(); ++i) {
    const Value& operation = patch.as_array()[i];
    if (!operation.is_object()) continue;
    for (const auto& [key, value] : operation.as_object()) {
      if (key == "op" || key == "path" || key == "from" || key == "value") continue;
      strict->Unknown("[" + std::to_string(i) + "]." + key);
    }
  }
}

}  // namespace

Result<JsonPatch> ParseJsonPatch(std::string_view text, json::Strictness* strict) {
  Result<Value> patch = json::Parse(text, strict);
  if (!patch.ok()) return Undecodable(patch.status().message());
  ReportUnknown(*patch, strict);
  return DecodeJsonPatch(*patch);
}

Result<JsonPatch> DecodeJsonPatch(const Value& patch) {
  JsonPatch operations;
  if (patch.is_null()) return operations;
  if (!patch.is_array()) {
    return Undecodable(CannotUnmarshal(patch, "value of type []handlers.jsonPatchOp"));
  }
  for (const Value& item : patch.as_array()) {
    COX_ASSIGN_OR_RETURN(operations.emplace_back(), ReadOperation(item));
  }
  if (operations.size() > limits::kMaxJsonPatchOperations) {
    return Status::TooLarge(
        "Request entity too large: The allowed maximum operations in a JSON patch is " +
        std::to_string(limits::kMaxJsonPatchOperations) + ", got " +
        std::to_string(operations.size()));
  }
  return operations;
}

Result<Value> ApplyJsonPatch(Value document, const JsonPatch& patch) {
  if (!document.is_object() && !document.is_array()) {
    return Fail(CannotUnmarshal(document, "value of type jsonpatch.partialDoc"));
  }
  Run run(document);
  for (const JsonPatchOperation& operation : patch) COX_RETURN_IF_ERROR(run.Apply(operation));
  return document;
}

}  // namespace cox::patch
