// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/node_object.h"

#include <algorithm>

#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::kubelet {
namespace {

using core::v1::Node;
using core::v1::Taint;

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kAttachAnnotation =
    "volumes.kubernetes.io/controller-managed-attach-detach";
// Labels that the kubelet also updates on an existing Node.
constexpr std::string_view kOwnLabels[] = {
    kHostname,
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
};

bool IsUnder(std::string_view prefix, std::string_view domain) {
  return prefix == domain ||
         (prefix.ends_with(domain) && prefix[prefix.size() - domain.size() - 1] == '.');
}

// Labels under kubernetes.io and k8s.io are reserved: a node may set only some of them on itself.
bool MayLabel(std::string_view key) {
  const CutResult cut = Cut(key, '/');
  if (!cut.found) return true;
  const std::string_view prefix = cut.before;
  if (!IsUnder(prefix, "kubernetes.io") && !IsUnder(prefix, "k8s.io")) return true;
  if (IsUnder(prefix, "kubelet.kubernetes.io") || IsUnder(prefix, "node.kubernetes.io")) {
    return true;
  }
  return std::find(std::begin(kOwnLabels), std::end(kOwnLabels), key) != std::end(kOwnLabels);
}

}  // namespace

Node NewNode(const NodeOptions& options, const Machine& machine) {
  Node node;
  node.metadata.name = options.name;
  node.metadata.labels = options.labels;
  node.metadata.labels[kHostname] = options.name;
  for (const char* prefix : {"", "beta."}) {
    node.metadata.labels[std::string(prefix) + "kubernetes.io/os"] = "linux";
    node.metadata.labels[std::string(prefix) + "kubernetes.io/arch"] = machine.architecture;
  }
  node.metadata.annotations[kAttachAnnotation] = "true";
  node.spec.taints = options.taints;
  node.spec.unschedulable = !options.schedulable;
  node.spec.providerID = options.provider_id;
  return node;
}

bool ReconcileNode(const Node& wanted, Node* existing) {
  bool changed = false;
  for (const std::string_view key : kOwnLabels) {
    const std::string* want = wanted.metadata.labels.Get(key);
    const std::string* have = existing->metadata.labels.Get(key);
    if (want == nullptr || (have != nullptr && *have == *want)) continue;
    existing->metadata.labels[key] = *want;
    changed = true;
  }
  std::string& attach = existing->metadata.annotations[kAttachAnnotation];
  if (attach != "true") {
    attach = "true";
    changed = true;
  }
  // providerID is immutable once it is set.
  if (existing->spec.providerID.empty() && !wanted.spec.providerID.empty()) {
    existing->spec.providerID = wanted.spec.providerID;
    changed = true;
  }
  return changed;
}

Result<Map<std::string>> ParseNodeLabels(std::string_view text) {
  Map<std::string> labels;
  for (std::string_view part : Split(text, ',')) {
    part = TrimSpace(part);
    if (part.empty()) continue;
    const CutResult cut = Cut(part, '=');
    if (!cut.found) {
      return Status::BadRequest("node-labels: " + Quote(part) + " is not of the form key=value");
    }
    if (const auto wrong = validation::IsLabelKey(cut.before); !wrong.empty()) {
      return Status::BadRequest("node-labels: key " + Quote(cut.before) + ": " + wrong.front());
    }
    if (const auto wrong = validation::IsValidLabelValue(cut.after); !wrong.empty()) {
      return Status::BadRequest("node-labels: value of " + Quote(cut.before) + ": " +
                                wrong.front());
    }
    if (!MayLabel(cut.before)) {
      return Status::BadRequest(
          "node-labels: " + Quote(cut.before) +
          " is a name of kubernetes.io or k8s.io that a node may not give itself; labels of your "
          "own belong under a domain of your own, or under node.kubernetes.io");
    }
    labels[cut.before] = std::string(cut.after);
  }
  return labels;
}

Result<List<Taint>> ParseTaints(std::string_view text) {
  List<Taint> taints;
  for (std::string_view part : Split(text, ',')) {
    part = TrimSpace(part);
    if (part.empty()) continue;
    const size_t colon = part.rfind(':');
    const CutResult key = Cut(part.substr(0, colon), '=');
    Taint taint;
    taint.key = key.before;
    taint.value = key.after;
    if (colon != std::string_view::npos) taint.effect = part.substr(colon + 1);
    if (taint.effect != "NoSchedule" && taint.effect != "PreferNoSchedule" &&
        taint.effect != "NoExecute") {
      return Status::BadRequest("register-with-taints: " + Quote(part) +
                                " must be key=value:effect with effect NoSchedule, "
                                "PreferNoSchedule or NoExecute");
    }
    if (const auto wrong = validation::IsLabelKey(taint.key); !wrong.empty()) {
      return Status::BadRequest("register-with-taints: key " + Quote(taint.key) + ": " +
                                wrong.front());
    }
    if (const auto wrong = validation::IsValidLabelValue(taint.value); !wrong.empty()) {
      return Status::BadRequest("register-with-taints: value of " + Quote(taint.key) + ": " +
                                wrong.front());
    }
    taints.push_back(std::move(taint));
  }
  return taints;
}

Result<Map<Quantity>> ParseReserved(std::string_view text) {
  Map<Quantity> reserved;
  for (std::string_view part : Split(text, ',')) {
    part = TrimSpace(part);
    if (part.empty()) continue;
    const CutResult cut = Cut(part, '=');
    if (cut.before != "cpu" && cut.before != "memory" && cut.before != "ephemeral-storage" &&
        cut.before != "pid") {
      return Status::BadRequest(Quote(part) +
                                ": cpu, memory, ephemeral-storage and pid can be reserved, as in "
                                "cpu=100m,memory=1Gi");
    }
    Result<Quantity> amount = Quantity::Parse(cut.after);
    if (!amount.ok() || amount->Sign() < 0) {
      return Status::BadRequest(Quote(part) + ": " + Quote(cut.after) + " is no amount");
    }
    if (cut.before != "pid") reserved[cut.before] = *std::move(amount);
  }
  return reserved;
}

}  // namespace cox::kubelet
