// SPDX-License-Identifier: Apache-2.0
#include "object/type/gvk.h"

namespace cox {

Result<GroupVersion> GroupVersion::Parse(std::string_view api_version) {
  size_t slash = api_version.find('/');
  // "/" counts as empty, as upstream.
  if (api_version.empty() || api_version == "/") return GroupVersion{};
  if (slash == std::string_view::npos) return GroupVersion{"", std::string(api_version)};
  if (api_version.find('/', slash + 1) != std::string_view::npos) {
    return Status::BadRequest("unexpected GroupVersion string: " + std::string(api_version));
  }
  return GroupVersion{std::string(api_version.substr(0, slash)),
                      std::string(api_version.substr(slash + 1))};
}

Result<GroupVersionKind> GroupVersionKind::Parse(std::string_view api_version,
                                                 std::string_view kind) {
  COX_ASSIGN_OR_RETURN(GroupVersion gv, GroupVersion::Parse(api_version));
  return GroupVersionKind{std::move(gv.group), std::move(gv.version), std::string(kind)};
}

}  // namespace cox
