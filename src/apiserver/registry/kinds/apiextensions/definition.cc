// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiextensions/definition.h"

#include <algorithm>

#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/conditions.h"
#include "object/owner.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::CustomResourceDefinitionCondition;
using apiextensions::v1::CustomResourceDefinitionVersion;

// Records the storage version in status.storedVersions.
void AddStoredVersion(CustomResourceDefinition& object) {
  for (const CustomResourceDefinitionVersion& version : object.spec.versions) {
    if (!version.storage) continue;
    auto& stored = object.status.storedVersions;
    if (std::find(stored.begin(), stored.end(), version.name) == stored.end()) {
      stored.push_back(version.name);
    }
    return;
  }
}

class DefinitionStatusStrategy final : public UpdateStrategyOf<CustomResourceDefinition> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"metadata.labels", "metadata.annotations",
                                                  "metadata.finalizers", "metadata.ownerReferences",
                                                  "spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, CustomResourceDefinition& object,
                     const CustomResourceDefinition& old) const override {
    object.spec = old.spec;
    object.metadata.labels = old.metadata.labels;
    object.metadata.annotations = old.metadata.annotations;
    object.metadata.finalizers = old.metadata.finalizers;
    object.metadata.ownerReferences = old.metadata.ownerReferences;
    object.metadata.generation = old.metadata.generation;
  }
};

class DefinitionStrategy final
    : public SpecAndStatusStrategy<CustomResourceDefinition, DefinitionStatusStrategy> {
 public:
  std::string_view storage_prefix() const override {
    return "apiextensions.k8s.io/customresourcedefinitions";
  }
  bool stored_as_json() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
  // All custom resources are deleted first; then the controller that deletes them removes the
  // finalizer.
  bool HasKindFinalizers(const Object& object) const override {
    const meta::v1::ObjectMeta& meta = *object.object_meta();
    return !meta.deletionTimestamp || HasFinalizer(meta, kCleanupFinalizer);
  }
  void MarkDeleting(const WriteContext& w, Object& object) const override {
    auto& definition = *object.As<CustomResourceDefinition>();
    auto& finalizers = definition.metadata.finalizers;
    if (!HasFinalizer(definition.metadata, kCleanupFinalizer)) {
      finalizers.emplace_back(kCleanupFinalizer);
    }
    SetCondition(
        definition.status.conditions,
        {.type = "Terminating",
         .status = "True",
         .reason = "InstanceDeletionPending",
         .message = "CustomResourceDefinition marked for deletion; CustomResource deletion "
                    "will begin soon"},
        w.now);
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn, {.name = "Created At", .type = "date"}};
    return kColumns;
  }

 protected:
  void Default(CustomResourceDefinition& object) const override {
    auto& names = object.spec.names;
    if (names.singular.empty()) {
      names.singular = names.kind;
      for (char& c : names.singular) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      }
    }
    if (names.listKind.empty() && !names.kind.empty()) names.listKind = names.kind + "List";
    if (!object.spec.conversion) {
      object.spec.conversion = apiextensions::v1::CustomResourceConversion{.strategy = "None"};
    }
    auto& webhook = object.spec.conversion->webhook;
    if (webhook && webhook->clientConfig && webhook->clientConfig->service &&
        !webhook->clientConfig->service->port) {
      webhook->clientConfig->service->port = 443;
    }
  }
  void PrepareCreate(const WriteContext& w, CustomResourceDefinition& object) const override {
    SpecAndStatusStrategy::PrepareCreate(w, object);
    AddStoredVersion(object);
  }
  void PrepareUpdate(const WriteContext& w, CustomResourceDefinition& object,
                     const CustomResourceDefinition& old) const override {
    SpecAndStatusStrategy::PrepareUpdate(w, object, old);
    AddStoredVersion(object);
  }
  FieldErrorList Check(const WriteContext&, const CustomResourceDefinition& object) const override {
    return ValidateDefinition(object, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const CustomResourceDefinition& object,
                             const CustomResourceDefinition& old) const override {
    return ValidateDefinition(object, &old);
  }
  Warnings Warn(const WriteContext&, const CustomResourceDefinition& object,
                const CustomResourceDefinition*) const override {
    return WarnOnDefinition(object);
  }
  Cells RowOf(const CustomResourceDefinition& object, const Time&) const override {
    return {object.metadata.name, object.metadata.creationTimestamp.ToString()};
  }
};

}  // namespace

const CustomResourceDefinitionCondition* FindCondition(const CustomResourceDefinition& definition,
                                                       std::string_view type) {
  for (const CustomResourceDefinitionCondition& condition : definition.status.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

StrategyPtr NewCustomResourceDefinitionStrategy() { return std::make_unique<DefinitionStrategy>(); }

}  // namespace cox::apiserver
