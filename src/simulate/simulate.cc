// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include "api/core/v1.h"
#include "base/strings.h"
#include "object/selector/fields.h"
#include "simulate/loops.h"
#include "simulate/pod_life.h"

namespace cox::simulate {
Status CheckOptions(const Options& options) {
  if (options.nodes < 1 || options.nodes > kMaxNodes) {
    return Status::BadRequest("the number of nodes must be from 1 to " + std::to_string(kMaxNodes));
  }
  if (options.pods_per_node < 1 || options.pods_per_node > kMaxPodsPerNode) {
    return Status::BadRequest("the number of pods per node must be from 1 to " +
                              std::to_string(kMaxPodsPerNode));
  }
  if (options.lease_duration < std::chrono::seconds(4)) {
    return Status::BadRequest("a lease must last for 4 s or longer");
  }
  for (const std::string& amount : {options.cpu, options.memory}) {
    if (!Quantity::Parse(amount).ok()) {
      return Status::BadRequest(Quote(amount) + " is no quantity such as 32 or 256Gi");
    }
  }
  return {};
}

CacheOptions CacheFor() {
  CacheOptions options;
  CacheScope pods;
  pods.fields = fields::Selector::OneTermNotEqual("spec.nodeName", "");
  pods.transform = [](Object& object) {
    if (auto* pod = object.As<core::v1::Pod>()) KeepUsedFields(*pod);
  };
  pods.keep = CacheScope::Keep::kBytes;
  options.by_resource.emplace_back(Resource::Of<core::v1::Pod>(), std::move(pods));
  return options;
}

Status AddNodes(Manager& manager, const Options& options) {
  COX_RETURN_IF_ERROR(CheckOptions(options));
  COX_RETURN_IF_ERROR(AddNodeLoop(manager, options));
  return AddPodLoop(manager, options);
}

}  // namespace cox::simulate
