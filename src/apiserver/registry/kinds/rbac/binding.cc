// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/rbac/v1.h"
#include "apiserver/registry/kinds/rbac/strategy.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using rbac::v1::ClusterRoleBinding;
using rbac::v1::RoleBinding;
using rbac::v1::RoleRef;
using rbac::v1::Subject;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kServiceAccount = "ServiceAccount", kUser = "User", kGroupKind = "Group";

FieldErrorList CheckRoleRef(const RoleRef& ref, bool namespaced) {
  FieldErrorList errors;
  FieldPath path("roleRef");
  if (ref.apiGroup != kGroup) {
    errors.push_back(FieldError::NotSupported(path.Child("apiGroup"), ref.apiGroup, {kGroup}));
  }
  if (ref.kind != "ClusterRole" && !(namespaced && ref.kind == "Role")) {
    errors.push_back(
        namespaced ? FieldError::NotSupported(path.Child("kind"), ref.kind, {"Role", "ClusterRole"})
                   : FieldError::NotSupported(path.Child("kind"), ref.kind, {"ClusterRole"}));
  }
  if (ref.name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name")));
  } else {
    AppendInvalid(errors, path.Child("name"), ref.name,
                  validation::IsValidPathSegmentName(ref.name));
  }
  return errors;
}

void CheckSubject(FieldErrorList& errors, const Subject& subject, bool namespaced,
                  const FieldPath& path) {
  if (subject.name.empty()) errors.push_back(FieldError::Required(path.Child("name")));
  if (subject.kind == kServiceAccount) {
    if (!subject.name.empty()) {
      AppendInvalid(errors, path.Child("name"), subject.name,
                    validation::NameIsDNSSubdomain(subject.name, false));
    }
    if (!subject.apiGroup.empty()) {
      errors.push_back(FieldError::NotSupported(path.Child("apiGroup"), subject.apiGroup, {""}));
    }
    if (!namespaced && subject.namespace_.empty()) {
      errors.push_back(FieldError::Required(path.Child("namespace")));
    }
  } else if (subject.kind == kUser || subject.kind == kGroupKind) {
    if (subject.apiGroup != kGroup) {
      errors.push_back(
          FieldError::NotSupported(path.Child("apiGroup"), subject.apiGroup, {kGroup}));
    }
  } else {
    errors.push_back(FieldError::NotSupported(path.Child("kind"), subject.kind,
                                              {kServiceAccount, kUser, kGroupKind}));
  }
}

// RoleBinding and ClusterRoleBinding differ in the roles and subjects that they may refer to.
template <class T>
class BindingStrategyOf : public StrategyOf<T> {
 public:
  explicit BindingStrategyOf(bool namespaced) : namespaced_(namespaced) {}

  validation::NameRule name_rule() const override { return validation::NameIsPathSegment; }
  bool AllowCreateOnUpdate() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Role", .type = "string"},
        kAgeColumn,
        {.name = "Users", .type = "string", .priority = 1},
        {.name = "Groups", .type = "string", .priority = 1},
        {.name = "ServiceAccounts", .type = "string", .priority = 1},
    };
    return kColumns;
  }

 protected:
  void Default(T& binding) const override {
    if (binding.roleRef.apiGroup.empty()) binding.roleRef.apiGroup = kGroup;
    for (Subject& subject : binding.subjects) {
      bool named = subject.kind == kUser || subject.kind == kGroupKind;
      if (named && subject.apiGroup.empty()) subject.apiGroup = kGroup;
    }
  }
  FieldErrorList Check(const WriteContext&, const T& binding) const override {
    FieldErrorList errors = CheckRoleRef(binding.roleRef, namespaced_);
    FieldPath path("subjects");
    for (size_t i = 0; i < binding.subjects.size(); ++i) {
      CheckSubject(errors, binding.subjects[i], namespaced_, path.Index(i));
    }
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const T& binding, const T& old) const override {
    FieldErrorList errors = Check(w, binding);
    if (!DeepEqual(binding.roleRef, old.roleRef)) {
      errors.push_back(FieldError::Invalid(FieldPath("roleRef"), InternalValue(binding.roleRef),
                                           "cannot change roleRef"));
    }
    return errors;
  }
  Cells RowOf(const T& binding, const Time& now) const override {
    std::string users, groups, accounts;
    auto add = [](std::string& list, const std::string& name) {
      if (!list.empty()) list.append(", ");
      list.append(name);
    };
    for (const Subject& subject : binding.subjects) {
      if (subject.kind == kUser) add(users, subject.name);
      if (subject.kind == kGroupKind) add(groups, subject.name);
      if (subject.kind == kServiceAccount) add(accounts, subject.namespace_ + "/" + subject.name);
    }
    return {binding.metadata.name,
            binding.roleRef.kind + "/" + binding.roleRef.name,
            Age(binding.metadata.creationTimestamp, now),
            users,
            groups,
            accounts};
  }

 private:
  bool namespaced_;
};

class RoleBindingStrategy final : public BindingStrategyOf<RoleBinding> {
 public:
  RoleBindingStrategy() : BindingStrategyOf(true) {}
  std::string_view storage_prefix() const override { return "rolebindings"; }
};

class ClusterRoleBindingStrategy final : public BindingStrategyOf<ClusterRoleBinding> {
 public:
  ClusterRoleBindingStrategy() : BindingStrategyOf(false) {}
  std::string_view storage_prefix() const override { return "clusterrolebindings"; }
};

}  // namespace

StrategyPtr NewRoleBindingStrategy() { return std::make_unique<RoleBindingStrategy>(); }
StrategyPtr NewClusterRoleBindingStrategy() {
  return std::make_unique<ClusterRoleBindingStrategy>();
}

}  // namespace cox::apiserver
