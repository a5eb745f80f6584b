// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox {

class ValueObject;

// A JSON value: the content of custom resources, and the representation for patches and server-side
// apply of all kinds.
//
// Guarantees: 16 bytes; strings of up to 8 bytes need no allocation. An object's members are kept
//   sorted by key, so equal values are equal member by member and encode to equal bytes (in the key
//   order that Go gives maps). Integers that fit int64 stay integers; all other numbers are
//   doubles.
// Ownership: owns everything below it; copying is deep, moving leaves null.
// Threads: as a plain struct.
// Depth: destruction and copying recurse; decoders bound the depth (object/type/limits.h).
class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };
  using Array = std::vector<Value>;
  using Object = ValueObject;

  Value() = default;
  Value(std::nullptr_t) {}                              // NOLINT: literals convert
  Value(bool v) : kind_(Kind::kBool) { u_.b = v; }      // NOLINT
  Value(int v) : Value(static_cast<int64_t>(v)) {}      // NOLINT
  Value(int64_t v) : kind_(Kind::kInt) { u_.i = v; }    // NOLINT
  Value(double v) : kind_(Kind::kDouble) { u_.d = v; }  // NOLINT
  Value(std::string_view v) { InitString(v); }          // NOLINT
  Value(const std::string& v) { InitString(v); }        // NOLINT
  Value(const char* v) { InitString(v); }               // NOLINT
  Value(Array v);                                       // NOLINT
  Value(Object v);                                      // NOLINT
  Value(const Value& other);
  Value(Value&& other) noexcept : u_(other.u_), size_(other.size_), kind_(other.kind_) {
    other.kind_ = Kind::kNull;
  }
  Value& operator=(const Value& other) {
    if (this != &other) *this = Value(other);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    // `other` may be below *this: move it out before its owner is destroyed.
    Value taken(std::move(other));
    if (OnHeap()) Destroy();
    u_ = taken.u_;
    size_ = taken.size_;
    kind_ = taken.kind_;
    taken.kind_ = Kind::kNull;
    return *this;
  }
  ~Value() {
    if (OnHeap()) Destroy();
  }

  // Value::MakeObject({{"a", 1}, {"b", "text"}}), Value::MakeArray({1, 2}).
  static Value MakeObject(std::initializer_list<std::pair<std::string_view, Value>> members = {});
  static Value MakeArray(std::initializer_list<Value> items = {});

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_int() const { return kind_ == Kind::kInt; }
  bool is_double() const { return kind_ == Kind::kDouble; }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  // REQUIRES: the matching is_...().
  bool as_bool() const { return u_.b; }
  int64_t as_int() const { return u_.i; }
  double as_double() const { return u_.d; }
  double as_number() const { return is_int() ? static_cast<double>(u_.i) : u_.d; }
  std::string_view as_string() const {
    return {size_ <= kInline ? u_.inline_chars : u_.chars, size_};
  }
  Array& as_array() { return *u_.array; }
  const Array& as_array() const { return *u_.array; }
  Object& as_object() { return *u_.object; }
  const Object& as_object() const { return *u_.object; }

  // The member `key` of an object; null if *this is not an object or has no such member.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  // Follows members from object to object: At({"metadata", "labels", "app"}).
  const Value* At(std::initializer_list<std::string_view> path) const;

  // Deep. An int equals a double of the same number, as in JSON.
  friend bool operator==(const Value& a, const Value& b);
  // A total order: by kind (numbers as one kind), then content. Used to sort sets and map keys.
  friend std::strong_ordering Compare(const Value& a, const Value& b);

  // "null", "bool", "number", "string", "array", "object": the names in error texts.
  std::string_view KindName() const;

 private:
  static constexpr uint32_t kInline = 8;

  void InitString(std::string_view v);
  bool OnHeap() const {
    return kind_ >= Kind::kArray || (kind_ == Kind::kString && size_ > kInline);
  }
  void Destroy();

  union Payload {
    bool b;
    int64_t i;
    double d;
    char inline_chars[kInline];
    char* chars;
    Array* array;
    Object* object;
  } u_ = {.i = 0};
  uint32_t size_ = 0;  // of a string
  Kind kind_ = Kind::kNull;
};

// The members of a JSON object, sorted by key, each key once.
//
// Costs: lookup by binary search; appending in key order is amortised O(1), other inserts O(n).
class ValueObject {
 public:
  struct Member {
    std::string key;
    Value value;

    friend bool operator==(const Member&, const Member&) = default;
  };
  using iterator = std::vector<Member>::iterator;
  using const_iterator = std::vector<Member>::const_iterator;

  bool empty() const;
  size_t size() const;
  iterator begin();
  iterator end();
  const_iterator begin() const;
  const_iterator end() const;

  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  // The member `key`, inserted as null if it does not exist.
  Value& operator[](std::string_view key);
  // Returns true if the member existed.
  bool Erase(std::string_view key);

  // For decoders: append members in any order, then call Seal() once, which sorts them. Of
  // duplicate keys the last value is kept; Seal() returns false then.
  void Append(std::string key, Value value);
  bool Seal();

  friend bool operator==(const ValueObject& a, const ValueObject& b);

 private:
  std::vector<Member> members_;
};

}  // namespace cox
