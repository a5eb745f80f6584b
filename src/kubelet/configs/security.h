// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "api/cri/v1.h"
#include "base/result.h"

// Who containers are and what they may do, in the runtime's words. Pure.
namespace cox::kubelet {

// As whom an image runs where nobody says otherwise.
struct ImageUser {
  std::optional<int64_t> uid;
  std::string name;  // where it is no number
};

cri::v1::NamespaceOption NamespacesOf(const core::v1::Pod& pod);

cri::v1::LinuxSandboxSecurityContext SandboxSecurity(const core::v1::Pod& pod);

// The container's own settings over the Pod's. `target_id`: the container whose processes an
// ephemeral one sees; "" for none. `seccomp_root`: the folder of the node's own profiles, with a
// slash. BadRequest with the text of CreateContainerConfigError when runAsNonRoot does not hold or
// a profile has no name.
Result<cri::v1::LinuxContainerSecurityContext> ContainerSecurity(
    const core::v1::Pod& pod, const core::v1::Container& container, const ImageUser& image,
    const std::string& target_id, const std::string& seccomp_root);

}  // namespace cox::kubelet
