// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/shared/default_class.h"

#include "apiserver/admission/stored_objects.h"

namespace cox::apiserver {

Result<std::optional<std::string>> DefaultClass(Context& ctx, const ResourceStore& classes,
                                                std::span<const std::string_view> annotations) {
  std::optional<meta::v1::ObjectMeta> best;
  COX_RETURN_IF_ERROR(VisitObjects(ctx, classes, "", [&](const Object& object) {
    const meta::v1::ObjectMeta& meta = *object.object_meta();
    bool is_default = false;
    for (std::string_view annotation : annotations) {
      const std::string* value = meta.annotations.Get(annotation);
      is_default = is_default || (value != nullptr && *value == "true");
    }
    // Objects are visited in the order of their names.
    if (is_default && (!best || best->creationTimestamp < meta.creationTimestamp)) best = meta;
    return true;
  }));
  return best ? std::optional<std::string>(best->name) : std::nullopt;
}

}  // namespace cox::apiserver
