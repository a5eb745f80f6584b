// SPDX-License-Identifier: Apache-2.0
#include "net/accept.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace cox::net {

std::string_view MediaRange::Parameter(std::string_view name) const {
  const auto found = std::find_if(parameters.rbegin(), parameters.rend(),
                                  [name](const auto& pair) { return pair.first == name; });
  return found == parameters.rend() ? std::string_view() : found->second;
}

MediaRange ParseMediaRange(std::string_view text) {
  MediaRange range;
  const CutResult head = Cut(text, ';');
  range.type = TrimSpace(head.before);
  if (!head.found) return range;
  for (std::string_view part : Split(head.after, ';')) {
    const CutResult pair = Cut(part, '=');
    const std::string_view name = TrimSpace(pair.before), value = TrimSpace(pair.after);
    if (name == "q") {
      double quality = 1.0;
      if (std::from_chars(value.data(), value.data() + value.size(), quality).ec == std::errc()) {
        range.quality = quality;
      }
    } else if (!name.empty()) {
      range.parameters.emplace_back(name, value);
    }
  }
  return range;
}

std::vector<MediaRange> ParseAccept(std::string_view header) {
  std::vector<MediaRange> ranges;
  for (std::string_view part : Split(header, ',')) {
    if (!TrimSpace(part).empty()) ranges.push_back(ParseMediaRange(part));
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const MediaRange& a, const MediaRange& b) { return a.quality > b.quality; });
  return ranges;
}

bool AcceptsGzip(std::string_view header) {
  for (const MediaRange& range : ParseAccept(header)) {
    if (range.type == "gzip") return range.quality > 0;
  }
  return false;
}

}  // namespace cox::net
