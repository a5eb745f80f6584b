// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Annotations of pods that the API server gives a meaning to.
namespace cox::apiserver::pod {

// Made by kubelets for pods from files: the pod is a copy of what runs anyway.
inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
inline constexpr std::string_view kDeletionCostAnnotation =
    "controller.kubernetes.io/pod-deletion-cost";
// Before there was a field for it.
inline constexpr std::string_view kTolerationsAnnotation =
    "scheduler.alpha.kubernetes.io/tolerations";
inline constexpr std::string_view kSeccompPodAnnotation =
    "seccomp.security.alpha.kubernetes.io/pod";
inline constexpr std::string_view kSeccompContainerPrefix =
    "container.seccomp.security.alpha.kubernetes.io/";
inline constexpr std::string_view kAppArmorPrefix =
    "container.apparmor.security.beta.kubernetes.io/";

}  // namespace cox::apiserver::pod
