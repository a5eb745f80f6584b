// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/service_validation.h"

#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "apiserver/registry/kinds/core/service/cluster_ip_validation.h"
#include "apiserver/registry/kinds/core/service/ip_validation.h"
#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "base/strings.h"
#include "object/validation/ip.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using cv::Service;

constexpr int32_t kKubeletPort = 10250;
constexpr int32_t kMaxAffinitySeconds = 86400;
constexpr std::string_view kTopologyHints = "service.kubernetes.io/topology-aware-hints";
constexpr std::string_view kTopologyMode = "service.kubernetes.io/topology-mode";
constexpr std::string_view kSourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";
constexpr std::string_view kOnlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";

bool IsProtocol(std::string_view protocol) {
  return protocol == "TCP" || protocol == "UDP" || protocol == "SCTP";
}

std::vector<std::string_view> Views(const List<std::string>& list) {
  return {list.begin(), list.end()};
}

FieldErrorList ValidateAnnotations(const Service& service) {
  const std::string* hints = service.metadata.annotations.Get(kTopologyHints);
  const std::string* mode = service.metadata.annotations.Get(kTopologyMode);
  if (hints == nullptr || mode == nullptr || *hints == *mode) return {};
  return {FieldError::Invalid(
      FieldPath("metadata").Child("annotations").Key(kTopologyMode), *mode,
      "must match annotations[" + std::string(kTopologyHints) + "] when both are specified")};
}

// Validates the fields that depend on the type.
FieldErrorList ValidateType(const Service& service, const FieldPath& spec) {
  FieldErrorList errors;
  const std::string& type = service.spec.type;
  if (type == "LoadBalancer") {
    // Clouds that open their firewall for the ports of a load balancer would expose the kubelet.
    for (size_t i = 0; i < service.spec.ports.size(); ++i) {
      if (service.spec.ports[i].port == kKubeletPort) {
        errors.push_back(FieldError::Invalid(
            spec.Child("ports").Index(i), kKubeletPort,
            "may not expose port 10250 externally since it is used by kubelet"));
      }
    }
  }
  if ((type == "LoadBalancer" || type == "NodePort") && IsHeadless(service)) {
    errors.push_back(FieldError::Invalid(spec.Child("clusterIPs").Index(0), kClusterIpNone,
                                         "may not be set to 'None' for " + type + " services"));
  }
  if (type != "ExternalName") return errors;
  auto forbid = [&](bool set, std::string_view field) {
    if (set) {
      errors.push_back(
          FieldError::Forbidden(spec.Child(field), "may not be set for ExternalName services"));
    }
  };
  forbid(!service.spec.clusterIPs.empty(), "clusterIPs");
  forbid(!service.spec.ipFamilies.empty(), "ipFamilies");
  forbid(service.spec.ipFamilyPolicy.has_value(), "ipFamilyPolicy");
  std::string_view cname = service.spec.externalName;
  if (cname.ends_with('.')) cname.remove_suffix(1);
  if (cname.empty()) {
    errors.push_back(FieldError::Required(spec.Child("externalName")));
  } else {
    AppendInvalid(errors, spec.Child("externalName"), cname, validation::IsDNS1123Subdomain(cname));
  }
  return errors;
}

FieldErrorList ValidatePort(const cv::ServicePort& port, bool name_required,
                            std::set<std::string>* names, const FieldPath& path) {
  FieldErrorList errors;
  if (name_required && port.name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name")));
  } else if (!port.name.empty()) {
    AppendInvalid(errors, path.Child("name"), port.name, validation::IsDNS1123Label(port.name));
    if (!names->insert(port.name).second) {
      errors.push_back(FieldError::Duplicate(path.Child("name"), port.name));
    }
  }
  AppendInvalid(errors, path.Child("port"), port.port, validation::IsValidPortNum(port.port));
  if (port.protocol.empty()) {
    errors.push_back(FieldError::Required(path.Child("protocol")));
  } else if (!IsProtocol(port.protocol)) {
    errors.push_back(
        FieldError::NotSupported(path.Child("protocol"), port.protocol, {"SCTP", "TCP", "UDP"}));
  }
  const FieldPath target = path.Child("targetPort");
  if (port.targetPort.is_string()) {
    AppendInvalid(errors, target, port.targetPort.string_value(),
                  validation::IsValidPortName(port.targetPort.string_value()));
  } else {
    AppendInvalid(errors, target, port.targetPort.int_value(),
                  validation::IsValidPortNum(port.targetPort.int_value()));
  }
  if (port.appProtocol) {
    AppendInvalid(errors, path.Child("appProtocol"), *port.appProtocol,
                  validation::IsQualifiedName(*port.appProtocol));
  }
  return errors;
}

