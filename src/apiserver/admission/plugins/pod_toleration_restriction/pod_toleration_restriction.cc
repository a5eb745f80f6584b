// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_toleration_restriction/pod_toleration_restriction.h"

#include <algorithm>
#include <optional>

#include "api/core/v1.h"
#include "apiserver/config/config_reader.h"
#include "apiserver/registry/kinds/core/pod/validation/qos.h"
#include "base/check.h"
#include "object/codec/json/json.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using core::v1::Toleration;
using Tolerations = List<Toleration>;

constexpr std::string_view kDefaults = "scheduler.alpha.kubernetes.io/defaultTolerations";
constexpr std::string_view kWhitelist = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

// Decodes a list of tolerations as in a Pod.
Result<Tolerations> ReadList(const Value& list) {
  if (list.is_null()) return Tolerations();
  Object pod(Pod::kKind);
  COX_RETURN_IF_ERROR(
      pod.FromValue(Value::MakeObject({{"spec", Value::MakeObject({{"tolerations", list}})}})));
  return std::move(pod.As<Pod>()->spec.tolerations);
}

struct Config {
  Tolerations defaults, whitelist;
};

Result<Config> ReadConfig(const Value* value) {
  Config config;
  if (value == nullptr) return config;
  COX_ASSIGN_OR_RETURN(ConfigDocument document,
                       ConfigDocument::Of(*value, "Configuration",
                                          {"podtolerationrestriction.admission.k8s.io/v1alpha1"}));
  const Value* defaults = document.root().Raw("default");
  const Value* whitelist = document.root().Raw("whitelist");
  COX_RETURN_IF_ERROR(document.Finish());
  if (defaults != nullptr) {
    COX_ASSIGN_OR_RETURN(config.defaults, ReadList(*defaults));
  }
  if (whitelist != nullptr) {
    COX_ASSIGN_OR_RETURN(config.whitelist, ReadList(*whitelist));
  }
  return config;
}

// Reports whether `wide` tolerates every taint that `t` tolerates, for at least as long.
bool Includes(const Toleration& wide, const Toleration& t) {
  if (DeepEqual(wide, t)) return true;
  const bool any_key = wide.key.empty() && wide.operator_ == core::v1::kTolerationOpExists;
  if (t.key != wide.key && !any_key) return false;
  if (t.effect != wide.effect && !wide.effect.empty()) return false;
  if (wide.effect == core::v1::kTaintEffectNoExecute && wide.tolerationSeconds &&
      (!t.tolerationSeconds || *t.tolerationSeconds > *wide.tolerationSeconds)) {
    return false;
  }
  if (wide.operator_ == core::v1::kTolerationOpExists) return true;
  const bool equal = wide.operator_.empty() || wide.operator_ == core::v1::kTolerationOpEqual;
  return equal && t.operator_ == core::v1::kTolerationOpEqual && t.value == wide.value;
}

// Merges both lists. Omits tolerations that another one includes; of equal ones, the first is kept.
Tolerations Merged(const Tolerations& own, const Tolerations& more) {
  Tolerations all = own, merged;
  all.insert(all.end(), more.begin(), more.end());
  for (size_t i = 0; i < all.size(); ++i) {
    const Toleration& t = all[i];
    const bool known = std::any_of(merged.begin(), merged.end(),
                                   [&](const Toleration& m) { return Includes(m, t); });
    const bool wider_comes =
        std::any_of(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
                    [&](const Toleration& o) { return !DeepEqual(o, t) && Includes(o, t); });
    if (!known && !wider_comes) merged.push_back(t);
  }
  return merged;
}

// Adds the default tolerations of a namespace to its Pods and restricts their tolerations.
class PodTolerationRestriction final : public AdmissionPlugin {
 public:
  PodTolerationRestriction(const Registry& registry, Config config)
      : namespaces_(registry.Hub(core::v1::Namespace::kKind).store()), config_(std::move(config)) {}

  std::string_view name() const override { return "PodTolerationRestriction"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (!WritesPod(request)) return {};
    Pod& pod = *object.As<Pod>();
    Tolerations more;
    if (request.operation == Operation::kCreate) {
      COX_ASSIGN_OR_RETURN(const std::optional<Tolerations> own,
                           OfNamespace(ctx, request, kDefaults));
      more = own.value_or(config_.defaults);
    }
    // Pods that request memory tolerate memory pressure.
    if (ComputePodQOS(pod.spec) != core::v1::kPodQOSBestEffort) {
      Toleration pressure;
      pressure.key = "node.kubernetes.io/memory-pressure";
      pressure.operator_ = core::v1::kTolerationOpExists;
      pressure.effect = core::v1::kTaintEffectNoSchedule;
      more.push_back(std::move(pressure));
    }
    if (!more.empty()) pod.spec.tolerations = Merged(pod.spec.tolerations, more);
    return Check(ctx, request, pod);
  }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    return WritesPod(request) ? Check(ctx, request, *request.object->As<Pod>()) : Status();
  }

 private:
  static bool WritesPod(const AdmissionRequest& request) {
    return request.object != nullptr && request.subresource.empty() &&
           request.object->As<Pod>() != nullptr;
  }

  Status Check(Context& ctx, const AdmissionRequest& request, const Pod& pod) const {
    if (pod.spec.tolerations.empty()) return {};
    COX_ASSIGN_OR_RETURN(const std::optional<Tolerations> own,
                         OfNamespace(ctx, request, kWhitelist));
    const Tolerations& whitelist = own ? *own : config_.whitelist;
    if (whitelist.empty()) return {};
    for (const Toleration& toleration : pod.spec.tolerations) {
      const bool permitted =
          std::any_of(whitelist.begin(), whitelist.end(),
                      [&](const Toleration& wide) { return Includes(wide, toleration); });
      if (permitted) continue;
      return ForbiddenError(
          request.resource.resource(), request.name,
          std::string("pod tolerations (possibly merged with namespace default tolerations) "
                      "conflict with its ") +
              (own ? "namespace" : "cluster") + " whitelist");
    }
    return {};
  }

  // Returns nullopt if the namespace does not have the annotation.
  Result<std::optional<Tolerations>> OfNamespace(Context& ctx, const AdmissionRequest& request,
                                                 std::string_view annotation) const {
    COX_ASSIGN_OR_RETURN(const Object ns,
                         namespaces_.Get(ctx, "", request.ns, /*from_cache=*/true));
    const std::string* text = ns.object_meta()->annotations.Get(annotation);
    if (text == nullptr) return std::optional<Tolerations>();
    if (text->empty()) return std::optional<Tolerations>(Tolerations());
    const Result<Value> list = json::Parse(*text);
    Result<Tolerations> tolerations =
        list.ok() ? ReadList(*list) : Result<Tolerations>(list.status());
    if (!tolerations.ok()) {
      return ForbiddenError(request.resource.resource(), request.name,
                            "annotation " + std::string(annotation) + " of namespace " +
                                request.ns + ": " + tolerations.status().message());
    }
    return std::optional<Tolerations>(std::move(*tolerations));
  }

  const ResourceStore& namespaces_;
  const Config config_;
};

}  // namespace

Status CheckPodTolerationRestrictionConfig(const Value& config) {
  return ReadConfig(&config).status();
}

std::unique_ptr<const AdmissionPlugin> NewPodTolerationRestriction(const AdmissionParts& parts) {
  Result<Config> config = ReadConfig(parts.ConfigOf("PodTolerationRestriction"));
  COX_CHECK(config.ok());
  return std::make_unique<PodTolerationRestriction>(parts.registry, std::move(*config));
}

}  // namespace cox::apiserver
