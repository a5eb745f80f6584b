// SPDX-License-Identifier: Apache-2.0
// A parsed time or duration can be written and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "object/scalar/time.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

// Offsets can move a time out of the years 0 to 9999, which are all that Parse accepts.
bool HasFourDigitYear(const std::string& text) { return text.find('-') == 4; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const cox::Result<cox::Time> time = cox::Time::Parse(text); time.ok()) {
    const std::string written = time->ToString();
    if (HasFourDigitYear(written)) Check(cox::Time::Parse(written).value() == time->Rfc3339Copy());
  }
  if (const cox::Result<cox::MicroTime> time = cox::MicroTime::Parse(text); time.ok()) {
    const std::string written = time->ToString();
    if (HasFourDigitYear(written)) Check(cox::MicroTime::Parse(written).value() == *time);
  }
  if (const cox::Result<cox::Duration> duration = cox::Duration::Parse(text); duration.ok()) {
    Check(cox::Duration::Parse(duration->ToString()).value() == *duration);
  }
  // Every number is a valid duration, and nearly every number of seconds a valid time.
  int64_t number = 0;
  std::memcpy(&number, data, size < sizeof number ? size : sizeof number);
  Check(cox::Duration::Parse(cox::Duration{number}.ToString()).value().nanos == number);
  Check(cox::Time::FromUnixNanos(number).UnixNanos() == number);
  const std::string written = cox::Time::FromUnix(number / 1024).ToString();
  if (HasFourDigitYear(written)) {
    Check(cox::Time::Parse(written).value().unix_seconds() == number / 1024);
  }
  return 0;
}