FieldErrorList ValidateAffinity(const cv::ServiceSpec& spec, const FieldPath& path) {
  const FieldPath affinity = path.Child("sessionAffinity");
  const FieldPath config_path = path.Child("sessionAffinityConfig");
  if (spec.sessionAffinity.empty()) return {FieldError::Required(affinity)};
  if (spec.sessionAffinity == "None") {
    if (!spec.sessionAffinityConfig) return {};
    return {FieldError::Forbidden(config_path, "must not be set when session affinity is None")};
  }
  if (spec.sessionAffinity != "ClientIP") {
    return {FieldError::NotSupported(affinity, spec.sessionAffinity, {"ClientIP", "None"})};
  }
  constexpr std::string_view kNeeded = "when session affinity type is ClientIP";
  if (!spec.sessionAffinityConfig) {
    return {FieldError::Required(config_path, std::string(kNeeded))};
  }
  const FieldPath client_ip = config_path.Child("clientIP");
  if (!spec.sessionAffinityConfig->clientIP) {
    return {FieldError::Required(client_ip, std::string(kNeeded))};
  }
  const FieldPath timeout = client_ip.Child("timeoutSeconds");
  const std::optional<int32_t>& seconds = spec.sessionAffinityConfig->clientIP->timeoutSeconds;
  if (!seconds) return {FieldError::Required(timeout, std::string(kNeeded))};
  if (*seconds <= 0 || *seconds > kMaxAffinitySeconds) {
    return {FieldError::Invalid(timeout, *seconds, "must be greater than 0 and less than 86400")};
  }
  return {};
}

FieldErrorList ValidateExternalIps(const Service& service, const Service* old,
                                   const FieldPath& path) {
  FieldErrorList errors;
  std::vector<std::string_view> known;
  if (old != nullptr) known = Views(old->spec.externalIPs);
  for (size_t i = 0; i < service.spec.externalIPs.size(); ++i) {
    const std::string& ip = service.spec.externalIPs[i];
    FieldErrorList faults = validation::IsValidIPForLegacyField(path.Index(i), ip, true, known);
    if (faults.empty()) faults = ValidateNonSpecialIp(ip, path.Index(i));
    Append(errors, std::move(faults));
  }
  return errors;
}

// Ports and node ports must each be unique per protocol.
FieldErrorList ValidatePortsTogether(const Service& service, const FieldPath& path) {
  FieldErrorList errors;
  const List<cv::ServicePort>& ports = service.spec.ports;
  if (service.spec.type == "ClusterIP") {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].nodePort != 0) {
        errors.push_back(FieldError::Forbidden(path.Index(i).Child("nodePort"),
                                               "may not be used when `type` is 'ClusterIP'"));
      }
    }
  }
  std::set<std::pair<std::string, int32_t>> node_ports, seen;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].nodePort == 0) continue;
    if (!node_ports.emplace(ports[i].protocol, ports[i].nodePort).second) {
      errors.push_back(FieldError::Duplicate(path.Index(i).Child("nodePort"), ports[i].nodePort));
    }
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!seen.emplace(ports[i].protocol, ports[i].port).second) {
      cv::ServicePort key;
      key.protocol = ports[i].protocol;
      key.port = ports[i].port;
      errors.push_back(FieldError::Duplicate(path.Index(i), InternalValue(key)));
    }
  }
  return errors;
}

FieldErrorList ValidateSourceRanges(const Service& service, const Service* old) {
  FieldErrorList errors;
  const bool wrong_type = service.spec.type != "LoadBalancer";
  std::vector<std::string_view> known;
  if (!service.spec.loadBalancerSourceRanges.empty()) {
    const FieldPath path = FieldPath("spec").Child("LoadBalancerSourceRanges");
    if (old != nullptr) known = Views(old->spec.loadBalancerSourceRanges);
    if (wrong_type) errors.push_back(FieldError::Forbidden(path, std::string(kOnlyLoadBalancer)));
    for (size_t i = 0; i < service.spec.loadBalancerSourceRanges.size(); ++i) {
      const std::string_view cidr = TrimSpace(service.spec.loadBalancerSourceRanges[i]);
      Append(errors, validation::IsValidCIDRForLegacyField(path.Index(i), cidr, true, known));
    }
    return errors;
  }
  const std::string* annotation = service.metadata.annotations.Get(kSourceRanges);
  if (annotation == nullptr) return errors;
  const FieldPath path = FieldPath("metadata").Child("annotations").Key(kSourceRanges);
  if (wrong_type) errors.push_back(FieldError::Forbidden(path, std::string(kOnlyLoadBalancer)));
  const std::string_view value = TrimSpace(*annotation);
  if (value.empty()) return errors;
  for (std::string_view cidr : Split(value, ',')) {
    Append(errors, validation::IsValidCIDRForLegacyField(path, TrimSpace(cidr), true));
  }
  return errors;
}

