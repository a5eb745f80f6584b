// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/result.h"

// What a Pod may know about itself: fieldRef and resourceFieldRef, in environments and volumes.
// Pure.
namespace cox::kubelet {

// What is not (yet) in the object.
struct PodFacts {
  std::vector<std::string> pod_ips;   // empty: as the status says
  std::vector<std::string> host_ips;  // empty: as the status says
  // What limits are when a container has none.
  int64_t allocatable_milli_cpu = 0;
  int64_t allocatable_memory = 0;
  int64_t allocatable_ephemeral_storage = 0;
};

// BadRequest "unsupported fieldPath: ..." for fields that are none of those offered.
Result<std::string> FieldValue(const core::v1::Pod& pod, const std::string& path,
                               const PodFacts& facts);

// `container`: where the reference names none. BadRequest for unknown containers and resources.
Result<std::string> ResourceFieldValue(const core::v1::Pod& pod,
                                       const core::v1::ResourceFieldSelector& selector,
                                       const std::string& container, const PodFacts& facts);

}  // namespace cox::kubelet
