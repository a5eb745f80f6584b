// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/type/value.h"

// The path of a field in an object, for field ownership: list items are identified by their key or
// value instead of their index, so that a path still refers to the same item after others were
// added.
namespace cox::apply {

// One element of a path: a member or a list item.
//
// Threads and ownership: a plain value.
class PathElement {
 public:
  enum class Kind : uint8_t {
    kField,  // the member with this name: .image
    kKey,    // the item with these key fields: [containerPort=80,protocol="TCP"]
    kValue,  // the item of a set with this value: [="a"]
    kIndex,  // the item with this index: [0]
  };

  static PathElement Field(std::string_view name) { return {Kind::kField, Value(name)}; }
  static PathElement Key(Value::Object fields) {
    return {Kind::kKey, AsWritten(Value(std::move(fields)))};
  }
  static PathElement Item(Value value) { return {Kind::kValue, AsWritten(std::move(value))}; }
  static PathElement Index(int64_t index) { return {Kind::kIndex, Value(index)}; }

  Kind kind() const { return kind_; }
  // The name as a string, the key fields as an object, the item itself, or the index as an int.
  const Value& value() const { return value_; }
  // REQUIRES: kind() == kField.
  std::string_view name() const { return value_.as_string(); }

  // Appends the text format shown in Kind.
  void AppendTo(std::string* out) const;

  // By kind, in the order above; then by content. Numbers come before strings, then booleans,
  // lists, objects and null. This is the order of fieldsV1.
  friend std::strong_ordering operator<=>(const PathElement& a, const PathElement& b);
  friend bool operator==(const PathElement& a, const PathElement& b) {
    return (a <=> b) == 0;  // NOLINT(modernize-use-nullptr): an order, no pointer
  }
  // Compares `a` with the field `name`.
  static std::strong_ordering Compare(const PathElement& a, std::string_view name);

 private:
  PathElement(Kind kind, Value value) : value_(std::move(value)), kind_(kind) {}

  // Normalizes `value` to the result of encoding and decoding: a double that is encoded without a
  // fraction is decoded as an integer, which from 2^53 on may be another number.
  static Value AsWritten(Value value);

  Value value_;
  Kind kind_;
};

using Path = std::vector<PathElement>;

// `.spec.containers[name="web"].image`, the format in conflicts and errors.
std::string PathText(std::span<const PathElement> path);

}  // namespace cox::apply