FieldErrorList ValidateLoadBalancerClass(const Service& service, const Service* old) {
  FieldErrorList errors;
  const FieldPath path = FieldPath("spec").Child("loadBalancerClass");
  const auto& name = service.spec.loadBalancerClass;
  const bool applies = service.spec.type == "LoadBalancer";
  if (old != nullptr && old->spec.type == "LoadBalancer" && applies &&
      name != old->spec.loadBalancerClass) {
    errors.push_back(FieldError::Invalid(path, name ? FieldValue(*name) : FieldValue(nullptr),
                                         "may not change once set"));
  }
  if (!name) return errors;
  if (applies) {
    AppendInvalid(errors, path, *name, validation::IsQualifiedName(*name));
  } else {
    errors.push_back(FieldError::Forbidden(path, std::string(kOnlyLoadBalancer)));
  }
  return errors;
}

FieldErrorList ValidateTrafficPolicies(const Service& service, const FieldPath& spec) {
  FieldErrorList errors;
  const std::string& external = service.spec.externalTrafficPolicy;
  const FieldPath external_path = spec.Child("externalTrafficPolicy");
  if (!IsExternallyAccessible(service)) {
    if (!external.empty()) {
      errors.push_back(FieldError::Invalid(external_path, external,
                                           "may only be set for externally-accessible services"));
    }
  } else if (external.empty()) {
    errors.push_back(FieldError::Required(external_path));
  } else if (external != "Cluster" && external != "Local") {
    errors.push_back(FieldError::NotSupported(external_path, external, {"Cluster", "Local"}));
  }
  const FieldPath health = spec.Child("healthCheckNodePort");
  const int32_t port = service.spec.healthCheckNodePort;
  if (!NeedsHealthCheckNodePort(service)) {
    if (port != 0) {
      errors.push_back(FieldError::Invalid(health, port,
                                           "may only be set when `type` is 'LoadBalancer' and "
                                           "`externalTrafficPolicy` is 'Local'"));
    }
  } else if (port == 0) {
    errors.push_back(FieldError::Required(health));
  } else {
    AppendInvalid(errors, health, port, validation::IsValidPortNum(port));
  }
  const auto& internal = service.spec.internalTrafficPolicy;
  const FieldPath internal_path = spec.Child("internalTrafficPolicy");
  if (!internal) {
    if (NeedsClusterIp(service)) errors.push_back(FieldError::Required(internal_path));
  } else if (*internal != "Cluster" && *internal != "Local") {
    errors.push_back(FieldError::NotSupported(internal_path, *internal, {"Cluster", "Local"}));
  }
  const auto& distribution = service.spec.trafficDistribution;
  if (distribution && *distribution != "PreferClose" && *distribution != "PreferSameZone" &&
      *distribution != "PreferSameNode") {
    errors.push_back(FieldError::NotSupported(spec.Child("trafficDistribution"), *distribution,
                                              {"PreferClose", "PreferSameZone", "PreferSameNode"}));
  }
  return errors;
}

