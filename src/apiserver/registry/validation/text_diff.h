// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver {

// The unified diff of two texts: three lines of context, no file names, a newline after every line.
// Empty for equal texts.
//
// The longest runs of equal lines are matched first, as in Python's difflib, because the errors of
// rejected pod updates contain such diffs. Lines that make up more than one percent of a long text
// do not start a match: they occur too often. The cost is quadratic in the worst case and therefore
// bounded: for texts of more than some thousand lines only the common beginning and end are
// matched.
std::string UnifiedDiff(std::string_view before, std::string_view after);

}  // namespace cox::apiserver
