// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/expand.h"

namespace cox::kubelet {

std::string Expand(std::string_view text,
                   const std::function<std::optional<std::string>(std::string_view)>& value) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char next = text[at + 1];
    if (next == '$') {
      out += '$';
      ++at;
      continue;
    }
    const size_t end = next == '(' ? text.find(')', at + 2) : std::string_view::npos;
    if (end == std::string_view::npos) {
      // Not a reference, or an unterminated one: copied unchanged.
      out += '$';
      out += next;
      ++at;
      continue;
    }
    const std::string_view name = text.substr(at + 2, end - at - 2);
    if (std::optional<std::string> found = value(name)) {
      out += *found;
    } else {
      out += text.substr(at, end - at + 1);
    }
    at = end;
  }
  return out;
}

}  // namespace cox::kubelet
