// SPDX-License-Identifier: Apache-2.0
#include "object/apply/new_object.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "object/apply/fields_v1.h"
#include "object/apply/schema.h"
#include "object/apply/walk.h"
#include "object/codec/json/json.h"
#include "object/codec/json/member.h"
#include "object/codec/json/text.h"

namespace cox::apply {
namespace {

// One value of the new object, next to that of the zero object.
struct Node {
  TypeRef type;
  const void* value = nullptr;  // null: null in JSON
  const void* zero = nullptr;   // null: absent or null
  bool added = false;           // absent in the zero object
  const FieldSet* excluded = nullptr;
};

class Writer {
 public:
  // False: the object is not supported.
  bool Write(const Type& type, const void* object, const void* zero, const FieldSet& excluded) {
    out_ = "{";
    if (!Fields({.type = TypeRef(type), .value = object, .zero = zero, .excluded = &excluded}, 0)) {
      return false;
    }
    out_ += '}';
    return true;
  }
  std::string TakeText() { return std::move(out_); }

 private:
  bool Fields(const Node& node, int depth) {
    const Type& type = node.type.type();
    if (type.by_name.empty() && !type.fields.empty()) return false;  // not generated
    for (const uint16_t row : type.by_name) {
      const Field& field = type.fields[row];
      const json::Member member = json::MemberAt(field, node.value);
      if (!member.present) continue;
      const json::Member before =
          node.zero == nullptr ? json::Member() : json::MemberAt(field, node.zero);
      Node inner{.type = TypeRef(field),
                 .value = member.value,
                 .zero = before.value,
                 .added = !before.present};
      if (ExcludesField(node, field.name, &inner)) continue;
      step_.assign("f:").append(field.name);
      if (!WriteValue(inner, depth + 1)) return false;
    }
    return true;
  }

  // Whether the field `name` of the node is excluded. Otherwise sets the excluded fields below it.
  static bool ExcludesField(const Node& node, std::string_view name, Node* inner) {
    return node.excluded != nullptr && Excludes(node.excluded->FindField(name), inner);
  }
  static bool ExcludesItem(const Node& node, const PathElement& element, Node* inner) {
    return node.excluded != nullptr && Excludes(node.excluded->Find(element), inner);
  }
  static bool Excludes(const FieldSet::Entry* entry, Node* inner) {
    if (entry == nullptr) return false;
    inner->excluded = &entry->children;
    return entry->member;
  }

  // Writes step_ and the owned fields of the value; nothing if neither has an owner.
  bool WriteValue(Node node, int depth) {
    if (depth > kMaxWalkDepth) return false;
    const Form form = node.type.form();
    const Type& type = node.type.type();
    const bool unspecified = form == Form::kDeduced && type.shape != Shape::kIntOrString;
    if (unspecified || type.shape == Shape::kAny) return false;
    if (node.value != nullptr && json::IsNull(type, node.value)) node.value = nullptr;
    if (node.zero != nullptr && json::IsNull(type, node.zero)) node.zero = nullptr;
    const bool by_parts = form == Form::kMembers || form == Form::kItems;
    const bool owned = node.added || (!by_parts && Differs(type, node.value, node.zero));
    if (!owned && (!by_parts || node.value == nullptr)) return true;

    const size_t before = out_.size();
    if (out_.back() != '{') out_ += ',';
    json::WriteString(step_, &out_);
    out_ += ":{";
    const size_t inner = out_.size();
    if (node.value != nullptr && by_parts) {
      if (owned) out_ += "\".\":{}";
      const size_t parts = out_.size();
      if (!Parts(node, form, depth)) return false;
      if (out_.size() == parts) out_.resize(inner);  // a leaf is encoded as {}
    }
    if (!owned && out_.size() == inner) {
      out_.resize(before);
    } else {
      out_ += '}';
    }
    return true;
  }

  bool Parts(const Node& node, Form form, int depth) {
    if (form == Form::kItems) return Items(node, depth);
    if (node.type.type().shape == Shape::kMap) return Entries(node, depth);
    return Fields(node, depth);
  }

  static bool Differs(const Type& type, const void* a, const void* b) {
    if (a == nullptr || b == nullptr) return a != b;
    return json::ToValue(type, a) != json::ToValue(type, b);
  }

  // Writes the entries of a map. The map of the zero object is empty.
  bool Entries(const Node& node, int depth) {
    const Type& type = node.type.type();
    const ItemSpan entries = type.map_ops->Entries(node.value);
    for (size_t i = 0; i < entries.count; ++i) {
      const char* const entry = static_cast<const char*>(entries.data) + i * type.map_ops->stride;
      const auto& key = *reinterpret_cast<const std::string*>(entry);
      Node inner{.type = TypeRef(*type.element),
                 .value = entry + type.map_ops->value_offset,
                 .added = true};
      if (ExcludesField(node, key, &inner)) continue;
      step_.assign("f:").append(key);
      if (!WriteValue(inner, depth + 1)) return false;
    }
    return true;
  }

  // Writes the items of a set or of a list with keys. The list of the zero object is empty.
  bool Items(const Node& node, int depth) {
    const Type& type = node.type.type();
    const ItemSpan items = type.list_ops->items(node.value);
    std::vector<std::pair<PathElement, const void*>> named;
    named.reserve(items.count);
    for (size_t i = 0; i < items.count; ++i) {
      const void* const item = static_cast<const char*>(items.data) + i * type.list_ops->stride;
      std::optional<PathElement> element = ElementOf(type, item);
      if (!element) return false;
      named.emplace_back(*std::move(element), item);
    }
    std::sort(named.begin(), named.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < named.size(); ++i) {
      const auto& [element, item] = named[i];
      if (i > 0 && named[i - 1].first == element) return false;
      Node inner{.type = TypeRef(*type.element), .value = item, .added = true};
      if (ExcludesItem(node, element, &inner)) continue;
      step_ = WriteStep(element);
      if (!WriteValue(inner, depth + 1)) return false;
    }
    return true;
  }

  // nullopt: the item has no valid key or scalar value. FieldManager::UpdateManagers reports that.
  static std::optional<PathElement> ElementOf(const Type& list, const void* item) {
    const Type& type = *list.element;
    if (list.list_type == ListType::kSet) {
      if (!type.IsScalar()) return std::nullopt;
      return PathElement::Item(json::ToValue(type, item));
    }
    if (type.shape != Shape::kStruct || type.codec != Codec::kFields) return std::nullopt;
    Value::Object keys;
    for (const std::string_view key : list.keys) {
      const Field* const field = type.Find(key);
      if (field == nullptr) return std::nullopt;
      const json::Member member = json::MemberAt(*field, item);
      if (member.present && member.value != nullptr) {
        keys.Append(std::string(key), json::ToValue(*field->type, member.value));
      } else if (std::optional<Value> standard = KeyDefault(&type, key)) {
        keys.Append(std::string(key), *std::move(standard));
      }
    }
    keys.Seal();
    if (keys.empty()) return std::nullopt;
    return PathElement::Key(std::move(keys));
  }

  std::string out_;
  std::string step_;  // of the next value, for example "f:spec"
};

}  // namespace

std::optional<std::string> FieldsOfNewObject(const Type& type, const void* object, const void* zero,
                                             const FieldSet& excluded) {
  Writer writer;
  if (!writer.Write(type, object, zero, excluded)) return std::nullopt;
  return writer.TakeText();
}

}  // namespace cox::apply
