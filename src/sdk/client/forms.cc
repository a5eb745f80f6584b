// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/forms.h"

namespace cox::sdk {

Format Forms::Of(const Resource& resource) const {
  if (!prefer_protobuf_ || resource.info == nullptr || resource.info->type->wire.empty()) {
    return Format::kJson;
  }
  // Custom structs may have protobuf tables, but servers support only JSON for custom resources.
  if (Scheme::Builtin().FindKind(resource.gvk) != resource.info) return Format::kJson;
  return OnlyJson(resource) ? Format::kJson : Format::kProtobuf;
}

Format Forms::OfMetadata(const Resource& resource) const {
  return !prefer_protobuf_ || OnlyJson(resource) ? Format::kJson : Format::kProtobuf;
}

bool Forms::OnlyJson(const Resource& resource) const {
  if (!any_.load(std::memory_order_acquire)) return false;
  const ReaderLock lock(mu_);
  return only_json_.contains(resource.ToString());
}

void Forms::UseJson(const Resource& resource) {
  const WriterLock lock(mu_);
  only_json_.insert(resource.ToString());
  any_.store(true, std::memory_order_release);
}

}  // namespace cox::sdk
