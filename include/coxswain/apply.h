// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "object/object.h"
#include "object/type/value.h"

namespace cox {

namespace internal {
// The JSON name of the member at `offset` of a struct of `type`, which is of `member` if that is a
// struct; empty for one whose fields JSON shows as the outer struct's own. Ends the process if
// there is no such member.
std::string FieldNameAt(const Type& type, size_t offset, const Type* member);
// The object without the fields that have their zero value.
Value OnlySetFields(const Object& object);
void KeepPath(const Object& object, const std::vector<std::string>& path, Value& out);

template <class S, class M>
std::string FieldName(M S::*member) {
  // Where the member lies in a struct that is there only for this.
  static const S sample{};
  const auto* base = reinterpret_cast<const char*>(&sample);
  const auto* at = reinterpret_cast<const char*>(&(sample.*member));
  const Type* type = nullptr;
  if constexpr (requires { M::kType; }) type = &M::kType;
  return FieldNameAt(S::kType, static_cast<size_t>(at - base), type);
}
}  // namespace internal

// What server-side apply is given: an object in which only the fields that the caller has an
// opinion of are set. The struct itself is the builder:
//
//   ApplyConfiguration<apps::v1::Deployment> web{{
//       .metadata = {.name = "web", .namespace_ = "default"},
//       .spec = {.replicas = 3, .template_ = {.spec = {.containers = {{.name = "c", .image =
//       "nginx"}}}}},
//   }};
//   web.Also(&Deployment::spec, &DeploymentSpec::paused);   // paused: false, said and owned
//   client.Apply(ctx, web, {.field_manager = "my-operator"});
//
// Fields with their zero value ("", 0, false, empty) are not sent, and so not owned, unless Also
// names them. Optional members that are set are sent whatever their value.
template <class T>
class ApplyConfiguration {
 public:
  ApplyConfiguration(T object) : object_(std::move(object)) {}  // NOLINT: the struct is the builder

  T& object() { return object_; }
  const T& object() const { return object_; }

  // Sends the field even if it is zero. The path leads through structs, not lists.
  template <class... Members>
  ApplyConfiguration& Also(Members... members) {
    also_.push_back({internal::FieldName(members)...});
    return *this;
  }

  // As it is sent.
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
