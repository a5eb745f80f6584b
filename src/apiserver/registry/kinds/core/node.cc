// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/resource_names.h"
#include "object/codec/json/json.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

using core::v1::Node;
using core::v1::Taint;

constexpr std::string_view kPreferAvoidPods = "scheduler.alpha.kubernetes.io/preferAvoidPods";
constexpr std::string_view kRolePrefix = "node-role.kubernetes.io/";
constexpr std::string_view kRoleLabel = "kubernetes.io/role";

// podCIDR is the first of podCIDRs; podCIDR takes precedence if the two differ.
void AlignPodCIDRs(core::v1::NodeSpec& spec) {
  if (!spec.podCIDR.empty() && (spec.podCIDRs.empty() || spec.podCIDRs[0] != spec.podCIDR)) {
    spec.podCIDRs = {spec.podCIDR};
  }
  if (!spec.podCIDRs.empty()) spec.podCIDR = spec.podCIDRs[0];
}

void CheckAnnotations(FieldErrorList& errors, const Node& node) {
  const std::string* text = node.metadata.annotations.Get(kPreferAvoidPods);
  if (text == nullptr || text->empty()) return;
  FieldPath path = FieldPath("metadata").Child("annotations");
  Result<core::v1::AvoidPods> avoid = json::Decode<core::v1::AvoidPods>(*text);
  if (!avoid.ok()) {
    errors.push_back(FieldError::Invalid(path.Child("AvoidPods"), kPreferAvoidPods,
                                         std::string(avoid.status().message())));
    return;
  }
  FieldPath entries = path.Child(kPreferAvoidPods);
  for (size_t i = 0; i < avoid->preferAvoidPods.size(); ++i) {
    const core::v1::PodSignature& signature = avoid->preferAvoidPods[i].podSignature;
    FieldPath at = entries.Index(i).Child("PodSignature");
    if (!signature.podController) {
      errors.push_back(FieldError::Required(at));
    } else if (!signature.podController->controller.value_or(false)) {
      errors.push_back(FieldError::Invalid(at.Child("PodController").Child("Controller"), false,
                                           "must point to a controller"));
    }
  }
}

