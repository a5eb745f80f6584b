// SPDX-License-Identifier: Apache-2.0
#include "object/type/value.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <memory>

namespace cox {
namespace {

bool KeyLess(const ValueObject::Member& m, std::string_view key) { return m.key < key; }

// Orders an int and a double without losing the int's low bits.
std::strong_ordering CompareIntDouble(int64_t i, double d) {
  if (std::isnan(d)) return std::strong_ordering::greater;
  if (d >= 9223372036854775808.0) return std::strong_ordering::less;
  if (d < -9223372036854775808.0) return std::strong_ordering::greater;
  auto whole = static_cast<int64_t>(d);  // towards zero
  if (i != whole) return i <=> whole;
  double rest = d - static_cast<double>(whole);
  if (rest > 0) return std::strong_ordering::less;
  if (rest < 0) return std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

std::strong_ordering CompareNumbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.as_int() <=> b.as_int();
  if (a.is_int()) return CompareIntDouble(a.as_int(), b.as_double());
  if (b.is_int()) return 0 <=> CompareIntDouble(b.as_int(), a.as_double());
  if (a.as_double() < b.as_double()) return std::strong_ordering::less;
  if (a.as_double() > b.as_double()) return std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

int Rank(const Value& v) {
  return v.is_double() ? static_cast<int>(Value::Kind::kInt) : static_cast<int>(v.kind());
}

}  // namespace

Value::Value(Array v) : kind_(Kind::kArray) { u_.array = new Array(std::move(v)); }
Value::Value(Object v) : kind_(Kind::kObject) { u_.object = new Object(std::move(v)); }

Value::Value(const Value& other) : u_(other.u_), size_(other.size_), kind_(other.kind_) {
  if (!other.OnHeap()) return;
  kind_ = Kind::kNull;  // nothing to free if a copy below throws
  switch (other.kind_) {
    case Kind::kString:
      InitString(other.as_string());
      break;
    case Kind::kArray:
      u_.array = new Array(*other.u_.array);
      break;
    case Kind::kObject:
      u_.object = new Object(*other.u_.object);
      break;
    default:
      break;
  }
  kind_ = other.kind_;
}

void Value::InitString(std::string_view v) {
  char* to = u_.inline_chars;
  if (v.size() > kInline) to = u_.chars = std::allocator<char>().allocate(v.size());
  if (!v.empty()) std::memcpy(to, v.data(), v.size());
  size_ = static_cast<uint32_t>(v.size());
  kind_ = Kind::kString;
}

void Value::Destroy() {
  switch (kind_) {
    case Kind::kString:
      std::allocator<char>().deallocate(u_.chars, size_);
      break;
    case Kind::kArray:
      delete u_.array;
      break;
    case Kind::kObject:
      delete u_.object;
      break;
    default:
      break;
  }
  kind_ = Kind::kNull;
}

Value Value::MakeObject(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Object object;
  for (const auto& [key, value] : members) object.Append(std::string(key), value);
  object.Seal();
  return object;
}

Value Value::MakeArray(std::initializer_list<Value> items) { return Array(items); }

const Value* Value::Find(std::string_view key) const {
  return is_object() ? u_.object->Find(key) : nullptr;
}

Value* Value::Find(std::string_view key) { return is_object() ? u_.object->Find(key) : nullptr; }

const Value* Value::At(std::initializer_list<std::string_view> path) const {
  const Value* at = this;
  for (std::string_view key : path) {
    if ((at = at->Find(key)) == nullptr) return nullptr;
  }
  return at;
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b) == 0;
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kBool:
      return a.u_.b == b.u_.b;
    case Value::Kind::kString:
      return a.as_string() == b.as_string();
    case Value::Kind::kArray:
      return *a.u_.array == *b.u_.array;
    case Value::Kind::kObject:
      return *a.u_.object == *b.u_.object;
    default:
      return false;
  }
}

std::strong_ordering Compare(const Value& a, const Value& b) {
  if (auto by_kind = Rank(a) <=> Rank(b); by_kind != 0) return by_kind;
  switch (a.kind()) {
    case Value::Kind::kNull:
      return std::strong_ordering::equal;
    case Value::Kind::kBool:
      return a.as_bool() <=> b.as_bool();
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      return CompareNumbers(a, b);
    case Value::Kind::kString:
      return a.as_string() <=> b.as_string();
    case Value::Kind::kArray:
      return std::lexicographical_compare_three_way(
          a.as_array().begin(), a.as_array().end(), b.as_array().begin(), b.as_array().end(),
          [](const Value& x, const Value& y) { return Compare(x, y); });
    case Value::Kind::kObject:
      break;
  }
  return std::lexicographical_compare_three_way(
      a.as_object().begin(), a.as_object().end(), b.as_object().begin(), b.as_object().end(),
      [](const ValueObject::Member& x, const ValueObject::Member& y) {
        if (auto by_key = x.key <=> y.key; by_key != 0) return by_key;
        return Compare(x.value, y.value);
      });
}

std::string_view Value::KindName() const {
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      break;
  }
  return "object";
}

bool ValueObject::empty() const { return members_.empty(); }
size_t ValueObject::size() const { return members_.size(); }
ValueObject::iterator ValueObject::begin() { return members_.begin(); }
ValueObject::iterator ValueObject::end() { return members_.end(); }
ValueObject::const_iterator ValueObject::begin() const { return members_.begin(); }
ValueObject::const_iterator ValueObject::end() const { return members_.end(); }

const Value* ValueObject::Find(std::string_view key) const {
  auto at = std::lower_bound(members_.begin(), members_.end(), key, KeyLess);
  return at != members_.end() && at->key == key ? &at->value : nullptr;
}

Value* ValueObject::Find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).Find(key));
}

Value& ValueObject::operator[](std::string_view key) {
  if (members_.empty() || members_.back().key < key) {
    return members_.emplace_back(Member{std::string(key), {}}).value;
  }
  auto at = std::lower_bound(members_.begin(), members_.end(), key, KeyLess);
  if (at->key != key) at = members_.insert(at, Member{std::string(key), {}});
  return at->value;
}

bool ValueObject::Erase(std::string_view key) {
  auto at = std::lower_bound(members_.begin(), members_.end(), key, KeyLess);
  if (at == members_.end() || at->key != key) return false;
  members_.erase(at);
  return true;
}

void ValueObject::Append(std::string key, Value value) {
  members_.push_back(Member{std::move(key), std::move(value)});
}

bool ValueObject::Seal() {
  auto rising = [](const Member& a, const Member& b) { return a.key < b.key; };
  auto not_rising = [](const Member& a, const Member& b) { return !(a.key < b.key); };
  // Most documents are sorted, so that one pass is sufficient.
  if (std::adjacent_find(members_.begin(), members_.end(), not_rising) == members_.end())
    return true;
  std::stable_sort(members_.begin(), members_.end(), rising);
  // Keep the last of equal keys, which a stable sort puts at the end of its run.
  size_t kept = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (i + 1 < members_.size() && members_[i + 1].key == members_[i].key) continue;
    if (kept != i) members_[kept] = std::move(members_[i]);
    ++kept;
  }
  bool unique = kept == members_.size();
  members_.resize(kept);
  return unique;
}

bool operator==(const ValueObject& a, const ValueObject& b) { return a.members_ == b.members_; }

}  // namespace cox
