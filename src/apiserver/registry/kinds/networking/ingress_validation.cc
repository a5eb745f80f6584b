// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/networking/ingress_validation.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/validation/field_messages.h"
#include "object/validation/ip.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

namespace nv = networking::v1;

constexpr size_t kMaxControllerBytes = 250;

bool IsIp(std::string_view text) { return validation::ParseIpSloppy(text).has_value(); }
bool HasWildcard(std::string_view host) { return host.find('*') != std::string_view::npos; }

validation::Messages HostFaults(std::string_view host) {
  return HasWildcard(host) ? validation::IsWildcardDNS1123Subdomain(host)
                           : validation::IsDNS1123Subdomain(host);
}

// A reference to an object of any kind, in an Ingress or IngressClass.
FieldErrorList ValidateTypedReference(const std::optional<std::string>& api_group,
                                      std::string_view kind, std::string_view name,
                                      const FieldPath& path) {
  FieldErrorList errors;
  if (api_group) {
    AppendInvalid(errors, path.Child("apiGroup"), *api_group,
                  validation::IsDNS1123Subdomain(*api_group));
  }
  auto segment = [&](std::string_view value, std::string_view field) {
    if (value.empty()) {
      errors.push_back(FieldError::Required(path.Child(field)));
    } else {
      AppendInvalid(errors, path.Child(field), value, validation::IsValidPathSegmentName(value));
    }
  };
  segment(kind, "kind");
  segment(name, "name");
  return errors;
}

FieldErrorList ValidateServiceBackend(const nv::IngressServiceBackend& service,
                                      const FieldPath& backend) {
  FieldErrorList errors;
  const FieldPath path = backend.Child("service");
  if (service.name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name")));
  } else {
    AppendInvalid(errors, path.Child("name"), service.name,
                  validation::NameIsDNSLabel(service.name, false));
  }
  const nv::ServiceBackendPort& port = service.port;
  if (!port.name.empty() && port.number != 0) {
    errors.push_back(FieldError::Invalid(backend, "", "cannot set both port name & port number"));
  } else if (!port.name.empty()) {
    AppendInvalid(errors, path.Child("port").Child("name"), port.name,
                  validation::IsValidPortName(port.name));
  } else if (port.number != 0) {
    AppendInvalid(errors, path.Child("port").Child("number"), port.number,
                  validation::IsValidPortNum(port.number));
  } else {
    errors.push_back(FieldError::Required(backend, "port name or number is required"));
  }
  return errors;
}

FieldErrorList ValidateBackend(const nv::IngressBackend& backend, const FieldPath& path) {
  if (backend.resource && backend.service) {
    return {FieldError::Invalid(path, "", "cannot set both resource and service backends")};
  }
  if (backend.resource) {
    const core::v1::TypedLocalObjectReference& r = *backend.resource;
    return ValidateTypedReference(r.apiGroup, r.kind, r.name, path.Child("resource"));
  }
  if (backend.service) return ValidateServiceBackend(*backend.service, path);
  return {FieldError::Invalid(path, "", "resource or service backend is required")};
}

// Rules for a path that is compared literally with request paths.
FieldErrorList ValidateLiteralPath(std::string_view value, const FieldPath& path) {
  FieldErrorList errors;
  if (!value.starts_with('/')) {
    errors.push_back(FieldError::Invalid(path, value, "must be an absolute path"));
  }
  for (std::string_view part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (value.find(part) != std::string_view::npos) {
      errors.push_back(
          FieldError::Invalid(path, value, "must not contain '" + std::string(part) + "'"));
    }
  }
  for (std::string_view end : {"/..", "/."}) {
    if (value.ends_with(end)) {
      errors.push_back(
          FieldError::Invalid(path, value, "cannot end with '" + std::string(end) + "'"));
    }
  }
  return errors;
}

FieldErrorList ValidateHttpPath(const nv::HTTPIngressPath& http_path, const FieldPath& path) {
  FieldErrorList errors;
  if (!http_path.pathType) {
    return {FieldError::Required(path.Child("pathType"), "pathType must be specified")};
  }
  const std::string& type = *http_path.pathType;
  if (type == "Exact" || type == "Prefix") {
    Append(errors, ValidateLiteralPath(http_path.path, path.Child("path")));
  } else if (type == "ImplementationSpecific") {
    if (!http_path.path.empty() && !http_path.path.starts_with('/')) {
      errors.push_back(
          FieldError::Invalid(path.Child("path"), http_path.path, "must be an absolute path"));
    }
  } else {
    errors.push_back(FieldError::NotSupported(path.Child("pathType"), type,
                                              {"Exact", "ImplementationSpecific", "Prefix"}));
  }
  Append(errors, ValidateBackend(http_path.backend, path.Child("backend")));
  return errors;
}

FieldErrorList ValidateHttpRule(const nv::HTTPIngressRuleValue& http, const FieldPath& path) {
  FieldErrorList errors;
  if (http.paths.empty()) errors.push_back(FieldError::Required(path.Child("paths")));
  for (size_t i = 0; i < http.paths.size(); ++i) {
    Append(errors, ValidateHttpPath(http.paths[i], path.Child("paths").Index(i)));
  }
  return errors;
}

FieldErrorList ValidateRules(const List<nv::IngressRule>& rules, const FieldPath& path,
                             const IngressOptions& options) {
  FieldErrorList errors;
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string& host = rules[i].host;
    if (!host.empty()) {
      const FieldPath host_path = path.Index(i).Child("host");
      if (IsIp(host)) {
        errors.push_back(
            FieldError::Invalid(host_path, host, "must be a DNS name, not an IP address"));
      }
      AppendInvalid(errors, host_path, host, HostFaults(host));
    }
    const bool skip = HasWildcard(host) && options.allow_invalid_wildcard_host_rule;
    if (rules[i].ingressRuleValue.http && !skip) {
      Append(errors,
             ValidateHttpRule(*rules[i].ingressRuleValue.http, path.Index(i).Child("http")));
    }
  }
  return errors;
}

