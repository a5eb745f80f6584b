// SPDX-License-Identifier: Apache-2.0
#include "object/object.h"

#include "api/meta/v1.h"
#include "object/codec/json/json.h"
#include "object/type/equal.h"
#include "object/type/kind_names.h"

namespace cox {

Object::Object(const KindInfo& kind) : Object(kind, GvkOf(kind)) {}

Object::Object(const KindInfo& kind, GroupVersionKind gvk)
    : gvk_(std::move(gvk)), type_(kind.type), data_(NewItem(*kind.type->struct_ops)) {}

Object::Object(GroupVersionKind gvk, const Type& type, Value value)
    : gvk_(std::move(gvk)), type_(&type), value_(std::move(value)) {}

Object::Object(const Object& other) : gvk_(other.gvk_), type_(other.type_), value_(other.value_) {
  if (other.data_ != nullptr) data_ = CloneItem(*type_->struct_ops, other.data_);
}

Object::Object(Object&& other) noexcept
    : gvk_(std::move(other.gvk_)),
      type_(other.type_),
      data_(std::exchange(other.data_, nullptr)),
      value_(std::move(other.value_)) {}

Object& Object::operator=(Object other) noexcept {
  std::swap(gvk_, other.gvk_);
  std::swap(type_, other.type_);
  std::swap(data_, other.data_);
  std::swap(value_, other.value_);
  return *this;
}

Object::~Object() {
  if (data_ != nullptr) DeleteItem(*type_->struct_ops, data_);
}

const meta::v1::ObjectMeta* Object::object_meta() const {
  if (data_ == nullptr) return nullptr;
  const Field* field = type_->Find("metadata");
  if (field == nullptr || field->type != &meta::v1::ObjectMeta::kType) return nullptr;
  return reinterpret_cast<const meta::v1::ObjectMeta*>(static_cast<const char*>(data_) +
                                                       field->offset);
}

meta::v1::ObjectMeta* Object::object_meta() {
  return const_cast<meta::v1::ObjectMeta*>(std::as_const(*this).object_meta());
}

Value Object::ToValue() const {
  Value value = is_typed() ? json::ToValue(*type_, data_) : value_;
  bool says_kind = !is_typed() || type_->type_meta;
  if (says_kind && value.is_object()) {
    value.as_object()["kind"] = gvk_.kind;
    value.as_object()["apiVersion"] = gvk_.group_version().ToString();
  }
  return value;
}

Status Object::FromValue(Value value) {
  if (!is_typed()) {
    value_ = std::move(value);
    return {};
  }
  void* fresh = NewItem(*type_->struct_ops);
  Status status = json::FromValue(value, *type_, fresh);
  if (status.ok()) std::swap(data_, fresh);
  DeleteItem(*type_->struct_ops, fresh);
  return status;
}

bool operator==(const Object& a, const Object& b) {
  if (a.gvk_ != b.gvk_ || a.type_ != b.type_ || a.is_typed() != b.is_typed()) return false;
  return a.is_typed() ? DeepEqual(*a.type_, a.data_, b.data_) : a.value_ == b.value_;
}

}  // namespace cox
