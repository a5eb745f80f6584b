// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/cri/v1.h"

// What is written on sandboxes and containers, with Kubernetes' names: whose they are, and what
// they were made from. It outlives the kubelet, and other tools read it.
namespace cox::runtime {

namespace label {
inline constexpr std::string_view kPodName = "io.kubernetes.pod.name";
inline constexpr std::string_view kPodNamespace = "io.kubernetes.pod.namespace";
inline constexpr std::string_view kPodUid = "io.kubernetes.pod.uid";
inline constexpr std::string_view kContainerName = "io.kubernetes.container.name";
}  // namespace label

namespace annotation {
inline constexpr std::string_view kHash = "io.kubernetes.container.hash";  // hexadecimal
inline constexpr std::string_view kRestartCount = "io.kubernetes.container.restartCount";
inline constexpr std::string_view kTerminationMessagePath =
    "io.kubernetes.container.terminationMessagePath";
inline constexpr std::string_view kTerminationMessagePolicy =
    "io.kubernetes.container.terminationMessagePolicy";
inline constexpr std::string_view kGracePeriod = "io.kubernetes.pod.terminationGracePeriod";
}  // namespace annotation

struct PodName {
  std::string uid;
  std::string ns;
  std::string name;
};

// Names the sandbox's Pod: metadata and labels. What else is in the config stays.
void MarkSandbox(const PodName& pod, uint32_t attempt, cri::v1::PodSandboxConfig* config);
// Likewise of a container, with what it was made from.
void MarkContainer(const PodName& pod, const std::string& container, uint32_t attempt,
                   uint64_t spec_hash, cri::v1::ContainerConfig* config);

// What the marks say; the empty name where there are none: then it is not ours.
PodName PodOf(const Map<std::string>& labels);
// 0 where there is none, or none that can be read.
uint64_t HashOf(const Map<std::string>& annotations);

}  // namespace cox::runtime
