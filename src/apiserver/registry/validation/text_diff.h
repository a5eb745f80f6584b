// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver {

// What changed between two texts of lines, as unified diff: three lines around each change, no file
// names, every line ended. Empty for equal texts.
//
// Longest runs of equal lines are matched first, as Python's difflib does, whose choices the
// messages of refused pod updates show. Lines that make up more than a hundredth of a long text are
// not used to start a match: they match too much.
// Cost: quadratic in the worst case, therefore bounded: of texts beyond some thousand lines only
// the equal beginning and end are found.
std::string UnifiedDiff(std::string_view before, std::string_view after);

}  // namespace cox::apiserver
