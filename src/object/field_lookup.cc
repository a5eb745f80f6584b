// SPDX-License-Identifier: Apache-2.0
#include "object/field_lookup.h"

#include <charconv>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/pointer.h"

namespace cox {
namespace {

Status BadPath(std::string_view path, std::string_view why) {
  return Status::BadRequest("invalid field path " + Quote(path) + ": " + std::string(why));
}

// Parses the content of [...]: an index or a quoted key.
Result<PathStep> ParseBracket(std::string_view path, std::string_view inside) {
  bool quoted =
      inside.size() >= 2 && (inside[0] == '\'' || inside[0] == '"') && inside.back() == inside[0];
  if (quoted) return PathStep{.name = std::string(inside.substr(1, inside.size() - 2))};
  PathStep step;
  auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
  if (error != std::errc() || end != inside.data() + inside.size() || step.index < 0) {
    return BadPath(path, "brackets hold an index or a quoted key");
  }
  return step;
}

// The value that `step` selects from a non-pointer value; nullopt if it does not exist.
std::optional<FieldRef> Take(FieldRef from, const PathStep& step) {
  const Type& type = *from.type;
  if (type.shape == Shape::kStruct && step.index < 0) {
    const Field* field = type.Find(step.name);
    if (field == nullptr || field->Has(Field::kInline)) return std::nullopt;
    const void* at = static_cast<const char*>(from.at) + field->offset;
    if (field->Has(Field::kPointer)) at = PointedTo(*field->type, at);
    if (at == nullptr) return std::nullopt;
    return FieldRef{field->type, at};
  }
  if (type.shape == Shape::kList && step.index >= 0) {
    ItemSpan items = type.list_ops->items(from.at);
    auto index = static_cast<size_t>(step.index);
    if (index >= items.count) return std::nullopt;
    return FieldRef{type.element, static_cast<char*>(items.data) + index * type.list_ops->stride};
  }
  if (type.shape == Shape::kMap && step.index < 0) {
    ItemSpan entries = type.map_ops->Entries(from.at);
    for (size_t i = 0; i < entries.count; ++i) {
      const char* entry = static_cast<char*>(entries.data) + i * type.map_ops->stride;
      if (*reinterpret_cast<const std::string*>(entry) == step.name) {
        return FieldRef{type.element, entry + type.map_ops->value_offset};
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> ScalarText(const Value& value) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_bool() || value.is_number()) return json::Write(value);
  return std::nullopt;
}

}  // namespace

Result<std::vector<PathStep>> ParsePath(std::string_view path) {
  std::vector<PathStep> steps;
  size_t at = 0;
  while (at < path.size()) {
    if (path[at] == '[') {
      size_t close = path.find(']', at);
      // A quoted key may contain a bracket, so search for the closing bracket after its quote.
      if (at + 1 < path.size() && (path[at + 1] == '\'' || path[at + 1] == '"')) {
        size_t quote = path.find(path[at + 1], at + 2);
        close = quote == std::string_view::npos ? quote : path.find(']', quote);
      }
      if (close == std::string_view::npos) return BadPath(path, "a bracket is not closed");
      COX_ASSIGN_OR_RETURN(PathStep step, ParseBracket(path, path.substr(at + 1, close - at - 1)));
      steps.push_back(std::move(step));
      at = close + 1;
      continue;
    }
    if (path[at] == '.') {
      if (steps.empty()) return BadPath(path, "it begins with a dot");
      ++at;
    } else if (!steps.empty()) {
      return BadPath(path, "a dot is missing");
    }
    size_t end = path.find_first_of(".[", at);
    std::string_view name = path.substr(at, end - at);
    if (name.empty()) return BadPath(path, "a name is missing");
    steps.push_back({.name = std::string(name)});
    at += name.size();
  }
  if (steps.empty()) return BadPath(path, "it is empty");
  return steps;
}

std::optional<FieldRef> FindField(const Type& type, const void* object,
                                  const std::vector<PathStep>& path) {
  std::optional<FieldRef> at = FieldRef{&type, object};
  for (const PathStep& step : path) {
    if (at = Take(*at, step); !at) break;
  }
  return at;
}

const Value* FindField(const Value& value, const std::vector<PathStep>& path) {
  const Value* at = &value;
  for (const PathStep& step : path) {
    if (step.index < 0) {
      at = at->Find(step.name);
    } else {
      bool there = at->is_array() && static_cast<size_t>(step.index) < at->as_array().size();
      at = there ? &at->as_array()[static_cast<size_t>(step.index)] : nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::optional<std::string> FieldText(const Object& object, const std::vector<PathStep>& path) {
  if (!object.is_typed()) {
    const Value* value = FindField(object.value(), path);
    return value == nullptr ? std::nullopt : ScalarText(*value);
  }
  std::optional<FieldRef> field = FindField(object.type(), object.data(), path);
  if (!field || !field->type->IsScalar()) return std::nullopt;
  return ScalarText(json::ToValue(*field->type, field->at));
}

}  // namespace cox
