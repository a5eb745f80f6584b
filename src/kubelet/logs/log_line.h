// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/scalar/time.h"

// Container logs as CRI runtimes write them, a line of output each:
//   2026-01-02T03:04:05.123456789Z stdout F the text
// P instead of F: the line goes on in the next one.
namespace cox::kubelet {

struct LogLine {
  std::string_view time;  // RFC 3339, as it stands there
  bool err = false;       // stderr
  bool partial = false;
  std::string_view text;  // without the line's end
};

// None if it is no such line. `line` is without its end.
std::optional<LogLine> ParseLogLine(std::string_view line);

// What of a log is wanted: the options of pods/log.
struct LogOptions {
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
  std::optional<Time> since;
  bool out = true;
  bool err = true;
};

// From the query of a request ("follow=true&tailLines=5"). Invalid, as the API says it. `now` is
// what sinceSeconds counts from.
Result<LogOptions> ParseLogOptions(std::string_view query, const Time& now);

// Makes of lines what is sent: filtered, with times where they are wanted, cut at the limit.
// Threads: as a plain value.
class LogWriter {
 public:
  explicit LogWriter(const LogOptions& options);

  // Appends what is to be sent of a line (without its end) to `out`. False: that was all.
  bool Add(std::string_view line, std::string* out);

 private:
  bool TooOld(std::string_view time);

  const LogOptions options_;
  bool looking_;                     // for the first line that is new enough
  bool at_start_[2] = {true, true};  // of a line: per stream, as they may take turns
  std::optional<int64_t> left_;      // bytes that may still be sent
};

}  // namespace cox::kubelet
