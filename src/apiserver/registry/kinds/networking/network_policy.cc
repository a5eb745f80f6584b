// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/networking/v1.h"
#include "apiserver/registry/kinds/networking/kinds.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "object/selector/labels.h"
#include "object/type/equal.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

namespace nv = networking::v1;
using nv::NetworkPolicy;

FieldErrorList ValidatePort(const nv::NetworkPolicyPort& port, const FieldPath& path) {
  FieldErrorList errors;
  if (port.protocol && *port.protocol != "TCP" && *port.protocol != "UDP" &&
      *port.protocol != "SCTP") {
    errors.push_back(
        FieldError::NotSupported(path.Child("protocol"), *port.protocol, {"TCP", "UDP", "SCTP"}));
  }
  const FieldPath number = path.Child("port"), end = path.Child("endPort");
  if (!port.port) {
    if (port.endPort) {
      errors.push_back(FieldError::Invalid(end, *port.endPort,
                                           "may not be specified when `port` is not specified"));
    }
  } else if (port.port->is_string()) {
    if (port.endPort) {
      errors.push_back(FieldError::Invalid(end, *port.endPort,
                                           "may not be specified when `port` is non-numeric"));
    }
    AppendInvalid(errors, number, port.port->string_value(),
                  validation::IsValidPortName(port.port->string_value()));
  } else {
    const int32_t first = port.port->int_value();
    AppendInvalid(errors, number, first, validation::IsValidPortNum(first));
    if (port.endPort) {
      // As upstream, the error contains the value of `port`, not of endPort.
      if (*port.endPort < first) {
        errors.push_back(
            FieldError::Invalid(end, first, "must be greater than or equal to `port`"));
      }
      AppendInvalid(errors, end, *port.endPort, validation::IsValidPortNum(*port.endPort));
    }
  }
  return errors;
}

// Whether `inner` is a part of `outer` and smaller.
bool IsStrictSubset(const validation::Cidr& inner, const validation::Cidr& outer) {
  return inner.prefix > outer.prefix && outer.Contains(inner.address);
}

FieldErrorList ValidateIpBlock(const nv::IPBlock& block, const FieldPath& path) {
  const FieldPath cidr_path = path.Child("cidr");
  if (block.cidr.empty()) return {FieldError::Required(cidr_path)};
  FieldErrorList errors = validation::IsValidCIDRForLegacyField(cidr_path, block.cidr, true);
  const std::optional<validation::Cidr> cidr = validation::ParseCidrSloppy(block.cidr);
  if (!cidr) return errors;
  for (size_t i = 0; i < block.except.size(); ++i) {
    const FieldPath except_path = path.Child("except").Index(i);
    FieldErrorList faults =
        validation::IsValidCIDRForLegacyField(except_path, block.except[i], true);
    const std::optional<validation::Cidr> except = validation::ParseCidrSloppy(block.except[i]);
    if (faults.empty() && except && !IsStrictSubset(*except, *cidr)) {
      faults.push_back(
          FieldError::Invalid(except_path, block.except[i], "must be a strict subset of `cidr`"));
    }
    Append(errors, std::move(faults));
  }
  return errors;
}

FieldErrorList ValidatePeer(const nv::NetworkPolicyPeer& peer, const FieldPath& path,
                            const LabelSelectorValidationOptions& options) {
  FieldErrorList errors;
  int peers = 0;
  if (peer.podSelector) {
    ++peers;
    Append(errors, ValidateLabelSelector(*peer.podSelector, path.Child("podSelector"), options));
  }
  if (peer.namespaceSelector) {
    ++peers;
    Append(errors, ValidateLabelSelector(*peer.namespaceSelector, path.Child("namespaceSelector"),
                                         options));
  }
  if (peer.ipBlock) {
    ++peers;
    Append(errors, ValidateIpBlock(*peer.ipBlock, path.Child("ipBlock")));
  }
  if (peers == 0) {
    errors.push_back(FieldError::Required(path, "must specify a peer"));
  } else if (peers > 1 && peer.ipBlock) {
    errors.push_back(FieldError::Forbidden(path, "may not specify both ipBlock and another peer"));
  }
  return errors;
}

FieldErrorList ValidateRule(const List<nv::NetworkPolicyPort>& ports,
                            const List<nv::NetworkPolicyPeer>& peers, std::string_view peers_field,
                            const FieldPath& path, const LabelSelectorValidationOptions& options) {
  FieldErrorList errors;
  for (size_t i = 0; i < ports.size(); ++i) {
    Append(errors, ValidatePort(ports[i], path.Child("ports").Index(i)));
  }
  for (size_t i = 0; i < peers.size(); ++i) {
    Append(errors, ValidatePeer(peers[i], path.Child(peers_field).Index(i), options));
  }
  return errors;
}

