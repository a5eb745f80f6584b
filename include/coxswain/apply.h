// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "object/object.h"
#include "object/type/value.h"

namespace cox {

namespace internal {
// The JSON name of the member at `offset` in a struct of `type`. `member` is the member's type if
// it is a struct. Returns an empty string for an inlined struct. Aborts the process if there is no
// such member.
std::string FieldNameAt(const Type& type, size_t offset, const Type* member);
// The object without fields that have their zero value.
Value OnlySetFields(const Object& object);
void KeepPath(const Object& object, const std::vector<std::string>& path, Value& out);

template <class S, class M>
std::string FieldName(M S::*member) {
  // Computes the offset of the member from a sample object.
  static const S sample{};
  const auto* base = reinterpret_cast<const char*>(&sample);
  const auto* at = reinterpret_cast<const char*>(&(sample.*member));
  const Type* type = nullptr;
  if constexpr (requires { M::kType; }) type = &M::kType;
  return FieldNameAt(S::kType, static_cast<size_t>(at - base), type);
}
}  // namespace internal

// The input of server-side apply: an object in which only the fields that the caller manages are
// set. The struct itself is the builder:
//
//   ApplyConfiguration<apps::v1::Deployment> web{{
//       .metadata = {.name = "web", .namespace_ = "default"},
//       .spec = {.replicas = 3, .template_ = {.spec = {.containers = {{.name = "c", .image =
//       "nginx"}}}}},
//   }};
//   web.Also(&Deployment::spec, &DeploymentSpec::paused);   // sends and owns paused: false
//   client.Apply(ctx, web, {.field_manager = "my-operator"});
//
// Fields with their zero value ("", 0, false, empty) are not sent and therefore not owned, unless
// Also names them. Optional members that have a value are always sent.
template <class T>
class ApplyConfiguration {
 public:
  ApplyConfiguration(T object) : object_(std::move(object)) {}  // NOLINT: the struct is the builder

  T& object() { return object_; }
  const T& object() const { return object_; }

  // Sends the field even if it is zero. The path may pass through structs, not through lists.
  template <class... Members>
  ApplyConfiguration& Also(Members... members) {
    also_.push_back({internal::FieldName(members)...});
    return *this;
  }

  // The JSON value that is sent.
  Value ToValue() const {
    const Object object = Object::Of(object_);
    Value value = internal::OnlySetFields(object);
    for (const std::vector<std::string>& path : also_) internal::KeepPath(object, path, value);
    return value;
  }

 private:
  T object_;
  std::vector<std::vector<std::string>> also_;
};

}  // namespace cox
