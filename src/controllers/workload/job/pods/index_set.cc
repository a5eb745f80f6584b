// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/pods/index_set.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace cox::controllers {
namespace {

// Returns -1 for an invalid number.
int32_t ToIndex(std::string_view text) {
  int32_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

}  // namespace

IndexSet IndexSet::Parse(std::string_view text, int32_t size) {
  IndexSet set(size);
  if (text.empty()) return set;
  for (std::string_view part : Split(text, ',')) {
    const CutResult range = Cut(part, '-');
    const int32_t first = ToIndex(range.before);
    const int32_t last = range.found ? ToIndex(range.after) : first;
    if (first < 0) continue;
    for (int32_t index = first; index <= last && index < size; ++index) set.Add(index);
  }
  return set;
}

std::string IndexSet::ToString() const {
  std::string out;
  const auto append = [&out](int32_t index, char separator) {
    if (!out.empty()) out += separator;
    out += std::to_string(index);
  };
  for (int32_t first = 0; first < size(); ++first) {
    if (!Has(first)) continue;
    int32_t last = first;
    while (Has(last + 1)) ++last;
    append(first, ',');
    if (last > first) append(last, last == first + 1 ? ',' : '-');
    first = last;
  }
  return out;
}

bool IndexSet::Add(int32_t index) {
  if (index < 0 || index >= size() || Has(index)) return false;
  has_[static_cast<size_t>(index)] = true;
  ++count_;
  return true;
}

int32_t IndexSet::CountIn(const IndexSet& other) const {
  int32_t both = 0;
  for (int32_t index = 0; index < std::min(size(), other.size()); ++index) {
    if (Has(index) && other.Has(index)) ++both;
  }
  return both;
}

}  // namespace cox::controllers
