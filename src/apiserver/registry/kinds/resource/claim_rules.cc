// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/resource/claim_rules.h"

#include "apiserver/registry/kinds/resource/claim_refs.h"
#include "apiserver/registry/kinds/resource/device_rules.h"
#include "apiserver/registry/validation/field_checks.h"
#include "base/strings.h"

namespace cox::apiserver::devices {
namespace {

using resource::v1::DeviceClaim;
using resource::v1::DeviceConstraint;
using resource::v1::DeviceRequest;

constexpr std::string_view kAll = "All", kExactCount = "ExactCount";

// Validates the parts that requests and subrequests have in common.
template <class Request>
void CheckRequestFields(FieldErrorList& errors, const Request& request, const FieldPath& path) {
  Append(errors, ValidateSubdomain(request.deviceClassName, path.Child("deviceClassName")));
  Append(errors, ValidateSelectors(request.selectors, path.Child("selectors")));
  FieldPath count = path.Child("count");
  if (request.allocationMode == kAll) {
    if (request.count != 0) {
      errors.push_back(FieldError::Invalid(count, request.count,
                                           "must not be specified when allocationMode is 'All'"));
    }
  } else if (request.allocationMode == kExactCount) {
    if (request.count <= 0) {
      errors.push_back(FieldError::Invalid(count, request.count, "must be greater than zero"));
    }
  } else {
    errors.push_back(FieldError::NotSupported(path.Child("allocationMode"), request.allocationMode,
                                              {kAll, kExactCount}));
  }
  CheckEach(errors, request.tolerations, kMaxTolerations, path.Child("tolerations"),
            ValidateToleration);
  if (request.capacity) {
    FieldPath requests = path.Child("capacity").Child("requests");
    for (const auto& [name, amount] : request.capacity->requests) {
      Append(errors, ValidateQualifiedName(name, requests));
    }
  }
}

FieldErrorList CheckSubRequest(const resource::v1::DeviceSubRequest& request,
                               const FieldPath& path) {
  FieldErrorList errors = ValidateLabel(request.name, path.Child("name"));
  CheckRequestFields(errors, request, path);
  return errors;
}

FieldErrorList CheckRequest(const DeviceRequest& request, const FieldPath& path) {
  constexpr const char* kOne = "exactly one of `exactly` or `firstAvailable` is required";
  FieldErrorList errors = ValidateLabel(request.name, path.Child("name"));
  bool exactly = request.exactly.has_value(), first = !request.firstAvailable.empty();
  if (exactly && first) {
    errors.push_back(
        FieldError::Invalid(path, nullptr, std::string(kOne) + ", but multiple fields are set"));
  } else if (!exactly && !first) {
    errors.push_back(FieldError::Required(path, kOne));
  }
  CheckSet(
      errors, request.firstAvailable, kMaxSubRequests, path.Child("firstAvailable"),
      [](const auto& sub) { return sub.name; }, CheckSubRequest);
  if (exactly) CheckRequestFields(errors, *request.exactly, path.Child("exactly"));
  return errors;
}

FieldErrorList CheckConstraint(const DeviceConstraint& constraint, const RequestNames& names,
                               const FieldPath& path) {
  FieldErrorList errors;
  CheckRequestRefs(errors, constraint.requests, names, path.Child("requests"));
  if (constraint.matchAttribute) {
    Append(errors,
           ValidateFullyQualifiedName(*constraint.matchAttribute, path.Child("matchAttribute")));
  } else if (constraint.distinctAttribute) {
    Append(errors, ValidateFullyQualifiedName(*constraint.distinctAttribute,
                                              path.Child("distinctAttribute")));
  } else {
    errors.push_back(FieldError::Required(
        path, "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required"));
  }
  return errors;
}

template <class Request>
void DefaultCount(Request& request) {
  if (request.allocationMode.empty()) request.allocationMode = kExactCount;
  if (request.allocationMode == kExactCount && request.count == 0) request.count = 1;
}

}  // namespace

RequestNames RequestNamesOf(const DeviceClaim& claim) {
  RequestNames names;
  for (const DeviceRequest& request : claim.requests) {
    names.insert(request.name);
    for (const auto& sub : request.firstAvailable) names.insert(request.name + "/" + sub.name);
  }
  return names;
}

FieldErrorList ValidateRequestRef(std::string_view name, const RequestNames& names,
                                  const FieldPath& path) {
  constexpr const char* kUnknown =
      "must be the name of a request in the claim or the name of a request and a subrequest "
      "separated by '/'";
  FieldErrorList errors;
  if (std::count(name.begin(), name.end(), '/') > 1) {
    return {FieldError::Invalid(path, name, kUnknown)};
  }
  for (std::string_view part : Split(name, '/')) Append(errors, ValidateLabel(part, path));
  if (!names.contains(name)) errors.push_back(FieldError::Invalid(path, name, kUnknown));
  return errors;
}

void CheckRequestRefs(FieldErrorList& errors, const List<std::string>& refs,
                      const RequestNames& names, const FieldPath& path) {
  CheckSet(
      errors, refs, kMaxRequests, path, [](const std::string& ref) { return ref; },
      [&names](const std::string& ref, const FieldPath& at) {
        return ValidateRequestRef(ref, names, at);
      });
}

void SetClaimDefaults(resource::v1::ResourceClaimSpec& spec) {
  for (DeviceRequest& request : spec.devices.requests) {
    if (request.exactly) DefaultCount(*request.exactly);
    for (auto& sub : request.firstAvailable) DefaultCount(sub);
  }
}

FieldErrorList ValidateClaimSpec(const resource::v1::ResourceClaimSpec& spec,
                                 const FieldPath& path) {
  FieldErrorList errors;
  const DeviceClaim& claim = spec.devices;
  FieldPath devices = path.Child("devices");
  RequestNames names = RequestNamesOf(claim);
  CheckSet(
      errors, claim.requests, kMaxRequests, devices.Child("requests"),
      [](const DeviceRequest& request) { return request.name; }, CheckRequest);
  CheckEach(errors, claim.constraints, kMaxConstraints, devices.Child("constraints"),
            [&names](const DeviceConstraint& constraint, const FieldPath& at) {
              return CheckConstraint(constraint, names, at);
            });
  CheckEach(errors, claim.config, kMaxConfigs, devices.Child("config"),
            [&names](const auto& config, const FieldPath& at) {
              FieldErrorList found;
              CheckRequestRefs(found, config.requests, names, at.Child("requests"));
              Append(found, ValidateConfiguration(config.deviceConfiguration, at));
              return found;
            });
  return errors;
}

Warnings ClaimWarnings(const resource::v1::ResourceClaimSpec& spec, const FieldPath& path) {
  Warnings warnings;
  FieldPath config = path.Child("devices").Child("config");
  for (size_t i = 0; i < spec.devices.config.size(); ++i) {
    const auto& opaque = spec.devices.config[i].deviceConfiguration.opaque;
    if (!opaque) continue;
    WarnOnDriverName(warnings, opaque->driver, config.Index(i).Child("opaque").Child("driver"));
  }
  return warnings;
}

}  // namespace cox::apiserver::devices
