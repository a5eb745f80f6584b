// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/validation/field_checks.h"

namespace cox::apiserver {
namespace {

using core::v1::Namespace;

// The namespace controller removes it when the namespace is empty.
constexpr std::string_view kKubernetesFinalizer = "kubernetes";
constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

constexpr std::string_view kActive = "Active";
constexpr std::string_view kTerminating = "Terminating";

void CheckFinalizer(FieldErrorList& errors, std::string_view name, const FieldPath& path) {
  AppendInvalid(errors, path, name, validation::IsQualifiedName(name));
  bool standard = name == kKubernetesFinalizer || name == "orphan" || name == "foregroundDeletion";
  if (name.find('/') == std::string_view::npos && !standard) {
    errors.push_back(FieldError::Invalid(
        path, name, "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

// The phase must be Terminating if and only if the namespace is being deleted.
class StatusStrategy final : public PlainStatusStrategy<Namespace> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const Namespace& ns,
                             const Namespace&) const override {
    FieldPath path = FieldPath("status").Child("Phase");
    if (!ns.metadata.deletionTimestamp.has_value() && ns.status.phase != kActive) {
      return {FieldError::Invalid(path, ns.status.phase,
                                  "may only be 'Active' if `deletionTimestamp` is empty")};
    }
    if (ns.metadata.deletionTimestamp.has_value() && ns.status.phase != kTerminating) {
      return {FieldError::Invalid(path, ns.status.phase,
                                  "may only be 'Terminating' if `deletionTimestamp` is not empty")};
    }
    return {};
  }
};

// /finalize is the only way to change spec.finalizers.
class FinalizeStrategy final : public UpdateStrategyOf<Namespace> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, Namespace& ns, const Namespace& old) const override {
    ns.status = old.status;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Namespace& ns,
                             const Namespace&) const override {
    FieldErrorList errors;
    FieldPath path = FieldPath("spec").Child("finalizers");
    for (size_t i = 0; i < ns.spec.finalizers.size(); ++i) {
      CheckFinalizer(errors, ns.spec.finalizers[i], path.Index(i));
    }
    return errors;
  }
};

class NamespaceStrategy final : public StrategyOf<Namespace> {
 public:
  std::string_view storage_prefix() const override { return "namespaces"; }
  validation::NameRule name_rule() const override { return validation::NameIsDNSLabel; }

  const UpdateStrategy* Subresource(std::string_view name) const override {
    if (name == "status") return &status_;
    if (name == "finalize") return &finalize_;
    return nullptr;
  }
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }

  bool HasKindFinalizers(const Object& object) const override {
    return !object.As<Namespace>()->spec.finalizers.empty();
  }
  void MarkDeleting(const WriteContext&, Object& object) const override {
    object.As<Namespace>()->status.phase = kTerminating;
  }

  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"status.phase"};
    return kNames;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn, {.name = "Status", .type = "string"}, kAgeColumn};
    return kColumns;
  }

 protected:
  // Selectors by name rely on this label, so the server always sets it.
  void Default(Namespace& ns) const override {
    if (!ns.metadata.name.empty()) ns.metadata.labels[kNameLabel] = ns.metadata.name;
  }
  void PrepareCreate(const WriteContext&, Namespace& ns) const override {
    ns.status = {.phase = std::string(kActive)};
    List<std::string>& finalizers = ns.spec.finalizers;
    if (std::find(finalizers.begin(), finalizers.end(), kKubernetesFinalizer) == finalizers.end()) {
      finalizers.emplace_back(kKubernetesFinalizer);
    }
  }
  void PrepareUpdate(const WriteContext&, Namespace& ns, const Namespace& old) const override {
    ns.spec.finalizers = old.spec.finalizers;
    ns.status = old.status;
  }
  FieldErrorList Check(const WriteContext&, const Namespace& ns) const override {
    FieldErrorList errors;
    FieldPath path = FieldPath("spec").Child("finalizers");
    for (const std::string& name : ns.spec.finalizers) CheckFinalizer(errors, name, path);
    return errors;
  }
  // A generated name was not yet set when Default was called.
  void Normalize(Namespace& ns) const override {
    ns.metadata.labels[kNameLabel] = ns.metadata.name;
  }

  FieldPairs FieldsOf(const Namespace& ns) const override {
    return {{"status.phase", ns.status.phase}};
  }
  Cells RowOf(const Namespace& ns, const Time& now) const override {
    return {ns.metadata.name, ns.status.phase, Age(ns.metadata.creationTimestamp, now)};
  }

 private:
  StatusStrategy status_;
  FinalizeStrategy finalize_;
};

}  // namespace

StrategyPtr NewNamespaceStrategy() { return std::make_unique<NamespaceStrategy>(); }

}  // namespace cox::apiserver
