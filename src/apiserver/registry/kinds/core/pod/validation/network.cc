// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "object/validation/ip.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::PodDNSConfig;

// Limits of the C library's resolver.
constexpr size_t kMaxNameservers = 3;
constexpr size_t kMaxSearches = 32;
constexpr size_t kMaxSearchCharacters = 2048;
constexpr size_t kMaxHostname = 64;  // HOST_NAME_MAX of Linux

FieldErrorList CheckAddress(std::string_view address, const FieldPath& path,
                            const PodValidationOptions& options) {
  std::vector<std::string_view> known(options.known_addresses.begin(),
                                      options.known_addresses.end());
  return validation::IsValidIPForLegacyField(path, address, /*strict=*/true, known);
}

FieldErrorList CheckNameservers(const List<std::string>& servers, const FieldPath& path,
                                const PodValidationOptions& options) {
  FieldErrorList errors;
  if (servers.size() > kMaxNameservers)
    errors.push_back(FieldError::Invalid(path, servers, "must not have more than 3 nameservers"));
  for (size_t i = 0; i < servers.size(); ++i) {
    Append(errors, CheckAddress(servers[i], path.Index(i), options));
  }
  return errors;
}

FieldErrorList CheckSearches(const List<std::string>& searches, const FieldPath& path) {
  FieldErrorList errors;
  if (searches.size() > kMaxSearches)
    errors.push_back(
        FieldError::Invalid(path, searches, "must not have more than 32 search paths"));
  size_t characters = searches.empty() ? 0 : searches.size() - 1;  // the spaces between them
  for (const std::string& search : searches) characters += search.size();
  if (characters > kMaxSearchCharacters) {
    errors.push_back(FieldError::Invalid(
        path, searches,
        "must not have more than 2048 characters (including spaces) in the search list"));
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    std::string_view search = searches[i];
    if (search == ".") continue;  // the root: names are resolved unchanged
    if (search.ends_with('.')) search.remove_suffix(1);
    AddInvalid(errors, path.Index(i), search, validation::IsDNS1123SubdomainWithUnderscore(search));
  }
  return errors;
}

FieldErrorList CheckConfig(const PodDNSConfig& config, const FieldPath& path,
                           const PodValidationOptions& options) {
  FieldErrorList errors = CheckNameservers(config.nameservers, path.Child("nameservers"), options);
  Append(errors, CheckSearches(config.searches, path.Child("searches")));
  for (size_t i = 0; i < config.options.size(); ++i) {
    if (config.options[i].name.empty())
      errors.push_back(FieldError::Required(path.Child("options").Index(i), "must not be empty"));
  }
  return errors;
}

}  // namespace

FieldErrorList CheckDns(const PodSpec& spec, const FieldPath& path,
                        const PodValidationOptions& options) {
  FieldErrorList errors;
  const FieldPath config = path.Child("dnsConfig");
  if (spec.dnsPolicy == "None") {
    if (!spec.dnsConfig) {
      return {FieldError::Required(config, "must provide `dnsConfig` when `dnsPolicy` is None")};
    }
    if (spec.dnsConfig->nameservers.empty()) {
      errors.push_back(FieldError::Required(
          config.Child("nameservers"),
          "must provide at least one DNS nameserver when `dnsPolicy` is None"));
    }
  }
  if (spec.dnsConfig) Append(errors, CheckConfig(*spec.dnsConfig, config, options));
  return errors;
}

FieldErrorList CheckHostAliases(const List<core::v1::HostAlias>& aliases, const FieldPath& path,
                                const PodValidationOptions& options) {
  FieldErrorList errors;
  for (size_t i = 0; i < aliases.size(); ++i) {
    Append(errors, CheckAddress(aliases[i].ip, path.Index(i).Child("ip"), options));
    for (size_t j = 0; j < aliases[i].hostnames.size(); ++j) {
      Append(errors,
             CheckDnsSubdomain(aliases[i].hostnames[j], path.Index(i).Child("hostnames").Index(j)));
    }
  }
  return errors;
}

FieldErrorList CheckHostNames(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (!spec.hostname.empty()) Append(errors, CheckDnsLabel(spec.hostname, path.Child("hostname")));
  if (!spec.subdomain.empty())
    Append(errors, CheckDnsLabel(spec.subdomain, path.Child("subdomain")));
  if (!spec.hostnameOverride) return errors;
  const FieldPath at = path.Child("hostnameOverride");
  if (spec.setHostnameAsFQDN.value_or(false)) {
    errors.push_back(
        FieldError::Forbidden(at, "may not be specified when setHostnameAsFQDN is true"));
  }
  if (spec.hostNetwork)
    errors.push_back(FieldError::Forbidden(at, "may not be specified when hostNetwork is true"));
  if (spec.hostnameOverride->size() > kMaxHostname)
    errors.push_back(FieldError::TooLong(at, kMaxHostname));
  Append(errors, CheckDnsSubdomain(*spec.hostnameOverride, at));
  return errors;
}

FieldErrorList CheckHostNetworkPorts(const List<Container>& containers, const FieldPath& path,
                                     const PodValidationOptions& options) {
  FieldErrorList errors;
  for (size_t i = 0; i < containers.size(); ++i) {
    for (size_t j = 0; j < containers[i].ports.size(); ++j) {
      const core::v1::ContainerPort& port = containers[i].ports[j];
      // Templates may omit the host port: the pod gets it by default.
      if (port.hostPort == 0 && !options.resource_is_pod) continue;
      if (port.hostPort == port.containerPort) continue;
      errors.push_back(FieldError::Invalid(
          path.Index(i).Child("ports").Index(j).Child("hostPort"), port.hostPort,
          "must match `containerPort` when `hostNetwork` is true"));
    }
  }
  return errors;
}

}  // namespace cox::apiserver::pod
