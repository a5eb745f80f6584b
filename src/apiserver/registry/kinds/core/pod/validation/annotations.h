// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Annotations of pods that the API server uses.
namespace cox::apiserver::pod {

// Set by kubelets on the mirror pods of static pods.
inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
inline constexpr std::string_view kDeletionCostAnnotation =
    "controller.kubernetes.io/pod-deletion-cost";
// Annotations that fields have replaced.
inline constexpr std::string_view kTolerationsAnnotation =
    "scheduler.alpha.kubernetes.io/tolerations";
inline constexpr std::string_view kSeccompPodAnnotation =
    "seccomp.security.alpha.kubernetes.io/pod";
inline constexpr std::string_view kSeccompContainerPrefix =
    "container.seccomp.security.alpha.kubernetes.io/";
inline constexpr std::string_view kAppArmorPrefix =
    "container.apparmor.security.beta.kubernetes.io/";

}  // namespace cox::apiserver::pod
