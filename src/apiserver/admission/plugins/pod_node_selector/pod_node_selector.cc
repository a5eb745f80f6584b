// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_node_selector/pod_node_selector.h"

#include <algorithm>
#include <map>

#include "api/core/v1.h"
#include "base/check.h"
#include "base/strings.h"
#include "object/selector/labels.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using Labels = std::map<std::string, std::string>;

constexpr std::string_view kAnnotation = "scheduler.alpha.kubernetes.io/node-selector";
// The selector for namespaces without the annotation; all other keys of the configuration are
// namespaces.
constexpr std::string_view kClusterDefault = "clusterDefaultNodeSelector";

// "a=b,c=d"
Result<Labels> ParseLabels(std::string_view text) {
  Labels labels;
  for (std::string_view pair : Split(text, ',')) {
    if (TrimSpace(pair).empty()) continue;
    const CutResult cut = Cut(pair, '=');
    if (!cut.found) return Status::BadRequest("invalid selector: [" + std::string(pair) + "]");
    labels.emplace(TrimSpace(cut.before), TrimSpace(cut.after));
  }
  return labels;
}

using NamedSelectors = std::map<std::string, Labels, std::less<>>;

// {"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "a=b", "ns": "c=d"}}
Result<NamedSelectors> ReadSelectors(const Value* config) {
  NamedSelectors selectors;
  if (config == nullptr) return selectors;
  const Value* entries = config->At({"podNodeSelectorPluginConfig"});
  if (entries == nullptr || !entries->is_object() || config->as_object().size() != 1) {
    return Status::BadRequest("podNodeSelectorPluginConfig must be there, an object, and alone");
  }
  for (const auto& [name, text] : entries->as_object()) {
    if (!text.is_string()) {
      return Status::BadRequest("podNodeSelectorPluginConfig." + std::string(name) +
                                ": must be a string");
    }
    Result<Labels> labels = ParseLabels(text.as_string());
    if (!labels.ok()) return labels.status().WithContext(name);
    selectors.emplace(name, std::move(*labels));
  }
  return selectors;
}

// Restricts the Pods of a namespace to the nodes that match the namespace's node selector.
class PodNodeSelector final : public AdmissionPlugin {
 public:
  PodNodeSelector(const Registry& registry, NamedSelectors selectors)
      : namespaces_(registry.Hub(core::v1::Namespace::kKind).store()),
        selectors_(std::move(selectors)) {}

  std::string_view name() const override { return "PodNodeSelector"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (!CreatesPod(request)) return {};
    Map<std::string>& own = object.As<Pod>()->spec.nodeSelector;
    COX_ASSIGN_OR_RETURN(const Labels wanted, SelectorOf(ctx, request));
    COX_RETURN_IF_ERROR(CheckConflict(request, wanted, own));
    for (const auto& [key, value] : wanted) own[key] = value;
    return {};
  }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (!CreatesPod(request)) return {};
    const Map<std::string>& own = request.object->As<Pod>()->spec.nodeSelector;
    COX_ASSIGN_OR_RETURN(const Labels wanted, SelectorOf(ctx, request));
    COX_RETURN_IF_ERROR(CheckConflict(request, wanted, own));
    const auto permitted = selectors_.find(request.ns);
    if (permitted == selectors_.end() || permitted->second.empty()) return {};
    for (const auto& [key, value] : own) {
      const auto found = permitted->second.find(key);
      if (found == permitted->second.end() || found->second != value) {
        return Refused(request,
                       "pod node label selector labels conflict with its namespace whitelist");
      }
    }
    return {};
  }

 private:
  static bool CreatesPod(const AdmissionRequest& request) {
    return request.operation == Operation::kCreate && request.subresource.empty() &&
           request.object->As<Pod>() != nullptr;
  }

  static Status Refused(const AdmissionRequest& request, std::string_view why) {
    return ForbiddenError(request.resource.resource(), request.name, why);
  }

  static Status CheckConflict(const AdmissionRequest& request, const Labels& wanted,
                              const Map<std::string>& own) {
    for (const auto& [key, value] : own) {
      const auto found = wanted.find(key);
      if (found != wanted.end() && found->second != value) {
        return Refused(request,
                       "pod node label selector conflicts with its namespace node label selector");
      }
    }
    return {};
  }

  Result<Labels> SelectorOf(Context& ctx, const AdmissionRequest& request) const {
    COX_ASSIGN_OR_RETURN(const Object ns,
                         namespaces_.Get(ctx, "", request.ns, /*from_cache=*/true));
    if (const std::string* text = ns.object_meta()->annotations.Get(kAnnotation)) {
      Result<Labels> labels = ParseLabels(*text);
      if (!labels.ok()) return Refused(request, labels.status().message());
      return labels;
    }
    const auto fallback = selectors_.find(kClusterDefault);
    return fallback == selectors_.end() ? Labels() : fallback->second;
  }

  const ResourceStore& namespaces_;
  const NamedSelectors selectors_;
};

}  // namespace

Status CheckPodNodeSelectorConfig(const Value& config) { return ReadSelectors(&config).status(); }

std::unique_ptr<const AdmissionPlugin> NewPodNodeSelector(const AdmissionParts& parts) {
  Result<NamedSelectors> selectors = ReadSelectors(parts.ConfigOf("PodNodeSelector"));
  COX_CHECK(selectors.ok());
  return std::make_unique<PodNodeSelector>(parts.registry, std::move(*selectors));
}

}  // namespace cox::apiserver
