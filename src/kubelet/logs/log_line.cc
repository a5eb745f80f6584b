// SPDX-License-Identifier: Apache-2.0
#include "kubelet/logs/log_line.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "kubelet/logs/query.h"

namespace cox::kubelet {
namespace {

// A limit for sinceSeconds: no log is older, and larger values would overflow a Duration.
constexpr int64_t kCentury = int64_t{100} * 365 * 24 * 3600;

Status Wrong(std::string_view field, std::string_view value, std::string_view why) {
  return Status::Invalid("PodLogOptions \"\" is invalid: " + std::string(field) +
                         ": Invalid value: " + Quote(value) + ": " + std::string(why));
}

Result<std::optional<int64_t>> Number(const Query& query, std::string_view field, int64_t least) {
  const std::optional<std::string> text = query.Get(field);
  if (!text || text->empty()) return std::optional<int64_t>();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) {
    return Wrong(field, *text, "must be a whole number");
  }
  if (value < least) {
    return Wrong(field, *text,
                 least == 0 ? "must be greater than or equal to 0" : "must be greater than 0");
  }
  return std::optional<int64_t>(value);
}

}  // namespace

std::optional<LogLine> ParseLogLine(std::string_view line) {
  const CutResult time = Cut(line, ' ');
  const CutResult stream = Cut(time.after, ' ');
  const CutResult tag = Cut(stream.after, ' ');
  if (!time.found || !stream.found || time.before.size() < 20) return std::nullopt;
  if (stream.before != "stdout" && stream.before != "stderr") return std::nullopt;
  // There may be several tags separated by colons; the first one is F or P.
  const std::string_view first = Cut(tag.before, ':').before;
  if (first != "F" && first != "P") return std::nullopt;
  return LogLine{.time = time.before,
                 .err = stream.before == "stderr",
                 .partial = first == "P",
                 .text = tag.after};
}

Result<LogOptions> ParseLogOptions(std::string_view text, const Time& now) {
  const Query query(text);
  LogOptions options;
  options.follow = query.GetBool("follow");
  options.previous = query.GetBool("previous");
  options.timestamps = query.GetBool("timestamps");
  COX_ASSIGN_OR_RETURN(options.tail_lines, Number(query, "tailLines", 0));
  COX_ASSIGN_OR_RETURN(options.limit_bytes, Number(query, "limitBytes", 1));
  COX_ASSIGN_OR_RETURN(const auto seconds, Number(query, "sinceSeconds", 1));
  const std::optional<std::string> time = query.Get("sinceTime");
  if (seconds && time) {
    return Status::Invalid(
        "PodLogOptions \"\" is invalid: sinceTime: Forbidden: at most one of `sinceTime` or "
        "`sinceSeconds` may be specified");
  }
  if (seconds) options.since = now + Duration::Seconds(-std::min(*seconds, kCentury));
  if (time) {
    const Result<Time> parsed = Time::Parse(*time);
    if (!parsed.ok()) return Wrong("sinceTime", *time, "must be a time of RFC 3339");
    options.since = *parsed;
  }
  const std::string stream = query.Get("stream").value_or("All");
  if (stream != "" && stream != "All" && stream != "Stdout" && stream != "Stderr") {
    return Wrong("stream", stream, "must be All, Stdout or Stderr");
  }
  options.out = stream != "Stderr";
  options.err = stream != "Stdout";
  return options;
}

LogWriter::LogWriter(const LogOptions& options)
    : options_(options), looking_(options.since.has_value()), left_(options.limit_bytes) {}

bool LogWriter::TooOld(std::string_view time) {
  if (!looking_) return false;
  const Result<Time> at = Time::Parse(time);
  if (!at.ok() || *at < *options_.since) return true;
  looking_ = false;  // the following lines are newer
  return false;
}

bool LogWriter::Add(std::string_view line, std::string* out) {
  if (left_ && *left_ <= 0) return false;
  const std::optional<LogLine> parsed = ParseLogLine(line);
  // Skip malformed lines, such as those truncated by a crash.
  if (!parsed || (parsed->err ? !options_.err : !options_.out) || TooOld(parsed->time)) return true;
  const size_t before = out->size();
  bool& at_start = at_start_[parsed->err ? 1 : 0];
  if (options_.timestamps && at_start) {
    out->append(parsed->time);
    out->push_back(' ');
  }
  out->append(parsed->text);
  if (!parsed->partial) out->push_back('\n');
  at_start = !parsed->partial;
  if (!left_) return true;
  const auto added = static_cast<int64_t>(out->size() - before);
  if (added >= *left_) {
    out->resize(before + static_cast<size_t>(*left_));
    left_ = 0;
    return false;
  }
  *left_ -= added;
  return true;
}

}  // namespace cox::kubelet
