// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace cox {

// The closest match for a misspelled `given`: the name with the smallest edit distance, at most one
// edit per three letters. Empty if there is none.
std::string_view ClosestName(std::string_view given, std::span<const std::string_view> names);

}  // namespace cox
