// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/type/value.h"

// Where a field stands in an object, in the terms that tell its owners apart: list items are named
// by their key or value rather than by their position, so that a path still means the same item
// after others were added.
namespace cox::apply {

// One step into an object: to a member, or to a list item.
//
// Threads and ownership: a plain value.
class PathElement {
 public:
  enum class Kind : uint8_t {
    kField,  // the member of this name: .image
    kKey,    // the item whose key fields have these values: [containerPort=80,protocol="TCP"]
    kValue,  // the item of a set that is this value: [="a"]
    kIndex,  // the item at this position: [0]
  };

  static PathElement Field(std::string_view name) { return {Kind::kField, Value(name)}; }
  static PathElement Key(Value::Object fields) {
    return {Kind::kKey, AsWritten(Value(std::move(fields)))};
  }
  static PathElement Item(Value value) { return {Kind::kValue, AsWritten(std::move(value))}; }
  static PathElement Index(int64_t index) { return {Kind::kIndex, Value(index)}; }

  Kind kind() const { return kind_; }
  // The name as a string, the key fields as an object, the item itself, or the position as an int.
  const Value& value() const { return value_; }
  // REQUIRES: kind() == kField.
  std::string_view name() const { return value_.as_string(); }

  // As the list above shows.
  void AppendTo(std::string* out) const;

  // By kind, in the order above; then by content. Numbers come before strings, then booleans,
  // lists, objects and null. This is the order of fieldsV1.
  friend std::strong_ordering operator<=>(const PathElement& a, const PathElement& b);
  friend bool operator==(const PathElement& a, const PathElement& b) {
    return (a <=> b) == 0;  // NOLINT(modernize-use-nullptr): an order, no pointer
  }
  // The order of `a` and the field `name`.
  static std::strong_ordering Compare(const PathElement& a, std::string_view name);

 private:
  PathElement(Kind kind, Value value) : value_(std::move(value)), kind_(kind) {}

  // `value` as it is after having been written and read: a double that is written without a
  // fraction is read as an integer, and from 2^53 on that may be another number.
  static Value AsWritten(Value value);

  Value value_;
  Kind kind_;
};

using Path = std::vector<PathElement>;

// `.spec.containers[name="web"].image`, as conflicts and errors print it.
std::string PathText(std::span<const PathElement> path);

}  // namespace cox::apply
