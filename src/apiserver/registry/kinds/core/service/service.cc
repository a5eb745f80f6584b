// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "apiserver/registry/kinds/core/service/service_validation.h"
#include "apiserver/registry/kinds/core/service/strategy.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using cv::Service;

constexpr int32_t kDefaultAffinitySeconds = 3 * 60 * 60;

void DefaultPorts(cv::ServiceSpec& spec) {
  for (cv::ServicePort& port : spec.ports) {
    if (port.protocol.empty()) port.protocol = "TCP";
    const bool no_target = port.targetPort.is_string() ? port.targetPort.string_value().empty()
                                                       : port.targetPort.int_value() == 0;
    if (no_target) port.targetPort = port.port;
  }
}

void DefaultAffinity(cv::ServiceSpec& spec) {
  if (spec.sessionAffinity.empty()) spec.sessionAffinity = "None";
  if (spec.sessionAffinity == "None") spec.sessionAffinityConfig.reset();
  if (spec.sessionAffinity != "ClientIP") return;
  auto& config = spec.sessionAffinityConfig;
  if (!config || !config->clientIP || !config->clientIP->timeoutSeconds) {
    config.ensure().clientIP.ensure().timeoutSeconds = kDefaultAffinitySeconds;
  }
}

bool SameNodePorts(const Service& a, const Service& b) {
  std::set<int32_t> of_a, of_b;
  for (const auto& port : a.spec.ports) of_a.insert(port.nodePort);
  for (const auto& port : b.spec.ports) of_b.insert(port.nodePort);
  return of_a == of_b;
}

// When the type changes, clears fields that only the old type has, if the server may have set them
// and the client did not change them. Validation rejects those that the client changed.
void DropFieldsOfOldType(Service& service, const Service& old) {
  cv::ServiceSpec& now = service.spec;
  const cv::ServiceSpec& before = old.spec;
  if (NeedsClusterIp(old) && !NeedsClusterIp(service)) {
    if (now.clusterIP == before.clusterIP && now.clusterIPs == before.clusterIPs) {
      now.clusterIP.clear();
      now.clusterIPs.clear();
    }
    if (now.ipFamilies == before.ipFamilies) now.ipFamilies.clear();
    if (now.ipFamilyPolicy == before.ipFamilyPolicy) now.ipFamilyPolicy.reset();
    if (now.internalTrafficPolicy == before.internalTrafficPolicy) {
      now.internalTrafficPolicy.reset();
    }
  }
  if (NeedsNodePort(old) && !NeedsNodePort(service) && SameNodePorts(service, old)) {
    for (cv::ServicePort& port : now.ports) port.nodePort = 0;
  }
  if (NeedsHealthCheckNodePort(old) && !NeedsHealthCheckNodePort(service) &&
      now.healthCheckNodePort == before.healthCheckNodePort) {
    now.healthCheckNodePort = 0;
  }
  if (IsExternallyAccessible(old) && !IsExternallyAccessible(service) &&
      now.externalTrafficPolicy == before.externalTrafficPolicy) {
    now.externalTrafficPolicy.clear();
  }
  if (before.type == "LoadBalancer" && now.type != "LoadBalancer") {
    if (now.allocateLoadBalancerNodePorts == before.allocateLoadBalancerNodePorts) {
      now.allocateLoadBalancerNodePorts.reset();
    }
    if (now.loadBalancerClass == before.loadBalancerClass) now.loadBalancerClass.reset();
  }
}

// A change to "SingleStack" removes the secondary address, even if the client did not remove it
// from the lists.
void TrimForSingleStack(Service& service, const Service& old) {
  cv::ServiceSpec& now = service.spec;
  if (old.spec.type == "ExternalName" || now.type == "ExternalName") return;
  if (now.ipFamilyPolicy.value_or("") != "SingleStack") return;
  if (now.clusterIPs.size() == 2 && now.clusterIPs == old.spec.clusterIPs) {
    now.clusterIPs.resize(1);
  }
  if (now.ipFamilies.size() == 2 && now.ipFamilies == old.spec.ipFamilies) {
    now.ipFamilies.resize(1);
  }
}