FieldErrorList ValidateTls(const List<nv::IngressTLS>& tls, const FieldPath& path,
                           const IngressOptions& options) {
  FieldErrorList errors;
  for (size_t i = 0; i < tls.size(); ++i) {
    for (size_t j = 0; j < tls[i].hosts.size(); ++j) {
      const std::string& host = tls[i].hosts[j];
      AppendInvalid(errors, path.Index(i).Child("hosts").Index(j), host, HostFaults(host));
    }
    const std::string& secret = tls[i].secretName;
    if (!options.allow_invalid_secret_name && !secret.empty()) {
      AppendInvalid(errors, path.Index(i).Child("secretName"), secret,
                    validation::NameIsDNSSubdomain(secret, false));
    }
  }
  return errors;
}

FieldErrorList ValidateClassParameters(const nv::IngressClassParametersReference& parameters,
                                       const FieldPath& path) {
  FieldErrorList errors =
      ValidateTypedReference(parameters.apiGroup, parameters.kind, parameters.name, path);
  if (!parameters.scope) {
    errors.push_back(FieldError::Required(path.Child("scope")));
    return errors;
  }
  const FieldPath ns = path.Child("namespace");
  if (*parameters.scope == "Namespace") {
    if (!parameters.namespace_) {
      errors.push_back(FieldError::Required(ns, "`parameters.scope` is set to 'Namespace'"));
    } else {
      AppendInvalid(errors, ns, *parameters.namespace_,
                    validation::NameIsDNSLabel(*parameters.namespace_, false));
    }
  } else if (*parameters.scope == "Cluster") {
    if (parameters.namespace_) {
      errors.push_back(FieldError::Forbidden(ns, "`parameters.scope` is set to 'Cluster'"));
    }
  } else {
    errors.push_back(
        FieldError::NotSupported(path.Child("scope"), *parameters.scope, {"Cluster", "Namespace"}));
  }
  return errors;
}

}  // namespace

IngressOptions IngressOptionsFor(const nv::Ingress& old) {
  IngressOptions options;
  const FieldPath path("spec");
  for (const nv::IngressTLS& tls : old.spec.tls) {
    if (!tls.secretName.empty() && !validation::NameIsDNSSubdomain(tls.secretName, false).empty()) {
      options.allow_invalid_secret_name = true;
    }
  }
  for (const nv::IngressRule& rule : old.spec.rules) {
    if (HasWildcard(rule.host) && rule.ingressRuleValue.http &&
        !ValidateHttpRule(*rule.ingressRuleValue.http, path).empty()) {
      options.allow_invalid_wildcard_host_rule = true;
    }
  }
  return options;
}

FieldErrorList ValidateIngressSpec(const nv::IngressSpec& spec, const FieldPath& path,
                                   const IngressOptions& options) {
  FieldErrorList errors;
  if (spec.rules.empty() && !spec.defaultBackend) {
    errors.push_back(
        FieldError::Invalid(path, nullptr, "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec.defaultBackend) {
    Append(errors, ValidateBackend(*spec.defaultBackend, path.Child("defaultBackend")));
  }
  Append(errors, ValidateRules(spec.rules, path.Child("rules"), options));
  Append(errors, ValidateTls(spec.tls, path.Child("tls"), options));
  if (spec.ingressClassName) {
    AppendInvalid(errors, path.Child("ingressClassName"), *spec.ingressClassName,
                  validation::NameIsDNSSubdomain(*spec.ingressClassName, false));
  }
  return errors;
}

FieldErrorList ValidateIngressStatus(const nv::IngressStatus& status, const nv::IngressStatus* old,
                                     const FieldPath& path) {
  std::vector<std::string_view> old_ips;
  if (old != nullptr) {
    for (const auto& ingress : old->loadBalancer.ingress) old_ips.push_back(ingress.ip);
  }
  FieldErrorList errors;
  const FieldPath list = path.Child("loadBalancer").Child("ingress");
  for (size_t i = 0; i < status.loadBalancer.ingress.size(); ++i) {
    const nv::IngressLoadBalancerIngress& ingress = status.loadBalancer.ingress[i];
    if (!ingress.ip.empty()) {
      Append(errors, validation::IsValidIPForLegacyField(list.Index(i).Child("ip"), ingress.ip,
                                                         true, old_ips));
    }
    if (ingress.hostname.empty()) continue;
    const FieldPath host = list.Index(i).Child("hostname");
    AppendInvalid(errors, host, ingress.hostname, validation::IsDNS1123Subdomain(ingress.hostname));
    if (IsIp(ingress.hostname)) {
      errors.push_back(
          FieldError::Invalid(host, ingress.hostname, "must be a DNS name, not an IP address"));
    }
  }
  return errors;
}

FieldErrorList ValidateIngressClassSpec(const nv::IngressClassSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath controller = path.Child("controller");
  if (spec.controller.size() > kMaxControllerBytes) {
    errors.push_back(FieldError::TooLong(controller, kMaxControllerBytes));
  }
  Append(errors, validation::IsDomainPrefixedPath(controller, spec.controller));
  if (spec.parameters) {
    Append(errors, ValidateClassParameters(*spec.parameters, path.Child("parameters")));
  }
  return errors;
}

}  // namespace cox::apiserver
