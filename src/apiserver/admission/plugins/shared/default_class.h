// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

// The name of the class that one of `annotations` declares the default. Of several defaults the
// youngest is used, so that an administrator can create a new default before removing the old one;
// of those created at the same time, the first by name.
Result<std::optional<std::string>> DefaultClass(Context& ctx, const ResourceStore& classes,
                                                std::span<const std::string_view> annotations);

}  // namespace cox::apiserver
