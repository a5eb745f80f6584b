// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/scalar/time.h"

// Container logs in CRI format, one line of output per line:
//   2026-01-02T03:04:05.123456789Z stdout F the text
// P (partial) instead of F (full): the line continues in the next one.
namespace cox::kubelet {

struct LogLine {
  std::string_view time;  // RFC 3339, unparsed
  bool err = false;       // stderr
  bool partial = false;
  std::string_view text;  // without the newline
};

// None if the line is malformed. `line` has no newline.
std::optional<LogLine> ParseLogLine(std::string_view line);

// The options of the pods/log subresource.
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

// Parses the query of a request ("follow=true&tailLines=5"). Errors are Invalid with the API's
// text. `now` is the base of sinceSeconds.
Result<LogOptions> ParseLogOptions(std::string_view query, const Time& now);

// Converts log lines to output: filtered, with timestamps if requested, truncated at the limit.
// Threads: as a plain value.
class LogWriter {
 public:
  explicit LogWriter(const LogOptions& options);

  // Appends the output of a line (without its newline) to `out`. False: no more output follows.
  bool Add(std::string_view line, std::string* out);

 private:
  bool TooOld(std::string_view time);

  const LogOptions options_;
  bool looking_;                     // true until the first line that is new enough
  bool at_start_[2] = {true, true};  // of a line, per stream, because streams interleave
  std::optional<int64_t> left_;      // bytes that may still be sent
};

}  // namespace cox::kubelet
