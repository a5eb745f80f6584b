// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/requests.h"

#include <algorithm>

#include "base/strings.h"
#include "object/scalar/time.h"

namespace cox::sdk {

std::chrono::milliseconds TimeoutOf(std::string_view query, std::chrono::milliseconds most) {
  for (const std::string_view part : Split(query, '&')) {
    const CutResult cut = Cut(part, '=');
    if (cut.before != "timeout") continue;
    const Result<Duration> said = Duration::Parse(cut.after);
    if (!said.ok() || said->nanos <= 0) return most;
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::nanoseconds(said->nanos));
    return std::min(std::max(time, std::chrono::milliseconds(1)), most);
  }
  return most;
}

bool IsJson(std::string_view content_type) {
  return TrimSpace(Cut(content_type, ';').before) == "application/json";
}

}  // namespace cox::sdk
