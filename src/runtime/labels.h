// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/cri/v1.h"

// Kubernetes' labels and annotations of sandboxes and containers: their Pod, and the spec they were
// created from. They survive kubelet restarts, and other tools read them.
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

// Sets the metadata and labels of the sandbox's Pod. Other fields of the config are unchanged.
void MarkSandbox(const PodName& pod, uint32_t attempt, cri::v1::PodSandboxConfig* config);
// The same for a container, with the hash of its spec.
void MarkContainer(const PodName& pod, const std::string& container, uint32_t attempt,
                   uint64_t spec_hash, cri::v1::ContainerConfig* config);

// Reads the Pod from the labels; an empty name if they are missing: then Kubernetes does not own
// the object.
PodName PodOf(const Map<std::string>& labels);
// 0 if the annotation is missing or invalid.
uint64_t HashOf(const Map<std::string>& annotations);

}  // namespace cox::runtime
