// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/result.h"

// The downward API: values of fieldRef and resourceFieldRef in environments and volumes. Pure.
namespace cox::kubelet {

// Values that are not (yet) in the Pod object.
struct PodFacts {
  std::vector<std::string> pod_ips;   // empty: from the Pod's status
  std::vector<std::string> host_ips;  // empty: from the Pod's status
  // Defaults for containers without limits.
  int64_t allocatable_milli_cpu = 0;
  int64_t allocatable_memory = 0;
  int64_t allocatable_ephemeral_storage = 0;
};

// BadRequest "unsupported fieldPath: ..." for unsupported fields.
Result<std::string> FieldValue(const core::v1::Pod& pod, const std::string& path,
                               const PodFacts& facts);

// `container`: the default if the selector has no containerName. BadRequest for unknown containers
// and resources.
Result<std::string> ResourceFieldValue(const core::v1::Pod& pod,
                                       const core::v1::ResourceFieldSelector& selector,
                                       const std::string& container, const PodFacts& facts);

}  // namespace cox::kubelet
