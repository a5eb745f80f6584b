// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cox::kubelet {

// Expands $(NAME). References without a value stay unchanged; $$ is an escaped dollar sign, so
// $$(NAME) is not a reference.
std::string Expand(std::string_view text,
                   const std::function<std::optional<std::string>(std::string_view)>& value);

}  // namespace cox::kubelet