FieldErrorList ValidateTypeName(const std::string& type, const FieldPath& path) {
  if (type.empty()) return {FieldError::Required(path)};
  if (type == "ClusterIP" || type == "NodePort" || type == "LoadBalancer" ||
      type == "ExternalName") {
    return {};
  }
  return {FieldError::NotSupported(path, type,
                                   {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"})};
}

}  // namespace

FieldErrorList ValidateService(const Service& service, const Service* old) {
  FieldErrorList errors = ValidateAnnotations(service);
  const FieldPath spec("spec"), ports = spec.Child("ports");
  if (service.spec.ports.empty() && !IsHeadless(service) && service.spec.type != "ExternalName") {
    errors.push_back(FieldError::Required(ports));
  }
  Append(errors, ValidateType(service, spec));
  std::set<std::string> names;
  for (size_t i = 0; i < service.spec.ports.size(); ++i) {
    Append(errors, ValidatePort(service.spec.ports[i], service.spec.ports.size() > 1, &names,
                                ports.Index(i)));
  }
  std::vector<validation::StringPair> selector;
  for (const auto& [key, value] : service.spec.selector) selector.emplace_back(key, value);
  Append(errors, validation::ValidateLabels(selector, spec.Child("selector")));
  Append(errors, ValidateAffinity(service.spec, spec));
  Append(errors, ValidateClusterIpFields(service, old));
  Append(errors, ValidateExternalIps(service, old, spec.Child("externalIPs")));
  Append(errors, ValidateTypeName(service.spec.type, spec.Child("type")));
  Append(errors, ValidatePortsTogether(service, ports));
  Append(errors, ValidateSourceRanges(service, old));
  const FieldPath allocate = spec.Child("allocateLoadBalancerNodePorts");
  const bool load_balancer = service.spec.type == "LoadBalancer";
  if (service.spec.allocateLoadBalancerNodePorts && !load_balancer) {
    errors.push_back(FieldError::Forbidden(allocate, std::string(kOnlyLoadBalancer)));
  } else if (!service.spec.allocateLoadBalancerNodePorts && load_balancer) {
    errors.push_back(FieldError::Required(allocate));
  }
  Append(errors, ValidateLoadBalancerClass(service, nullptr));
  Append(errors, ValidateTrafficPolicies(service, spec));
  return errors;
}

FieldErrorList ValidateServiceUpdate(const Service& service, const Service& old) {
  FieldErrorList errors = ValidateClusterIpFieldsUpdate(service, old);
  Append(errors, ValidateLoadBalancerClass(service, &old));
  Append(errors, ValidateService(service, &old));
  return errors;
}

FieldErrorList ValidateServiceStatus(const Service& service, const Service& old) {
  FieldErrorList errors;
  const FieldPath path = FieldPath("status").Child("loadBalancer").Child("ingress");
  const auto& list = service.status.loadBalancer.ingress;
  std::vector<std::string_view> known;
  for (const auto& ingress : old.status.loadBalancer.ingress) known.push_back(ingress.ip);
  for (size_t i = 0; i < list.size(); ++i) {
    const FieldPath at = path.Index(i), ip_mode = at.Child("ipMode");
    if (!list[i].ip.empty()) {
      Append(errors, validation::IsValidIPForLegacyField(at.Child("ip"), list[i].ip, true, known));
    }
    if (list[i].ip.empty() && list[i].ipMode) {
      errors.push_back(FieldError::Forbidden(ip_mode, "may not be specified when `ip` is not set"));
    } else if (!list[i].ip.empty() && !list[i].ipMode) {
      errors.push_back(FieldError::Required(ip_mode, "must be specified when `ip` is set"));
    } else if (list[i].ipMode && *list[i].ipMode != "VIP" && *list[i].ipMode != "Proxy") {
      errors.push_back(FieldError::NotSupported(ip_mode, *list[i].ipMode, {"Proxy", "VIP"}));
    }
    if (list[i].hostname.empty()) continue;
    const FieldPath host = at.Child("hostname");
    AppendInvalid(errors, host, list[i].hostname, validation::IsDNS1123Subdomain(list[i].hostname));
    if (validation::ParseIpSloppy(list[i].hostname)) {
      errors.push_back(
          FieldError::Invalid(host, list[i].hostname, "must be a DNS name, not an IP address"));
    }
  }
  if (!list.empty() && old.spec.type != "LoadBalancer") {
    errors.push_back(
        FieldError::Forbidden(path, "may only be used when `spec.type` is LoadBalancer"));
  }
  return errors;
}

std::vector<std::string> WarningsForService(const Service& service) {
  std::vector<std::string> warnings;
  auto add = [&](std::vector<std::string> more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  };
  const cv::ServiceSpec& s = service.spec;
  const FieldPath spec("spec");
  if (service.metadata.annotations.contains(kTopologyHints)) {
    warnings.push_back("annotation " + std::string(kTopologyHints) + " is deprecated, please use " +
                       std::string(kTopologyMode) + " instead");
  }
  if (IsClusterIpSet(service)) {
    for (size_t i = 0; i < s.clusterIPs.size(); ++i) {
      add(validation::GetWarningsForIP(spec.Child("clusterIPs").Index(i), s.clusterIPs[i]));
    }
  }
  if (IsHeadless(service)) {
    if (!s.loadBalancerIP.empty()) {
      warnings.push_back("spec.loadBalancerIP is ignored for headless services");
    }
    if (!s.externalIPs.empty()) {
      warnings.push_back("spec.externalIPs is ignored for headless services");
    }
    if (s.sessionAffinity != "None") {
      warnings.push_back("spec.SessionAffinity is ignored for headless services");
    }
  }
  if (!s.externalIPs.empty()) {
    warnings.push_back(
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  for (size_t i = 0; i < s.externalIPs.size(); ++i) {
    add(validation::GetWarningsForIP(spec.Child("externalIPs").Index(i), s.externalIPs[i]));
  }
  if (!s.loadBalancerIP.empty()) {
    add(validation::GetWarningsForIP(spec.Child("loadBalancerIP"), s.loadBalancerIP));
  }
  for (size_t i = 0; i < s.loadBalancerSourceRanges.size(); ++i) {
    add(validation::GetWarningsForCIDR(spec.Child("loadBalancerSourceRanges").Index(i),
                                       s.loadBalancerSourceRanges[i]));
  }
  if (s.type == "ExternalName" && !s.externalIPs.empty()) {
    warnings.push_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  }
  if (s.type != "ExternalName" && !s.externalName.empty()) {
    warnings.push_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  }
  if (s.trafficDistribution == "PreferClose") {
    warnings.push_back(
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
  }
  return warnings;
}

}  // namespace cox::apiserver
