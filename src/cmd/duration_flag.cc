// SPDX-License-Identifier: Apache-2.0
#include "cmd/duration_flag.h"

#include "object/scalar/time.h"

namespace cox::cmd {

Result<std::chrono::seconds> SecondsOf(const Flags& flags, std::string_view name) {
  const std::string text = flags.Get(name);
  const Result<Duration> duration = Duration::Parse(text);
  if (!duration.ok() || duration->nanos < 0) {
    return Status::BadRequest("--" + std::string(name) +
                              " must be a duration such as 30s or 1h, not " + text);
  }
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::nanoseconds(duration->nanos));
}

}  // namespace cox::cmd
