// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/checks.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "base/strings.h"

// Seccomp: baseline forbids to disable it, restricted requires to enable it.
namespace cox::apiserver::pod_security {
namespace {

bool Confines(const core::v1::SeccompProfile& profile) {
  return profile.type == core::v1::kSeccompProfileTypeRuntimeDefault ||
         profile.type == core::v1::kSeccompProfileTypeLocalhost;
}

// Profiles other than RuntimeDefault and Localhost, and the parts of the Pod that set them.
struct Unconfined {
  explicit Unconfined(const PodView& pod) {
    if (pod.security != nullptr && pod.security->seccompProfile &&
        !Confines(*pod.security->seccompProfile)) {
      by_pod = true;
      types.insert(pod.security->seccompProfile->type);
    }
    for (const ContainerView& container : pod.containers) {
      if (container.security == nullptr || !container.security->seccompProfile) continue;
      if (Confines(*container.security->seccompProfile)) continue;
      containers.push_back(container.name);
      types.insert(container.security->seccompProfile->type);
    }
  }
  Finding AsFinding() const {
    if (!by_pod && containers.empty()) return {};
    return Violation{"seccompProfile", Setters(by_pod, containers) +
                                           " must not set securityContext.seccompProfile.type to " +
                                           Quoted(types)};
  }

  bool by_pod = false;
  Names containers;
  Values types;
};

}  // namespace

Finding SeccompBaseline_1_0(const PodView& pod) {
  std::vector<std::string> forbidden;
  for (const auto& [key, value] : pod.meta.annotations) {
    const bool about_seccomp =
        key == pod::kSeccompPodAnnotation || key.starts_with(pod::kSeccompContainerPrefix);
    const bool allowed = value.empty() || value == "runtime/default" || value == "docker/default" ||
                         value.starts_with("localhost/");
    if (about_seccomp && !allowed) forbidden.push_back(key + "=" + Quote(value));
  }
  if (forbidden.empty()) return {};
  return Violation{"seccompProfile", std::string(Plural(forbidden.size(), "forbidden annotation ",
                                                        "forbidden annotations ")) +
                                         Join(forbidden, ", ")};
}

Finding SeccompBaseline_1_19(const PodView& pod) { return Unconfined(pod).AsFinding(); }

Finding SeccompRestricted_1_19(const PodView& pod) {
  if (Finding unconfined = Unconfined(pod).AsFinding()) return unconfined;
  // The profile of the Pod applies to containers without one.
  if (pod.security != nullptr && pod.security->seccompProfile) return {};
  Names silent;
  for (const ContainerView& container : pod.containers) {
    if (container.security == nullptr || !container.security->seccompProfile) {
      silent.push_back(container.name);
    }
  }
  if (silent.empty()) return {};
  return Violation{"seccompProfile", "pod or " + ContainersText(silent) +
                                         " must set securityContext.seccompProfile.type to "
                                         "\"RuntimeDefault\" or \"Localhost\""};
}

Finding SeccompRestricted_1_25(const PodView& pod) {
  return pod.on_windows() ? Finding() : SeccompRestricted_1_19(pod);
}

}  // namespace cox::apiserver::pod_security