void CheckTaint(FieldErrorList& errors, const Taint& taint, const FieldPath& path) {
  Append(errors, validation::ValidateLabelName(taint.key, path.Child("key")));
  validation::Messages messages = validation::IsValidLabelValue(taint.value);
  if (!messages.empty()) {
    std::string joined;
    for (const std::string& message : messages) joined += (joined.empty() ? "" : ";") + message;
    errors.push_back(FieldError::Invalid(path.Child("value"), taint.value, std::move(joined)));
  }
  FieldPath effect = path.Child("effect");
  if (taint.effect.empty()) {
    errors.push_back(FieldError::Required(effect));
  } else if (taint.effect != "NoSchedule" && taint.effect != "PreferNoSchedule" &&
             taint.effect != "NoExecute") {
    errors.push_back(FieldError::NotSupported(effect, taint.effect,
                                              {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
  }
}

// Upstream reports errors of taints under metadata, where taints were annotations earlier.
void CheckTaints(FieldErrorList& errors, const Node& node) {
  FieldPath path = FieldPath("metadata").Child("taints");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < node.spec.taints.size(); ++i) {
    const Taint& taint = node.spec.taints[i];
    CheckTaint(errors, taint, path.Index(i));
    if (!seen.emplace(taint.key, taint.effect).second) {
      FieldError error = FieldError::Duplicate(path.Index(i), InternalValue(taint));
      error.detail = "taints must be unique by key and effect pair";
      errors.push_back(std::move(error));
    }
  }
}

void CheckResources(FieldErrorList& errors, const Node& node) {
  FieldPath status("status");
  for (const auto& [name, amount] : node.status.capacity) {
    Append(errors,
           ValidateResourceQuantityValue(name, amount, status.Child("capacity").Child(name)));
  }
  for (const auto& [name, amount] : node.status.allocatable) {
    Append(errors,
           ValidateResourceQuantityValue(name, amount, status.Child("allocatable").Child(name)));
  }
}

// At most one CIDR of each IP family. Stored CIDRs may keep their spelling.
void CheckPodCIDRs(FieldErrorList& errors, const Node& node, const Node* old) {
  const List<std::string>& cidrs = node.spec.podCIDRs;
  FieldPath path = FieldPath("spec").Child("podCIDRs");
  std::vector<std::string_view> before;
  if (old != nullptr) before.assign(old->spec.podCIDRs.begin(), old->spec.podCIDRs.end());
  for (size_t i = 0; i < cidrs.size(); ++i) {
    Append(errors, validation::IsValidCIDRForLegacyField(path.Index(i), cidrs[i], true, before));
  }
  if (cidrs.size() < 2) return;
  int ipv4 = 0, ipv6 = 0;
  for (size_t i = 0; i < cidrs.size(); ++i) {
    std::optional<validation::Cidr> cidr = validation::ParseCidrSloppy(cidrs[i]);
    if (!cidr) {
      errors.push_back(FieldError::Internal(
          path, "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[" +
                    std::to_string(i) + "]: <nil> (invalid CIDR address: " + cidrs[i] + ")"));
      break;
    }
    ++(cidr->address.IsIpv4() ? ipv4 : ipv6);
  }
  if (ipv4 != 1 || ipv6 != 1) {
    errors.push_back(
        FieldError::Invalid(path, cidrs, "may specify no more than one CIDR for each IP family"));
  }
}

FieldErrorList CheckNode(const Node& node, const Node* old) {
  FieldErrorList errors;
  CheckAnnotations(errors, node);
  CheckTaints(errors, node);
  CheckResources(errors, node);
  CheckPodCIDRs(errors, node, old);
  return errors;
}

// Validates an update of a node or of its status.
FieldErrorList CheckNodeUpdate(const Node& node, const Node& old) {
  FieldErrorList errors;
  CheckAnnotations(errors, node);
  CheckResources(errors, node);
  FieldPath spec("spec"), addresses = FieldPath("status").Child("addresses");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < node.status.addresses.size(); ++i) {
    const core::v1::NodeAddress& address = node.status.addresses[i];
    if (!seen.emplace(address.type, address.address).second) {
      errors.push_back(FieldError::Duplicate(addresses.Index(i), InternalValue(address)));
    }
  }
  if (!old.spec.podCIDRs.empty()) {
    constexpr const char* kCIDR = "node updates may not change podCIDR except from \"\" to valid";
    if (node.spec.podCIDRs.size() != old.spec.podCIDRs.size()) {
      errors.push_back(FieldError::Forbidden(spec.Child("podCIDRs"), kCIDR));
    } else {
      for (size_t i = 0; i < node.spec.podCIDRs.size(); ++i) {
        if (node.spec.podCIDRs[i] == old.spec.podCIDRs[i]) continue;
        errors.push_back(FieldError::Forbidden(spec.Child("podCIDRs"), kCIDR));
      }
    }
  }
  if (!old.spec.providerID.empty() && old.spec.providerID != node.spec.providerID) {
    errors.push_back(
        FieldError::Forbidden(spec.Child("providerID"),
                              "node updates may not change providerID except from \"\" to valid"));
  }
  CheckTaints(errors, node);
  if (old.spec.externalID != node.spec.externalID) {
    errors.push_back(FieldError::Forbidden(spec.Child("externalID"), "may not be updated"));
  }
  return errors;
}

// Dynamic kubelet configuration was removed; only nodes that already have such fields keep them.
void DropConfig(Node& node, const Node* old) {
  if (old == nullptr || !old->spec.configSource) node.spec.configSource.reset();
  if (old == nullptr || !old->status.config) node.status.config.reset();
}

Warnings NodeWarnings(const Node& node) {
  Warnings warnings;
  if (node.spec.configSource) {
    warnings.emplace_back(
        "spec.configSource: deprecated in v1.22, support removal is planned in v1.23");
  }
  if (!node.spec.externalID.empty()) {
    warnings.emplace_back("spec.externalID: this field is deprecated, and is unused");
  }
  FieldPath path = FieldPath("spec").Child("podCIDRs");
  for (size_t i = 0; i < node.spec.podCIDRs.size(); ++i) {
    for (std::string& text : validation::GetWarningsForCIDR(path.Index(i), node.spec.podCIDRs[i])) {
      warnings.push_back(std::move(text));
    }
  }
  return warnings;
}

class StatusStrategy final : public UpdateStrategyOf<Node> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, Node& node, const Node& old) const override {
    node.spec = old.spec;
    if (!old.status.config) node.status.config.reset();
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Node& node,
                             const Node& old) const override {
    return CheckNodeUpdate(node, old);
  }
  Warnings Warn(const WriteContext&, const Node& node, const Node&) const override {
    return NodeWarnings(node);
  }
};

