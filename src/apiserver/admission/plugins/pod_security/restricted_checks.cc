// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/admission/plugins/pod_security/checks.h"
#include "base/strings.h"
#include "object/type/box.h"
#include "object/type/type.h"

// The controls that the restricted standard adds to the baseline. Three of them do not apply to
// Windows.
namespace cox::apiserver::pod_security {
namespace {

constexpr std::string_view kAllowedVolumes[] = {"configMap", "csi",       "downwardAPI",
                                                "emptyDir",  "ephemeral", "persistentVolumeClaim",
                                                "projected", "secret"};

// The name of a volume source that is not allowed; empty if the source is allowed or not set.
// Iterates over the type table, so that volume sources added to the API later are not allowed by
// default.
std::string_view RestrictedType(const core::v1::VolumeSource& source) {
  for (const Field& field : core::v1::VolumeSource::kType.fields) {
    if (!field.Has(Field::kPointer) || field.type->shape != Shape::kStruct) continue;
    const auto* box =
        reinterpret_cast<const BoxBase*>(reinterpret_cast<const char*>(&source) + field.offset);
    if (box->erased() == nullptr) continue;
    if (std::find(std::begin(kAllowedVolumes), std::end(kAllowedVolumes), field.name) ==
        std::end(kAllowedVolumes)) {
      return field.name;
    }
  }
  return {};
}

}  // namespace

Finding AllowPrivilegeEscalation_1_8(const PodView& pod) {
  Names containers;
  for (const ContainerView& container : pod.containers) {
    if (container.security == nullptr ||
        container.security->allowPrivilegeEscalation.value_or(true)) {
      containers.push_back(container.name);
    }
  }
  if (containers.empty()) return {};
  return Violation{
      "allowPrivilegeEscalation != false",
      ContainersText(containers) + " must set securityContext.allowPrivilegeEscalation=false"};
}

Finding AllowPrivilegeEscalation_1_25(const PodView& pod) {
  return pod.on_windows() ? Finding() : AllowPrivilegeEscalation_1_8(pod);
}

Finding CapabilitiesRestricted_1_22(const PodView& pod) {
  Names keeping;
  Names adding;
  Values added;
  for (const ContainerView& container : pod.containers) {
    const core::v1::Capabilities* capabilities =
        container.security == nullptr ? nullptr : container.security->capabilities.get();
    if (capabilities == nullptr) {
      keeping.push_back(container.name);
      continue;
    }
    const auto& drop = capabilities->drop;
    if (std::find(drop.begin(), drop.end(), "ALL") == drop.end()) {
      keeping.push_back(container.name);
    }
    bool bad = false;
    for (const std::string& capability : capabilities->add) {
      if (capability == "NET_BIND_SERVICE") continue;
      bad = true;
      added.insert(capability);
    }
    if (bad) adding.push_back(container.name);
  }
  std::vector<std::string> details;
  if (!keeping.empty()) {
    details.push_back(ContainersText(keeping) +
                      " must set securityContext.capabilities.drop=[\"ALL\"]");
  }
  if (!adding.empty()) {
    details.push_back(ContainersText(adding) + " must not include " + Quoted(added) +
                      " in securityContext.capabilities.add");
  }
  if (details.empty()) return {};
  return Violation{"unrestricted capabilities", Join(details, "; ")};
}

Finding CapabilitiesRestricted_1_25(const PodView& pod) {
  return pod.on_windows() ? Finding() : CapabilitiesRestricted_1_22(pod);
}

Finding RestrictedVolumes(const PodView& pod) {
  Names volumes;
  Values types;
  for (const core::v1::Volume& volume : pod.spec.volumes) {
    const std::string_view type = RestrictedType(volume.volumeSource);
    if (type.empty()) continue;
    volumes.push_back(volume.name);
    types.emplace(type);
  }
  if (volumes.empty()) return {};
  std::string detail(Plural(volumes.size(), "volume ", "volumes "));
  detail += Quoted(volumes);
  detail += Plural(volumes.size(), " uses restricted volume ", " use restricted volume ");
  detail += Plural(types.size(), "type ", "types ");
  return Violation{"restricted volume types", detail + Quoted(types)};
}

Finding RunAsNonRoot_1_0(const PodView& pod) {
  const std::optional<bool> of_pod =
      pod.security == nullptr ? std::nullopt : pod.security->runAsNonRoot;
  Names refusing;
  Names silent;
  for (const ContainerView& container : pod.containers) {
    const std::optional<bool> own =
        container.security == nullptr ? std::nullopt : container.security->runAsNonRoot;
    if (own && !*own) refusing.push_back(container.name);
    if (!own && !of_pod) silent.push_back(container.name);
  }
  const bool by_pod = of_pod && !*of_pod;
  if (by_pod || !refusing.empty()) {
    return Violation{"runAsNonRoot != true", Setters(by_pod, refusing) +
                                                 " must not set securityContext.runAsNonRoot="
                                                 "false"};
  }
  if (silent.empty()) return {};
  return Violation{"runAsNonRoot != true", "pod or " + ContainersText(silent) +
                                               " must set securityContext.runAsNonRoot=true"};
}

Finding RunAsNonRoot_1_35(const PodView& pod) {
  return pod.in_user_namespace() ? Finding() : RunAsNonRoot_1_0(pod);
}

Finding RunAsUser_1_23(const PodView& pod) {
  const bool by_pod = pod.security != nullptr && pod.security->runAsUser == 0;
  Names containers;
  for (const ContainerView& container : pod.containers) {
    if (container.security != nullptr && container.security->runAsUser == 0) {
      containers.push_back(container.name);
    }
  }
  if (!by_pod && containers.empty()) return {};
  return Violation{"runAsUser=0", Setters(by_pod, containers) + " must not set runAsUser=0"};
}

Finding RunAsUser_1_35(const PodView& pod) {
  return pod.in_user_namespace() ? Finding() : RunAsUser_1_23(pod);
}

}  // namespace cox::apiserver::pod_security
