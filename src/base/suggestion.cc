// SPDX-License-Identifier: Apache-2.0
#include "base/suggestion.h"

#include <algorithm>
#include <vector>

namespace cox {
namespace {

// The Damerau-Levenshtein distance: insertions, deletions, replacements and transpositions of
// neighbours.
size_t EditDistance(std::string_view a, std::string_view b) {
  // Rows of the dynamic programming table: distances between prefixes.
  std::vector<size_t> before_last, last, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view ClosestName(std::string_view given, std::span<const std::string_view> names) {
  constexpr size_t kMaxLength = 100;
  if (given.size() > kMaxLength) return {};
  std::string_view best;
  size_t least = std::max<size_t>(1, given.size() / 3) + 1;
  for (const std::string_view name : names) {
    const size_t distance = EditDistance(given, name);
    if (distance < least && distance < name.size()) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace cox
