// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiregistration/api_service.h"

#include "api/apiregistration/v1.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/conditions.h"
#include "apiserver/registry/validation/field_messages.h"

namespace cox::apiserver {
namespace {

using apiregistration::v1::APIService;
using apiregistration::v1::APIServiceCondition;
using apiregistration::v1::APIServiceSpec;

constexpr int32_t kMaxGroupPriority = 20000;
constexpr int32_t kMaxVersionPriority = 1000;

constexpr std::string_view kAvailable = "Available";

const APIServiceCondition* FindAvailable(const APIService& service) {
  for (const APIServiceCondition& condition : service.status.conditions) {
    if (condition.type == "Available") return &condition;
  }
  return nullptr;
}

void CheckService(const APIServiceSpec& spec, const FieldPath& path, FieldErrorList* errors) {
  const FieldPath insecure = path.Child("insecureSkipTLSVerify");
  if (!spec.service) {
    if (!spec.caBundle.empty()) {
      errors->push_back(FieldError::Invalid(path.Child("caBundle"),
                                            std::to_string(spec.caBundle.size()) + " bytes",
                                            "local APIServices may not have a caBundle"));
    }
    if (spec.insecureSkipTLSVerify) {
      errors->push_back(FieldError::Invalid(
          insecure, true, "local APIServices may not have insecureSkipTLSVerify"));
    }
    return;
  }
  const FieldPath service = path.Child("service");
  if (spec.service->namespace_.empty()) {
    errors->push_back(FieldError::Required(service.Child("namespace")));
  }
  if (spec.service->name.empty()) errors->push_back(FieldError::Required(service.Child("name")));
  if (spec.service->port) {
    for (const std::string& message : validation::IsValidPortNum(*spec.service->port)) {
      errors->push_back(FieldError::Invalid(service.Child("port"), *spec.service->port,
                                            "port is not valid: " + message));
    }
  }
  if (spec.insecureSkipTLSVerify && !spec.caBundle.empty()) {
    errors->push_back(
        FieldError::Invalid(insecure, true, "may not be true if caBundle is present"));
  }
}

void CheckStatus(const APIService& object, FieldErrorList* errors) {
  const FieldPath conditions = FieldPath("status").Child("conditions");
  for (size_t i = 0; i < object.status.conditions.size(); ++i) {
    const std::string& status = object.status.conditions[i].status;
    if (status == "True" || status == "False" || status == "Unknown") continue;
    errors->push_back(FieldError::NotSupported(conditions.Index(i).Child("status"), status,
                                               {"True", "False", "Unknown"}));
  }
}

FieldErrorList ValidateApiService(const APIService& object) {
  FieldErrorList errors;
  const APIServiceSpec& spec = object.spec;
  const FieldPath path("spec");
  // The name is determined by the spec, so that there is only one APIService for each group
  // version.
  const std::string name = spec.version + "." + spec.group;
  if (object.metadata.name != name && !object.metadata.name.empty()) {
    errors.push_back(
        FieldError::Invalid(FieldPath("metadata").Child("name"), object.metadata.name,
                            "must be `spec.version+\".\"+spec.group`: \"" + name + "\""));
  }
  if (spec.group.empty() && spec.version != "v1") {
    errors.push_back(FieldError::Required(
        path.Child("group"), "only v1 may have an empty group and it better be legacy kube"));
  }
  if (!spec.group.empty()) {
    AppendInvalid(errors, path.Child("group"), spec.group,
                  validation::IsDNS1123Subdomain(spec.group));
  }
  AppendInvalid(errors, path.Child("version"), spec.version,
                validation::IsDNS1035Label(spec.version));
  if (spec.groupPriorityMinimum <= 0 || spec.groupPriorityMinimum > kMaxGroupPriority) {
    errors.push_back(FieldError::Invalid(path.Child("groupPriorityMinimum"),
                                         spec.groupPriorityMinimum,
                                         "must be positive and less than 20000"));
  }
  if (spec.versionPriority <= 0 || spec.versionPriority > kMaxVersionPriority) {
    errors.push_back(FieldError::Invalid(path.Child("versionPriority"), spec.versionPriority,
                                         "must be positive and less than 1000"));
  }
  CheckService(spec, path, &errors);
  return errors;
}

class ApiServiceStatusStrategy final : public UpdateStrategyOf<APIService> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"metadata", "spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, APIService& object,
                     const APIService& old) const override {
    object.spec = old.spec;
    object.metadata.labels = old.metadata.labels;
    object.metadata.annotations = old.metadata.annotations;
    object.metadata.finalizers = old.metadata.finalizers;
    object.metadata.ownerReferences = old.metadata.ownerReferences;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const APIService& object,
                             const APIService&) const override {
    FieldErrorList errors;
    CheckStatus(object, &errors);
    return errors;
  }
};

class ApiServiceStrategy final
    : public SpecAndStatusStrategy<APIService, ApiServiceStatusStrategy, Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "apiregistration.k8s.io/apiservices"; }
  // The spec determines the name, see ValidateApiService.
  validation::NameRule name_rule() const override { return validation::NameIsPathSegment; }
  bool stored_as_json() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Service",
         .type = "string",
         .description = "The reference to the service that hosts this API endpoint."},
        {.name = "Available",
         .type = "string",
         .description = "Whether this service is available."},
        kAgeColumn};
    return kColumns;
  }

 protected:
  void Default(APIService& object) const override {
    if (object.spec.service && !object.spec.service->port) object.spec.service->port = 443;
  }
  void PrepareCreate(const WriteContext& w, APIService& object) const override {
    object.status = {};
    if (!object.spec.service) SetLocalAvailable(object, w.now);
  }
  FieldErrorList Check(const WriteContext&, const APIService& object) const override {
    return ValidateApiService(object);
  }
  Cells RowOf(const APIService& object, const Time& now) const override {
    std::string service = "Local";
    if (object.spec.service) {
      service = object.spec.service->namespace_ + "/" + object.spec.service->name;
    }
    std::string available = "Unknown";
    if (const APIServiceCondition* condition = FindAvailable(object)) {
      available = condition->status;
      if (available != "True") available += " (" + condition->reason + ")";
    }
    return {object.metadata.name, service, available, Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

bool SetAvailable(APIService& object, APIServiceCondition condition, const Time& now) {
  condition.type = kAvailable;
  return SetCondition(object.status.conditions, std::move(condition), now);
}

void SetLocalAvailable(APIService& object, const Time& now) {
  SetAvailable(
      object,
      {.status = "True", .reason = "Local", .message = "Local APIServices are always available"},
      now);
}

StrategyPtr NewApiServiceStrategy() { return std::make_unique<ApiServiceStrategy>(); }

void AddApiregistrationKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewApiServiceStrategy());
}

}  // namespace cox::apiserver