std::string FormatExternalIp(const Service& service) {
  const cv::ServiceSpec& spec = service.spec;
  if (spec.type == "ExternalName") return spec.externalName;
  if (spec.type == "LoadBalancer") {
    std::set<std::string> addresses;
    for (const auto& ingress : service.status.loadBalancer.ingress) {
      const std::string& address = ingress.ip.empty() ? ingress.hostname : ingress.ip;
      if (!address.empty()) addresses.insert(address);
    }
    std::vector<std::string> all(addresses.begin(), addresses.end());
    all.insert(all.end(), spec.externalIPs.begin(), spec.externalIPs.end());
    return all.empty() ? "<pending>" : Join(all, ",");
  }
  if (spec.type != "ClusterIP" && spec.type != "NodePort") return "<unknown>";
  return spec.externalIPs.empty() ? "<none>" : Join(spec.externalIPs, ",");
}

std::string FormatPorts(const cv::ServiceSpec& spec) {
  std::vector<std::string> items;
  for (const cv::ServicePort& port : spec.ports) {
    std::string item = std::to_string(port.port);
    if (port.nodePort != 0) item += ":" + std::to_string(port.nodePort);
    items.push_back(item + "/" + port.protocol);
  }
  return items.empty() ? "<none>" : Join(items, ",");
}

std::string FormatLabels(const Map<std::string>& labels) {
  std::vector<std::string> items;
  for (const auto& [key, value] : labels) items.emplace_back(key).append("=").append(value);
  return items.empty() ? "<none>" : Join(items, ",");
}

class ServiceStatusStrategy final : public PlainStatusStrategy<Service> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const Service& object,
                             const Service& old) const override {
    return ValidateServiceStatus(object, old);
  }
};

class ServiceStrategy final : public StrategyOf<Service> {
 public:
  std::string_view storage_prefix() const override { return "services/specs"; }
  bool ReturnsDeletedObject() const override { return true; }
  validation::NameRule name_rule() const override { return validation::NameIsDNSLabel; }
  bool AllowCreateOnUpdate() const override { return true; }
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }
  const UpdateStrategy* Subresource(std::string_view name) const override {
    return name == "status" ? &status_ : nullptr;
  }
  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"spec.clusterIP", "spec.type"};
    return kNames;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Type", .type = "string"},
        {.name = "Cluster-IP", .type = "string"},
        {.name = "External-IP", .type = "string"},
        {.name = "Port(s)", .type = "string"},
        kAgeColumn,
        {.name = "Selector", .type = "string", .priority = 1},
    };
    return kColumns;
  }

 protected:
  void Default(Service& object) const override {
    cv::ServiceSpec& spec = object.spec;
    DefaultAffinity(spec);
    if (spec.type.empty()) spec.type = "ClusterIP";
    DefaultPorts(spec);
    if (IsExternallyAccessible(object) && spec.externalTrafficPolicy.empty()) {
      spec.externalTrafficPolicy = "Cluster";
    }
    if (!spec.internalTrafficPolicy && NeedsClusterIp(object)) {
      spec.internalTrafficPolicy = "Cluster";
    }
    if (spec.type != "LoadBalancer") return;
    if (!spec.allocateLoadBalancerNodePorts) spec.allocateLoadBalancerNodePorts = true;
    for (cv::LoadBalancerIngress& ingress : object.status.loadBalancer.ingress) {
      if (!ingress.ip.empty() && !ingress.ipMode) ingress.ipMode = "VIP";
    }
  }
  void PrepareCreate(const WriteContext&, Service& object) const override { object.status = {}; }
  void PrepareUpdate(const WriteContext&, Service& object, const Service& old) const override {
    object.status = old.status;
    DropFieldsOfOldType(object, old);
    TrimForSingleStack(object, old);
  }
  FieldErrorList Check(const WriteContext&, const Service& object) const override {
    return ValidateService(object, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Service& object,
                             const Service& old) const override {
    return ValidateServiceUpdate(object, old);
  }
  Warnings Warn(const WriteContext&, const Service& object, const Service*) const override {
    return WarningsForService(object);
  }
  FieldPairs FieldsOf(const Service& object) const override {
    return {{"spec.clusterIP", object.spec.clusterIP}, {"spec.type", object.spec.type}};
  }
  Cells RowOf(const Service& object, const Time& now) const override {
    return {object.metadata.name,
            object.spec.type,
            object.spec.clusterIPs.empty() ? "<none>" : object.spec.clusterIPs[0],
            FormatExternalIp(object),
            FormatPorts(object.spec),
            Age(object.metadata.creationTimestamp, now),
            FormatLabels(object.spec.selector)};
  }

 private:
  const ServiceStatusStrategy status_;
};

}  // namespace

StrategyPtr NewServiceStrategy() { return std::make_unique<ServiceStrategy>(); }

}  // namespace cox::apiserver
