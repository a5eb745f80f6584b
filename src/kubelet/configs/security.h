// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "api/cri/v1.h"
#include "base/result.h"

// Converts security contexts to their CRI form. Pure.
namespace cox::kubelet {

// The user of the image, used if the Pod does not set runAsUser.
struct ImageUser {
  std::optional<int64_t> uid;
  std::string name;  // if it is not numeric
};

struct SeccompOptions {
  std::string root;              // directory of the node's profiles, with a trailing slash
  bool runtime_default = false;  // for containers without a profile; otherwise unconfined
};

cri::v1::NamespaceOption NamespacesOf(const core::v1::Pod& pod);

cri::v1::LinuxSandboxSecurityContext SandboxSecurity(const core::v1::Pod& pod);

// Merges the container's security context over the Pod's. `target_id`: the container whose process
// namespace an ephemeral container joins; "" for none. Returns BadRequest with the text of
// CreateContainerConfigError if runAsNonRoot is violated or a localhost profile has no name.
Result<cri::v1::LinuxContainerSecurityContext> ContainerSecurity(
    const core::v1::Pod& pod, const core::v1::Container& container, const ImageUser& image,
    const std::string& target_id, const SeccompOptions& seccomp);

}  // namespace cox::kubelet