// Table cells.

std::string StatusText(const Node& node) {
  std::string text;
  for (const core::v1::NodeCondition& condition : node.status.conditions) {
    if (condition.type == "Ready") text = condition.status == "True" ? "Ready" : "NotReady";
  }
  if (text.empty()) text = "Unknown";
  if (node.spec.unschedulable) text += ",SchedulingDisabled";
  return text;
}

std::string RolesText(const Node& node) {
  std::set<std::string_view> roles;
  for (const auto& [key, value] : node.metadata.labels) {
    std::string_view role;
    if (key.starts_with(kRolePrefix)) role = std::string_view(key).substr(kRolePrefix.size());
    if (key == kRoleLabel) role = value;
    if (!role.empty()) roles.insert(role);
  }
  std::string text;
  for (std::string_view role : roles) text.append(text.empty() ? "" : ",").append(role);
  return text.empty() ? "<none>" : text;
}

std::string AddressText(const Node& node, std::string_view type) {
  for (const core::v1::NodeAddress& address : node.status.addresses) {
    if (address.type == type) return address.address;
  }
  return "<none>";
}

std::string OrUnknown(const std::string& text) { return text.empty() ? "<unknown>" : text; }

class NodeStrategy final : public StrategyOf<Node> {
 public:
  // The storage prefix is the former name of the resource.
  std::string_view storage_prefix() const override { return "minions"; }
  const UpdateStrategy* Subresource(std::string_view name) const override {
    return name == "status" ? &status_ : nullptr;
  }
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }
  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"spec.unschedulable"};
    return kNames;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Status", .type = "string"},
        {.name = "Roles", .type = "string"},
        kAgeColumn,
        {.name = "Version", .type = "string"},
        {.name = "Internal-IP", .type = "string", .priority = 1},
        {.name = "External-IP", .type = "string", .priority = 1},
        {.name = "OS-Image", .type = "string", .priority = 1},
        {.name = "Kernel-Version", .type = "string", .priority = 1},
        {.name = "Container-Runtime", .type = "string", .priority = 1},
    };
    return kColumns;
  }

 protected:
  void Default(Node& node) const override {
    AlignPodCIDRs(node.spec);
    if (node.status.allocatable.empty()) node.status.allocatable = node.status.capacity;
  }
  // The status is kept on create: kubelets register their node in one request.
  void PrepareCreate(const WriteContext&, Node& node) const override { DropConfig(node, nullptr); }
  void PrepareUpdate(const WriteContext&, Node& node, const Node& old) const override {
    node.status = old.status;
    DropConfig(node, &old);
  }
  FieldErrorList Check(const WriteContext&, const Node& node) const override {
    return CheckNode(node, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Node& node,
                             const Node& old) const override {
    FieldErrorList errors = CheckNode(node, &old);
    Append(errors, CheckNodeUpdate(node, old));
    return errors;
  }
  Warnings Warn(const WriteContext&, const Node& node, const Node*) const override {
    return NodeWarnings(node);
  }

  FieldPairs FieldsOf(const Node& node) const override {
    return {{"spec.unschedulable", node.spec.unschedulable ? "true" : "false"}};
  }
  Cells RowOf(const Node& node, const Time& now) const override {
    const core::v1::NodeSystemInfo& info = node.status.nodeInfo;
    std::string kernel = OrUnknown(info.kernelVersion);
    if (!info.kernelVersion.empty() && !info.architecture.empty()) {
      kernel += " (" + info.architecture + ")";
    }
    return {node.metadata.name,
            StatusText(node),
            RolesText(node),
            Age(node.metadata.creationTimestamp, now),
            info.kubeletVersion,
            AddressText(node, "InternalIP"),
            AddressText(node, "ExternalIP"),
            OrUnknown(info.osImage),
            kernel,
            OrUnknown(info.containerRuntimeVersion)};
  }

 private:
  StatusStrategy status_;
};

}  // namespace

StrategyPtr NewNodeStrategy() { return std::make_unique<NodeStrategy>(); }

}  // namespace cox::apiserver