FieldErrorList ValidateSpec(const nv::NetworkPolicySpec& spec, const FieldPath& path,
                            const LabelSelectorValidationOptions& options) {
  FieldErrorList errors =
      ValidateLabelSelector(spec.podSelector, path.Child("podSelector"), options);
  for (size_t i = 0; i < spec.ingress.size(); ++i) {
    Append(errors, ValidateRule(spec.ingress[i].ports, spec.ingress[i].from, "from",
                                path.Child("ingress").Index(i), options));
  }
  for (size_t i = 0; i < spec.egress.size(); ++i) {
    Append(errors, ValidateRule(spec.egress[i].ports, spec.egress[i].to, "to",
                                path.Child("egress").Index(i), options));
  }
  const FieldPath types = path.Child("policyTypes");
  if (spec.policyTypes.size() > 2) {
    errors.push_back(
        FieldError::Invalid(types, spec.policyTypes, "may not specify more than two policyTypes"));
    return errors;
  }
  for (size_t i = 0; i < spec.policyTypes.size(); ++i) {
    const std::string& type = spec.policyTypes[i];
    if (type != "Ingress" && type != "Egress") {
      errors.push_back(FieldError::NotSupported(types.Index(i), type, {"Ingress", "Egress"}));
    }
  }
  return errors;
}

void WarnAboutPeers(const List<nv::NetworkPolicyPeer>& peers, const FieldPath& path,
                    Warnings* warnings) {
  auto add = [&](const FieldPath& field, std::string_view cidr) {
    for (std::string& warning : validation::GetWarningsForCIDR(field, cidr)) {
      warnings->push_back(std::move(warning));
    }
  };
  for (size_t i = 0; i < peers.size(); ++i) {
    if (!peers[i].ipBlock) continue;
    const FieldPath block = path.Index(i).Child("ipBlock");
    add(block.Child("cidr"), peers[i].ipBlock->cidr);
    for (size_t j = 0; j < peers[i].ipBlock->except.size(); ++j) {
      add(block.Child("except").Index(j), peers[i].ipBlock->except[j]);
    }
  }
}

std::string FormatSelector(const meta::v1::LabelSelector& selector) {
  Result<labels::Selector> parsed = labels::Selector::FromLabelSelector(&selector);
  if (!parsed.ok()) return "<error>";
  std::string text = parsed->ToString();
  return text.empty() ? "<none>" : text;
}

class NetworkPolicyStrategy final : public StrategyOf<NetworkPolicy> {
 public:
  std::string_view storage_prefix() const override { return "networkpolicies"; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Pod-Selector", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(NetworkPolicy& object) const override {
    auto default_ports = [](List<nv::NetworkPolicyPort>& ports) {
      for (nv::NetworkPolicyPort& port : ports) {
        if (!port.protocol) port.protocol = "TCP";
      }
    };
    for (auto& rule : object.spec.ingress) default_ports(rule.ports);
    for (auto& rule : object.spec.egress) default_ports(rule.ports);
    if (object.spec.policyTypes.empty()) {
      // Egress policies need an egress section; Ingress applies even without an ingress section.
      object.spec.policyTypes = {"Ingress"};
      if (!object.spec.egress.empty()) object.spec.policyTypes.push_back("Egress");
    }
  }
  void PrepareCreate(const WriteContext&, NetworkPolicy& object) const override {
    object.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, NetworkPolicy& object,
                     const NetworkPolicy& old) const override {
    object.metadata.generation =
        old.metadata.generation + (DeepEqual(object.spec, old.spec) ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const NetworkPolicy& object) const override {
    return ValidateSpec(object.spec, FieldPath("spec"), {});
  }
  FieldErrorList CheckUpdate(const WriteContext&, const NetworkPolicy& object,
                             const NetworkPolicy& old) const override {
    // Stored selectors with invalid label values, from before they were checked, remain valid.
    LabelSelectorValidationOptions lenient{.allow_invalid_label_value = true};
    const bool old_is_valid = ValidateSpec(old.spec, FieldPath("spec"), {}).empty();
    const bool old_is_lenient = ValidateSpec(old.spec, FieldPath("spec"), lenient).empty();
    return ValidateSpec(
        object.spec, FieldPath("spec"),
        !old_is_valid && old_is_lenient ? lenient : LabelSelectorValidationOptions{});
  }
  Warnings Warn(const WriteContext&, const NetworkPolicy& object,
                const NetworkPolicy*) const override {
    Warnings warnings;
    const FieldPath spec("spec");
    for (size_t i = 0; i < object.spec.ingress.size(); ++i) {
      WarnAboutPeers(object.spec.ingress[i].from, spec.Child("ingress").Index(i).Child("from"),
                     &warnings);
    }
    for (size_t i = 0; i < object.spec.egress.size(); ++i) {
      WarnAboutPeers(object.spec.egress[i].to, spec.Child("egress").Index(i).Child("to"),
                     &warnings);
    }
    return warnings;
  }
  Cells RowOf(const NetworkPolicy& object, const Time& now) const override {
    return {object.metadata.name, FormatSelector(object.spec.podSelector),
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewNetworkPolicyStrategy() { return std::make_unique<NetworkPolicyStrategy>(); }

}  // namespace cox::apiserver
