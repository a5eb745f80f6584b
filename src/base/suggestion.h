// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace cox {

// The name that `given` was probably meant to be: the one that differs in the fewest letters, at
// most in one of three. Empty if there is none.
std::string_view ClosestName(std::string_view given, std::span<const std::string_view> names);

}  // namespace cox
