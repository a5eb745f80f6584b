// SPDX-License-Identifier: Apache-2.0
#include "object/apply/fields_v1.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/limits.h"

namespace cox::apply {
namespace {

void WriteSet(const FieldSet& set, bool member, std::string* out) {
  *out += '{';
  // A leaf is encoded as {}.
  if (member && !set.Empty()) *out += "\".\":{}";
  for (const FieldSet::Entry& e : set.entries()) {
    if (out->back() != '{') *out += ',';
    json::WriteString(WriteStep(e.element), out);
    *out += ':';
    WriteSet(e.children, e.member, out);
  }
  *out += '}';
}

Value ToValue(const FieldSet& set, bool member) {
  Value::Object object;
  if (member && !set.Empty()) object.Append(".", Value::MakeObject());
  for (const FieldSet::Entry& e : set.entries()) {
    object.Append(WriteStep(e.element), ToValue(e.children, e.member));
  }
  object.Seal();
  return object;
}

Status BadStep(std::string_view step, std::string_view why) {
  return Status::BadRequest("parsing key as path element: " + Quote(step) + ": " +
                            std::string(why));
}

// Decodes a path element; no value if its kind is unknown.
Result<std::optional<PathElement>> ReadStep(std::string_view text) {
  using Element = std::optional<PathElement>;
  if (text.size() < 2) return BadStep(text, "key must be 2 characters long");
  if (text[1] != ':') return BadStep(text, "missing colon");
  std::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f':
      return Element(PathElement::Field(rest));
    case 'i': {
      int64_t index = 0;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
      if (error != std::errc() || end != rest.data() + rest.size()) {
        return BadStep(text, "not an index");
      }
      return Element(PathElement::Index(index));
    }
    case 'v': {
      COX_ASSIGN_OR_RETURN(Value value, json::Parse(rest));
      return Element(PathElement::Item(std::move(value)));
    }
    case 'k': {
      COX_ASSIGN_OR_RETURN(Value value, json::Parse(rest));
      if (!value.is_object()) return BadStep(text, "key fields must be an object");
      return Element(PathElement::Key(std::move(value.as_object())));
    }
    default:
      return Element();
  }
}

// Fills `set`; `member` receives whether the path that ends here is in the set.
Status ReadSet(const Value& value, int depth, FieldSet* set, bool* member) {
  if (depth > limits::kMaxTypedDepth) return Status::BadRequest("fieldsV1 is nested too deeply");
  if (!value.is_null() && !value.is_object()) {
    return Status::BadRequest("fieldsV1: expected an object, got " + std::string(value.KindName()));
  }
  std::vector<std::pair<PathElement, const Value*>> steps;
  *member = false;
  if (value.is_object()) {
    for (const auto& [key, below] : value.as_object()) {
      if (key == ".") {
        *member = true;
        continue;
      }
      COX_ASSIGN_OR_RETURN(std::optional<PathElement> step, ReadStep(key));
      if (step) steps.emplace_back(std::move(*step), &below);
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < steps.size();) {
    FieldSet children;
    bool ends = false;
    size_t next = i;
    // Different texts may encode the same element ("v:1" and "v:1.0"): merge them.
    for (; next < steps.size() && steps[next].first == steps[i].first; ++next) {
      FieldSet some;
      bool some_end = false;
      COX_RETURN_IF_ERROR(ReadSet(*steps[next].second, depth + 1, &some, &some_end));
      children = next == i ? std::move(some) : children.Union(some);
      ends = ends || some_end;
    }
    set->Append(std::move(steps[i].first), ends, std::move(children));
    i = next;
  }
  *member = *member || set->Empty();
  return Status();
}

}  // namespace

std::string WriteStep(const PathElement& element) {
  switch (element.kind()) {
    case PathElement::Kind::kField:
      return "f:" + std::string(element.name());
    case PathElement::Kind::kIndex:
      return "i:" + std::to_string(element.value().as_int());
    case PathElement::Kind::kKey:
      return "k:" + json::Write(element.value());
    case PathElement::Kind::kValue:
      break;
  }
  return "v:" + json::Write(element.value());
}

std::string WriteFieldsV1(const FieldSet& set) {
  std::string out;
  WriteSet(set, false, &out);
  return out;
}

Value FieldsV1ToValue(const FieldSet& set) { return ToValue(set, false); }

Result<FieldSet> FieldsV1FromValue(const Value& value) {
  FieldSet set;
  bool member = false;
  COX_RETURN_IF_ERROR(ReadSet(value, 0, &set, &member));
  return set;
}

Result<FieldSet> ReadFieldsV1(std::string_view json) {
  COX_ASSIGN_OR_RETURN(Value value, json::Parse(json));
  return FieldsV1FromValue(value);
}

}  // namespace cox::apply
