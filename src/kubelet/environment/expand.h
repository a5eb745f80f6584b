// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cox::kubelet {

// Puts values in the place of $(NAME). What has no value stays as written; $$ is a dollar, so that
// $$(NAME) is never a reference.
std::string Expand(std::string_view text,
                   const std::function<std::optional<std::string>(std::string_view)>& value);

}  // namespace cox::kubelet
