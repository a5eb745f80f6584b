// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/ip_validation.h"
#include "apiserver/registry/kinds/core/service/strategy.h"
#include "apiserver/registry/validation/field_messages.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using cv::Endpoints;

FieldErrorList ValidateAddress(const cv::EndpointAddress& address, const FieldPath& path,
                               std::span<const std::string_view> known) {
  FieldErrorList errors =
      validation::IsValidIPForLegacyField(path.Child("ip"), address.ip, true, known);
  if (!address.hostname.empty()) {
    AppendInvalid(errors, path.Child("hostname"), address.hostname,
                  validation::IsDNS1123Label(address.hostname));
  }
  if (address.nodeName) {
    AppendInvalid(errors, path.Child("nodeName"), *address.nodeName,
                  validation::NameIsDNSSubdomain(*address.nodeName, false));
  }
  Append(errors, ValidateNonSpecialIp(address.ip, path.Child("ip")));
  return errors;
}

FieldErrorList ValidatePort(const cv::EndpointPort& port, bool name_required,
                            const FieldPath& path) {
  FieldErrorList errors;
  if (!port.name.empty()) {
    AppendInvalid(errors, path.Child("name"), port.name, validation::IsDNS1123Label(port.name));
  } else if (name_required) {
    errors.push_back(FieldError::Required(path.Child("name")));
  }
  AppendInvalid(errors, path.Child("port"), port.port, validation::IsValidPortNum(port.port));
  const FieldPath protocol = path.Child("protocol");
  if (port.protocol.empty()) {
    errors.push_back(FieldError::Required(protocol));
  } else if (port.protocol != "TCP" && port.protocol != "UDP" && port.protocol != "SCTP") {
    errors.push_back(FieldError::NotSupported(protocol, port.protocol, {"SCTP", "TCP", "UDP"}));
  }
  if (port.appProtocol) {
    AppendInvalid(errors, path.Child("appProtocol"), *port.appProtocol,
                  validation::IsQualifiedName(*port.appProtocol));
  }
  return errors;
}

FieldErrorList ValidateSubset(const cv::EndpointSubset& subset, const FieldPath& path,
                              std::span<const std::string_view> known) {
  FieldErrorList errors;
  if (subset.addresses.empty() && subset.notReadyAddresses.empty()) {
    errors.push_back(FieldError::Required(path, "must specify `addresses` or `notReadyAddresses`"));
  }
  for (size_t i = 0; i < subset.addresses.size(); ++i) {
    Append(errors, ValidateAddress(subset.addresses[i], path.Child("addresses").Index(i), known));
  }
  for (size_t i = 0; i < subset.notReadyAddresses.size(); ++i) {
    Append(errors, ValidateAddress(subset.notReadyAddresses[i],
                                   path.Child("notReadyAddresses").Index(i), known));
  }
  for (size_t i = 0; i < subset.ports.size(); ++i) {
    Append(errors,
           ValidatePort(subset.ports[i], subset.ports.size() > 1, path.Child("ports").Index(i)));
  }
  return errors;
}

FieldErrorList ValidateEndpoints(const Endpoints& object, const Endpoints* old) {
  std::vector<std::string_view> known;
  if (old != nullptr) {
    for (const cv::EndpointSubset& subset : old->subsets) {
      for (const auto& address : subset.addresses) known.push_back(address.ip);
      for (const auto& address : subset.notReadyAddresses) known.push_back(address.ip);
    }
  }
  FieldErrorList errors;
  for (size_t i = 0; i < object.subsets.size(); ++i) {
    Append(errors, ValidateSubset(object.subsets[i], FieldPath("subsets").Index(i), known));
  }
  return errors;
}

std::string WithPort(const std::string& ip, int32_t port) {
  const bool ipv6 = ip.find(':') != std::string::npos;
  return (ipv6 ? "[" + ip + "]" : ip) + ":" + std::to_string(port);
}

// The first three pairs of address and port.
std::string FormatEndpoints(const Endpoints& object) {
  constexpr size_t kShown = 3;
  std::string text;
  size_t count = 0;
  auto add = [&](const std::string& item) {
    if (count < kShown) text += (count == 0 ? "" : ",") + item;
    ++count;
  };
  for (const cv::EndpointSubset& subset : object.subsets) {
    if (subset.ports.empty()) {  // headless services may have none
      for (const auto& address : subset.addresses) add(address.ip);
    }
    for (const auto& port : subset.ports) {
      for (const auto& address : subset.addresses) add(WithPort(address.ip, port.port));
    }
  }
  if (count == 0) return "<none>";
  if (count > kShown) text += " + " + std::to_string(count - kShown) + " more...";
  return text;
}

class EndpointsStrategy final : public StrategyOf<Endpoints> {
 public:
  std::string_view storage_prefix() const override { return "services/endpoints"; }
  bool AllowCreateOnUpdate() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Endpoints", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(Endpoints& object) const override {
    for (cv::EndpointSubset& subset : object.subsets) {
      for (cv::EndpointPort& port : subset.ports) {
        if (port.protocol.empty()) port.protocol = "TCP";
      }
    }
  }
  FieldErrorList Check(const WriteContext&, const Endpoints& object) const override {
    return ValidateEndpoints(object, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Endpoints& object,
                             const Endpoints& old) const override {
    return ValidateEndpoints(object, &old);
  }
  Warnings Warn(const WriteContext&, const Endpoints& object, const Endpoints*) const override {
    Warnings warnings;
    auto check = [&](const List<cv::EndpointAddress>& addresses, const FieldPath& path) {
      for (size_t i = 0; i < addresses.size(); ++i) {
        for (std::string& warning :
             validation::GetWarningsForIP(path.Index(i).Child("ip"), addresses[i].ip)) {
          warnings.push_back(std::move(warning));
        }
      }
    };
    for (size_t i = 0; i < object.subsets.size(); ++i) {
      const FieldPath path = FieldPath("subsets").Index(i);
      check(object.subsets[i].addresses, path.Child("addresses"));
      check(object.subsets[i].notReadyAddresses, path.Child("notReadyAddresses"));
    }
    return warnings;
  }
  Cells RowOf(const Endpoints& object, const Time& now) const override {
    return {object.metadata.name, FormatEndpoints(object),
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewEndpointsStrategy() { return std::make_unique<EndpointsStrategy>(); }

}  // namespace cox::apiserver
