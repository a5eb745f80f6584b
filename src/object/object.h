// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "object/type/gvk.h"
#include "object/type/kind.h"
#include "object/type/value.h"

namespace cox {

namespace meta::v1 {
struct ObjectMeta;
}

// An object of any kind: a built-in kind in its struct, or a custom resource as a Value with a
// run-time Type. Generic code (storage, registry, patches) uses this; code for a specific kind uses
// the struct.
//
// Ownership: owns the object; copying is deep. Published objects are shared as `ObjectPtr`.
// Threads: as a plain struct; concurrent const access is safe.
class Object {
 public:
  // A new, empty object of a built-in kind.
  explicit Object(const KindInfo& kind);
  // The same with another GVK: options and Status belong to every group version.
  Object(const KindInfo& kind, GroupVersionKind gvk);
  // A custom resource. `type` may be unspecified (types::kAny) and must outlive the Object.
  Object(GroupVersionKind gvk, const Type& type, Value value);
  template <class T>
    requires requires { T::kKind; }
  static Object Of(T value) {
    Object object(T::kKind);
    *object.As<T>() = std::move(value);
    return object;
  }

  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(Object other) noexcept;
  ~Object();

  const GroupVersionKind& gvk() const { return gvk_; }
  const Type& type() const { return *type_; }
  bool is_typed() const { return data_ != nullptr; }

  // REQUIRES: is_typed(). The struct, for code that uses the type tables.
  void* data() { return data_; }
  const void* data() const { return data_; }
  // REQUIRES: !is_typed()
  Value& value() { return value_; }
  const Value& value() const { return value_; }

  // The struct if this is a T, else null.
  template <class T>
  T* As() {
    return type_ == &T::kType ? static_cast<T*>(data_) : nullptr;
  }
  template <class T>
  const T* As() const {
    return type_ == &T::kType ? static_cast<const T*>(data_) : nullptr;
  }

  // The struct's metadata; null if it has none or is not typed.
  meta::v1::ObjectMeta* object_meta();
  const meta::v1::ObjectMeta* object_meta() const;

  // Converts the object to its JSON representation, with kind and apiVersion.
  Value ToValue() const;
  // Replaces the object by `value`. Errors: as json::FromValue.
  Status FromValue(Value value);

  friend bool operator==(const Object& a, const Object& b);

 private:
  GroupVersionKind gvk_;
  const Type* type_;
  void* data_ = nullptr;  // created and freed by type_->struct_ops
  Value value_;
};

using ObjectPtr = std::shared_ptr<const Object>;

}  // namespace cox
