// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/discovery/endpoint_slice_validation.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/kinds/core/service/ip_validation.h"
#include "apiserver/registry/validation/field_messages.h"
#include "object/validation/ip.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace dv = discovery::v1;

constexpr size_t kMaxEndpoints = 1000;
constexpr size_t kMaxAddresses = 100;
constexpr size_t kMaxPorts = 20000;
constexpr size_t kMaxHints = 8;

FieldErrorList ValidateAddress(const std::string& address, std::string_view type,
                               const FieldPath& list, size_t index,
                               std::span<const std::string_view> old) {
  if (type == "FQDN") return validation::IsFullyQualifiedDomainName(list.Index(index), address);
  if (type != "IPv4" && type != "IPv6") return {};
  FieldErrorList errors =
      validation::IsValidIPForLegacyField(list.Index(index), address, true, old);
  const auto ip = validation::ParseIpSloppy(address);
  if (!errors.empty() || !ip) return errors;
  if (ip->written_as_ipv6 != (type == "IPv6")) {
    errors.push_back(
        FieldError::Invalid(list, address, "must be an " + std::string(type) + " address"));
  }
  Append(errors, ValidateNonSpecialIp(address, list.Index(index)));
  return errors;
}

FieldErrorList ValidateHints(const dv::EndpointHints& hints, const FieldPath& path) {
  FieldErrorList errors;
  auto check = [&](const auto& items, std::string_view field, auto rule) {
    const FieldPath list = path.Child(field);
    if (items.size() > kMaxHints) {
      errors.push_back(FieldError::TooMany(list, static_cast<int64_t>(items.size()), kMaxHints));
      return;
    }
    std::set<std::string> seen;
    for (size_t i = 0; i < items.size(); ++i) {
      const FieldPath name = list.Index(i).Child("name");
      if (!seen.insert(items[i].name).second) {
        errors.push_back(FieldError::Duplicate(name, items[i].name));
      }
      AppendInvalid(errors, name, items[i].name, rule(items[i].name));
    }
  };
  check(hints.forZones, "forZones", validation::IsValidLabelValue);
  check(hints.forNodes, "forNodes", validation::IsDNS1123Subdomain);
  return errors;
}

FieldErrorList ValidateEndpoint(const dv::Endpoint& endpoint, std::string_view type,
                                const FieldPath& path, std::span<const std::string_view> old) {
  FieldErrorList errors;
  const FieldPath addresses = path.Child("addresses");
  const size_t count = endpoint.addresses.size();
  if (count == 0) {
    errors.push_back(FieldError::Required(addresses, "must contain at least 1 address"));
  } else if (count > kMaxAddresses) {
    errors.push_back(FieldError::TooMany(addresses, static_cast<int64_t>(count), kMaxAddresses));
  }
  for (size_t i = 0; i < count; ++i) {
    Append(errors, ValidateAddress(endpoint.addresses[i], type, addresses, i, old));
  }
  if (endpoint.nodeName) {
    AppendInvalid(errors, path.Child("nodeName"), *endpoint.nodeName,
                  validation::IsDNS1123Subdomain(*endpoint.nodeName));
  }
  if (!endpoint.deprecatedTopology.empty()) {
    std::vector<validation::StringPair> pairs;
    for (const auto& [key, value] : endpoint.deprecatedTopology) pairs.emplace_back(key, value);
    Append(errors, validation::ValidateLabels(pairs, path.Child("deprecatedTopology")));
  }
  if (endpoint.hostname) {
    AppendInvalid(errors, path.Child("hostname"), *endpoint.hostname,
                  validation::IsDNS1123Label(*endpoint.hostname));
  }
  if (endpoint.hints) Append(errors, ValidateHints(*endpoint.hints, path.Child("hints")));
  return errors;
}

FieldErrorList ValidateEndpoints(const dv::EndpointSlice& slice, const dv::EndpointSlice* old) {
  const FieldPath path("endpoints");
  if (slice.endpoints.size() > kMaxEndpoints) {
    return {FieldError::TooMany(path, static_cast<int64_t>(slice.endpoints.size()), kMaxEndpoints)};
  }
  std::vector<std::string_view> old_addresses;
  if (old != nullptr) {
    for (const dv::Endpoint& endpoint : old->endpoints) {
      for (const std::string& address : endpoint.addresses) old_addresses.push_back(address);
    }
  }
  FieldErrorList errors;
  for (size_t i = 0; i < slice.endpoints.size(); ++i) {
    Append(errors,
           ValidateEndpoint(slice.endpoints[i], slice.addressType, path.Index(i), old_addresses));
  }
  return errors;
}

FieldErrorList ValidatePorts(const List<dv::EndpointPort>& ports) {
  const FieldPath path("ports");
  if (ports.size() > kMaxPorts) {
    return {FieldError::TooMany(path, static_cast<int64_t>(ports.size()), kMaxPorts)};
  }
  FieldErrorList errors;
  std::set<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const FieldPath at = path.Index(i);
    const std::string name = ports[i].name.value_or("");
    if (!name.empty())
      AppendInvalid(errors, at.Child("name"), name, validation::IsDNS1123Label(name));
    if (!names.insert(name).second) {
      errors.push_back(FieldError::Duplicate(at.Child("name"), name));
    }
    if (!ports[i].protocol) {
      errors.push_back(FieldError::Required(at.Child("protocol")));
    } else if (const std::string& p = *ports[i].protocol; p != "SCTP" && p != "TCP" && p != "UDP") {
      errors.push_back(FieldError::NotSupported(at.Child("protocol"), p, {"SCTP", "TCP", "UDP"}));
    }
    if (ports[i].appProtocol) {
      AppendInvalid(errors, at.Child("appProtocol"), *ports[i].appProtocol,
                    validation::IsQualifiedName(*ports[i].appProtocol));
    }
  }
  return errors;
}

FieldErrorList ValidateAddressType(const std::string& type) {
  const FieldPath path("addressType");
  if (type.empty()) return {FieldError::Required(path)};
  if (type != "FQDN" && type != "IPv4" && type != "IPv6") {
    return {FieldError::NotSupported(path, type, {"FQDN", "IPv4", "IPv6"})};
  }
  return {};
}

}  // namespace

FieldErrorList ValidateEndpointSlice(const dv::EndpointSlice& slice) {
  FieldErrorList errors = ValidateAddressType(slice.addressType);
  Append(errors, ValidateEndpoints(slice, nullptr));
  Append(errors, ValidatePorts(slice.ports));
  return errors;
}

FieldErrorList ValidateEndpointSliceUpdate(const dv::EndpointSlice& slice,
                                           const dv::EndpointSlice& old) {
  FieldErrorList errors;
  if (slice.endpoints != old.endpoints) Append(errors, ValidateEndpoints(slice, &old));
  Append(errors, ValidatePorts(slice.ports));
  if (slice.addressType != old.addressType) {
    errors.push_back(validation::ImmutableField(FieldPath("addressType"), slice.addressType));
  }
  return errors;
}

}  // namespace cox::apiserver
