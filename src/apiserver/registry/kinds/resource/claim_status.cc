// SPDX-License-Identifier: Apache-2.0
// The status of a claim: allocated devices, their consumers and conditions.
#include <set>
#include <string>

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/resource/claim_refs.h"
#include "apiserver/registry/kinds/resource/claim_rules.h"
#include "apiserver/registry/kinds/resource/device_rules.h"
#include "apiserver/registry/validation/conditions.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"
#include "object/validation/ip.h"

namespace cox::apiserver::devices {
namespace {

using resource::v1::AllocatedDeviceStatus;
using resource::v1::AllocationResult;
using resource::v1::ResourceClaim;
using resource::v1::ResourceClaimConsumerReference;

constexpr size_t kMaxConditions = 8, kMaxIPs = 16, kMaxInterfaceName = 256,
                 kMaxHardwareAddress = 128;
constexpr size_t kMaxAllocationConfigs = 64;  // from the class and from the claim
constexpr size_t kNoLimit = SIZE_MAX;

FieldErrorList CheckConsumer(const ResourceClaimConsumerReference& consumer,
                             const FieldPath& path) {
  FieldErrorList errors;
  if (consumer.resource.empty()) errors.push_back(FieldError::Required(path.Child("resource")));
  if (consumer.name.empty()) errors.push_back(FieldError::Required(path.Child("name")));
  if (consumer.uid.empty()) errors.push_back(FieldError::Required(path.Child("uid")));
  return errors;
}

// "driver/pool/device", followed by the share ID if the device is shared.
template <class T>
std::string DeviceID(const T& device) {
  std::string id = device.driver + "/" + device.pool + "/" + device.device;
  if (device.shareID) id += "/" + *device.shareID;
  return id;
}

template <class T>
void CheckDeviceNames(FieldErrorList& errors, const T& device, const FieldPath& path) {
  Append(errors, ValidateDriverName(device.driver, path.Child("driver")));
  Append(errors, ValidatePoolName(device.pool, path.Child("pool")));
  Append(errors, ValidateLabel(device.device, path.Child("device")));
}

FieldErrorList CheckAllocation(const AllocationResult& allocation, const RequestNames& names,
                               const FieldPath& path) {
  FieldErrorList errors;
  FieldPath devices = path.Child("devices");
  CheckEach(errors, allocation.devices.results, kMaxResults, devices.Child("results"),
            [&names](const auto& result, const FieldPath& at) {
              FieldErrorList found = ValidateRequestRef(result.request, names, at.Child("request"));
              CheckDeviceNames(found, result, at);
              return found;
            });
  CheckEach(errors, allocation.devices.config, kMaxAllocationConfigs, devices.Child("config"),
            [&names](const auto& config, const FieldPath& at) {
              FieldErrorList found;
              if (config.source.empty()) {
                found.push_back(FieldError::Required(at.Child("source")));
              } else if (config.source != "FromClaim" && config.source != "FromClass") {
                found.push_back(FieldError::NotSupported(at.Child("source"), config.source,
                                                         {"FromClaim", "FromClass"}));
              }
              CheckRequestRefs(found, config.requests, names, at.Child("requests"));
              Append(found, ValidateConfiguration(config.deviceConfiguration, at));
              return found;
            });
  if (allocation.nodeSelector) {
    Append(errors, ValidateNodeSelector(*allocation.nodeSelector, path.Child("nodeSelector")));
  }
  return errors;
}

void CheckNetworkData(FieldErrorList& errors, const resource::v1::NetworkDeviceData& network,
                      const FieldPath& path) {
  if (network.interfaceName.size() > kMaxInterfaceName) {
    errors.push_back(FieldError::TooLong(path.Child("interfaceName"), kMaxInterfaceName));
  }
  if (network.hardwareAddress.size() > kMaxHardwareAddress) {
    errors.push_back(FieldError::TooLong(path.Child("hardwareAddress"), kMaxHardwareAddress));
  }
  CheckSet(
      errors, network.ips, kMaxIPs, path.Child("ips"), [](const std::string& ip) { return ip; },
      [](const std::string& ip, const FieldPath& at) {
        return validation::IsValidInterfaceAddress(at, ip);
      });
}

FieldErrorList CheckDeviceStatus(const AllocatedDeviceStatus& device,
                                 const std::set<std::string>& allocated, const FieldPath& path) {
  FieldErrorList errors;
  CheckDeviceNames(errors, device, path);
  if (!allocated.contains(DeviceID(device))) {
    errors.push_back(
        FieldError::Invalid(path, DeviceID(device), "must be an allocated device in the claim"));
  }
  if (device.conditions.size() > kMaxConditions) {
    errors.push_back(FieldError::TooMany(path.Child("conditions"),
                                         static_cast<int64_t>(device.conditions.size()),
                                         static_cast<int64_t>(kMaxConditions)));
  }
  Append(errors, ValidateConditions(device.conditions, path.Child("conditions")));
  if (device.data && !device.data->raw.empty()) {
    Append(errors, ValidateRawObject(*device.data, path.Child("data")));
  }
  if (device.networkData) CheckNetworkData(errors, *device.networkData, path.Child("networkData"));
  return errors;
}

std::set<std::string_view> Uids(const ResourceClaim& claim) {
  std::set<std::string_view> uids;
  for (const auto& consumer : claim.status.reservedFor) uids.insert(consumer.uid);
  return uids;
}

// Only an allocated claim can be reserved, and a claim that is being deleted gets no new consumers.
void CheckReservations(FieldErrorList& errors, const ResourceClaim& claim, const ResourceClaim& old,
                       const FieldPath& path) {
  if (claim.status.reservedFor.empty()) return;
  if (!claim.status.allocation) {
    errors.push_back(
        FieldError::Forbidden(path, "may not be specified when `allocated` is not set"));
    return;
  }
  if (!claim.metadata.deletionTimestamp) return;
  std::set<std::string_view> before = Uids(old);
  for (std::string_view uid : Uids(claim)) {
    if (before.contains(uid)) continue;
    errors.push_back(FieldError::Forbidden(
        path,
        "new entries may not be added while `deallocationRequested` or `deletionTimestamp` "
        "are set"));
    return;
  }
}

}  // namespace

FieldErrorList ValidateClaimStatus(const ResourceClaim& claim, const ResourceClaim& old) {
  FieldErrorList errors;
  FieldPath path("status");
  const resource::v1::ResourceClaimStatus& status = claim.status;
  CheckSet(
      errors, status.reservedFor, kMaxConsumers, path.Child("reservedFor"),
      [](const ResourceClaimConsumerReference& consumer) { return consumer.uid; }, CheckConsumer);
  std::set<std::string> allocated;
  if (status.allocation) {
    for (const auto& result : status.allocation->devices.results)
      allocated.insert(DeviceID(result));
  }
  CheckSet(errors, status.devices, kNoLimit, path.Child("devices"), DeviceID<AllocatedDeviceStatus>,
           [&allocated](const AllocatedDeviceStatus& device, const FieldPath& at) {
             return CheckDeviceStatus(device, allocated, at);
           });
  CheckReservations(errors, claim, old, path.Child("reservedFor"));
  if (!status.allocation) return errors;
  FieldPath allocation = path.Child("allocation");
  if (!old.status.allocation) {
    Append(errors,
           CheckAllocation(*status.allocation, RequestNamesOf(claim.spec.devices), allocation));
  } else if (!DeepEqual(*status.allocation, *old.status.allocation)) {
    errors.push_back(validation::ImmutableField(allocation, InternalValue(*status.allocation)));
  }
  return errors;
}

}  // namespace cox::apiserver::devices
