// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/resource/v1.h"
#include "apiserver/admission/plugins/resource_quota/evaluator.h"
#include "apiserver/admission/plugins/shared/claim_class.h"

namespace cox::apiserver::quota {
namespace {

using core::v1::PersistentVolumeClaim;
using core::v1::Service;

bool CreatesOrUpdates(Operation operation, std::string_view subresource) {
  return subresource.empty() &&
         (operation == Operation::kCreate || operation == Operation::kUpdate);
}

// Updates are measured, too, because they may change the type of a Service and thus its usage.
class ServiceEvaluator final : public Evaluator {
 public:
  bool Handles(Operation operation, std::string_view subresource) const override {
    return CreatesOrUpdates(operation, subresource);
  }
  bool Measures(std::string_view name) const override {
    return name == "count/services" || name == "services" || name == "services.nodeports" ||
           name == "services.loadbalancers";
  }
  Amounts Usage(const Object& object, const Time&) const override {
    const core::v1::ServiceSpec& spec = object.As<Service>()->spec;
    const bool balanced = spec.type == core::v1::kServiceTypeLoadBalancer;
    int64_t node_ports = 0;
    if (spec.type == core::v1::kServiceTypeNodePort ||
        (balanced && spec.allocateLoadBalancerNodePorts.value_or(true))) {
      node_ports = static_cast<int64_t>(spec.ports.size());
    } else if (balanced) {
      // Only ports with an explicit node port.
      node_ports = std::count_if(spec.ports.begin(), spec.ports.end(),
                                 [](const core::v1::ServicePort& p) { return p.nodePort != 0; });
    }
    return {{"count/services", Quantity(1)},
            {"services", Quantity(1)},
            {"services.nodeports", Quantity(node_ports)},
            {"services.loadbalancers", Quantity(balanced ? 1 : 0)}};
  }
};

constexpr std::string_view kClaims = "persistentvolumeclaims";
constexpr std::string_view kStorage = "requests.storage";
// "gold.storageclass.storage.k8s.io/requests.storage": usage of one storage class.
constexpr std::string_view kOfStorageClass = ".storageclass.storage.k8s.io/";

class ClaimEvaluator final : public Evaluator {
 public:
  bool Handles(Operation operation, std::string_view subresource) const override {
    return CreatesOrUpdates(operation, subresource);
  }
  bool Measures(std::string_view name) const override {
    if (name == "count/persistentvolumeclaims" || name == kClaims || name == kStorage) return true;
    const auto of_class = [name](std::string_view what) {
      return name.ends_with(what) &&
             name.substr(0, name.size() - what.size()).ends_with(kOfStorageClass);
    };
    return of_class(kClaims) || of_class(kStorage);
  }
  // A claim that changes from one class to another is in the scope of both.
  bool InScope(const Scope& scope, const Object& object) const override {
    if (scope.scopeName != "VolumeAttributesClass") return false;
    const auto& claim = *object.As<PersistentVolumeClaim>();
    std::vector<std::string> classes;
    const auto note = [&](const std::string& name) {
      if (!name.empty()) classes.push_back(name);
    };
    note(claim.spec.volumeAttributesClassName.value_or(""));
    note(claim.status.currentVolumeAttributesClassName.value_or(""));
    if (claim.status.modifyVolumeStatus) {
      note(claim.status.modifyVolumeStatus->targetVolumeAttributesClassName);
    }
    if (classes.empty()) return Accepts(scope, "");
    return std::any_of(classes.begin(), classes.end(),
                       [&](const std::string& name) { return Accepts(scope, name); });
  }
  Amounts Usage(const Object& object, const Time&) const override {
    const auto& claim = *object.As<PersistentVolumeClaim>();
    Amounts usage{{"count/persistentvolumeclaims", Quantity(1)},
                  {std::string(kClaims), Quantity(1)}};
    const std::string class_name = StorageClassOf(claim).value_or("");
    const auto of_class = [&](std::string_view what) {
      return class_name + std::string(kOfStorageClass) + std::string(what);
    };
    if (!class_name.empty()) usage[of_class(kClaims)] = Quantity(1);
    const Quantity* wanted = claim.spec.resources.requests.Get("storage");
    if (wanted == nullptr) return usage;
    Quantity storage = *wanted;
    // A volume expansion may be in progress although the request was reduced again.
    const Quantity* allocated = claim.status.allocatedResources.Get("storage");
    if (allocated != nullptr && *allocated > storage) storage = *allocated;
    storage.RoundUp(0);
    usage[kStorage] = storage;
    if (!class_name.empty()) usage[of_class(kStorage)] = storage;
    return usage;
  }
};

// "gpu.example.com.deviceclass.resource.k8s.io/devices"
constexpr std::string_view kDevices = ".deviceclass.resource.k8s.io/devices";
// The maximum number of devices of a claim, which is used for the allocation mode All.
constexpr int64_t kMostDevices = 32;

template <class Request>
Quantity Devices(const Request& request) {
  return Quantity(request.allocationMode == "All" ? kMostDevices : request.count);
}

class ResourceClaimEvaluator final : public Evaluator {
 public:
  bool Handles(Operation operation, std::string_view subresource) const override {
    return CreatesOrUpdates(operation, subresource);
  }
  bool Measures(std::string_view name) const override {
    return name == "count/resourceclaims.resource.k8s.io" || name.ends_with(kDevices);
  }
  Amounts Usage(const Object& object, const Time&) const override {
    Amounts usage{{"count/resourceclaims.resource.k8s.io", Quantity(1)}};
    for (const auto& request : object.As<resource::v1::ResourceClaim>()->spec.devices.requests) {
      Amounts devices;
      if (request.exactly) {
        devices[request.exactly->deviceClassName + std::string(kDevices)] =
            Devices(*request.exactly);
      }
      // One of these is allocated: use the maximum for each class.
      for (const auto& choice : request.firstAvailable) {
        RaiseTo(devices, {{choice.deviceClassName + std::string(kDevices), Devices(choice)}});
      }
      Add(usage, devices);
    }
    return usage;
  }
};

class CountEvaluator final : public Evaluator {
 public:
  explicit CountEvaluator(const Resource& resource) : name_(CountName(resource)) {
    // Resources that were counted by these names before the "count/" prefix existed.
    for (std::string_view old :
         {"configmaps", "replicationcontrollers", "resourcequotas", "secrets"}) {
      if (resource.group.empty() && resource.name == old) old_name_ = old;
    }
  }
  bool Measures(std::string_view name) const override {
    return name == name_ || (!old_name_.empty() && name == old_name_);
  }
  Amounts Usage(const Object&, const Time&) const override {
    Amounts usage{{name_, Quantity(1)}};
    if (!old_name_.empty()) usage[old_name_] = Quantity(1);
    return usage;
  }

 private:
  std::string name_;
  std::string old_name_;
};

}  // namespace

std::string CountName(const Resource& resource) { return "count/" + resource.Qualified(); }

EvaluatorPtr NewServiceEvaluator() { return std::make_unique<ServiceEvaluator>(); }
EvaluatorPtr NewClaimEvaluator() { return std::make_unique<ClaimEvaluator>(); }
EvaluatorPtr NewResourceClaimEvaluator() { return std::make_unique<ResourceClaimEvaluator>(); }
EvaluatorPtr NewCountEvaluator(const Resource& resource) {
  return std::make_unique<CountEvaluator>(resource);
}

}  // namespace cox::apiserver::quota
