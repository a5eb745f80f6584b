// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "api/cri/v1.h"
#include "base/result.h"
#include "kubelet/configs/security.h"
#include "kubelet/environment/environment.h"
#include "kubelet/options/options.h"
#include "kubelet/volumes/manager.h"

namespace cox::kubelet {

struct ContainerInput {
  const core::v1::Pod& pod;
  const core::v1::Container& container;
  uint32_t attempt = 0;
  std::string image_ref;  // the runtime's id of the image
  ImageUser image_user;
  const Environment& environment;
  std::vector<ContainerMount> mounts;
  // Host files that are mounted into the container; empty: not mounted.
  std::string etc_hosts;
  std::string termination_log;
  std::string target_id;        // of an ephemeral container: the container it targets
  int64_t memory_capacity = 0;  // of the node, in bytes
};

// The CRI configuration of a container. Pure. Returns BadRequest with the text of
// CreateContainerConfigError.
Result<cri::v1::ContainerConfig> MakeContainerConfig(const ContainerInput& input,
                                                     const Options& options);

}  // namespace cox::kubelet
