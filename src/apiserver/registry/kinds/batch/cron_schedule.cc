// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/batch/cron_schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/registry/kinds/batch/time_zones.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct Bounds {
  uint64_t min, max;
  std::span<const std::string_view> names = {};  // of min and the following numbers
};

constexpr std::string_view kMonthNames[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                            "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kDayNames[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

constexpr Bounds kMinute = {.min = 0, .max = 59};
constexpr Bounds kHour = {.min = 0, .max = 23};
constexpr Bounds kDayOfMonth = {.min = 1, .max = 31};
constexpr Bounds kMonth = {.min = 1, .max = 12, .names = kMonthNames};
constexpr Bounds kDayOfWeek = {.min = 0, .max = 6, .names = kDayNames};

Status Bad(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }

std::vector<std::string_view> Fields(std::string_view text) {
  std::vector<std::string_view> fields;
  size_t at = 0;
  while (true) {
    at = text.find_first_not_of(" \t\n\v\f\r", at);
    if (at == std::string_view::npos) return fields;
    size_t end = std::min(text.find_first_of(" \t\n\v\f\r", at), text.size());
    fields.push_back(text.substr(at, end - at));
    at = end;
  }
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::string_view part : Split(text, separator)) parts.push_back(part);
  return parts;
}

Result<uint64_t> ParseNumber(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  int64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool whole = !digits.empty() && digits[0] != '-' && end == digits.data() + digits.size();
  if (error == std::errc() && whole) return static_cast<uint64_t>(number);
  bool huge = error == std::errc::result_out_of_range && whole;
  return Bad("failed to parse int from " + std::string(text) + ": strconv.Atoi: parsing " +
             Quote(text) + (huge ? ": value out of range" : ": invalid syntax"));
}

Result<uint64_t> ParseNumberOrName(std::string_view text, const Bounds& bounds) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (size_t i = 0; i < bounds.names.size(); ++i) {
    if (bounds.names[i] == lower) return bounds.min + i;
  }
  return ParseNumber(text);
}

struct Range {
  uint64_t start = 0, end = 0, step = 1;
  bool any = false;  // written as * or ?
};

Result<Range> ParseRange(std::string_view text, const Bounds& bounds) {
  Range range;
  std::vector<std::string_view> range_and_step = SplitAt(text, '/');
  std::vector<std::string_view> ends = SplitAt(range_and_step[0], '-');
  bool single = ends.size() == 1;
  if (ends[0] == "*" || ends[0] == "?") {
    range = {.start = bounds.min, .end = bounds.max, .any = true};
  } else {
    COX_ASSIGN_OR_RETURN(range.start, ParseNumberOrName(ends[0], bounds));
    range.end = range.start;
    if (ends.size() > 2) return Bad("too many hyphens: " + std::string(text));
    if (!single) {
      COX_ASSIGN_OR_RETURN(range.end, ParseNumberOrName(ends[1], bounds));
    }
  }
  if (range_and_step.size() > 2) return Bad("too many slashes: " + std::string(text));
  if (range_and_step.size() == 2) {
    COX_ASSIGN_OR_RETURN(range.step, ParseNumber(range_and_step[1]));
    if (single) range.end = bounds.max;
    if (range.step > 1) range.any = false;
  }
  auto number = [](uint64_t n) { return "(" + std::to_string(n) + ")"; };
  if (range.start < bounds.min) {
    return Bad("beginning of range " + number(range.start) + " below minimum " +
               number(bounds.min) + ": " + std::string(text));
  }
  if (range.end > bounds.max) {
    return Bad("end of range " + number(range.end) + " above maximum " + number(bounds.max) + ": " +
               std::string(text));
  }
  if (range.start > range.end) {
    return Bad("beginning of range " + number(range.start) + " beyond end of range " +
               number(range.end) + ": " + std::string(text));
  }
  if (range.step == 0) {
    return Bad("step of range should be a positive number: " + std::string(text));
  }
  return range;
}

Status ParseField(std::string_view text, const Bounds& bounds, uint64_t* set, bool* any) {
  for (std::string_view part : Split(text, ',')) {
    if (part.empty()) continue;
    COX_ASSIGN_OR_RETURN(Range range, ParseRange(part, bounds));
    for (uint64_t n = range.start; n <= range.end; n += range.step) {
      *set |= uint64_t{1} << n;
      if (range.step > range.end - n) break;  // also prevents overflow for huge steps
    }
    if (any != nullptr && range.any) *any = true;
  }
  return {};
}

Result<CronSchedule> ParseFields(std::string_view text) {
  std::vector<std::string_view> fields = Fields(text);
  if (fields.size() != 5) {
    return Bad("expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" +
               Join(fields, " ") + "]");
  }
  CronSchedule schedule;
  COX_RETURN_IF_ERROR(ParseField(fields[0], kMinute, &schedule.minutes, nullptr));
  COX_RETURN_IF_ERROR(ParseField(fields[1], kHour, &schedule.hours, nullptr));
  COX_RETURN_IF_ERROR(
      ParseField(fields[2], kDayOfMonth, &schedule.days_of_month, &schedule.any_day_of_month));
  COX_RETURN_IF_ERROR(ParseField(fields[3], kMonth, &schedule.months, nullptr));
  COX_RETURN_IF_ERROR(
      ParseField(fields[4], kDayOfWeek, &schedule.days_of_week, &schedule.any_day_of_week));
  return schedule;
}

Result<CronSchedule> ParseDescriptor(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kDescriptors[] = {
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
      {"@hourly", "0 * * * *"},
  };
  for (const auto& [name, fields] : kDescriptors) {
    if (text == name) return ParseFields(fields);
  }
  static constexpr std::string_view kEvery = "@every ";
  if (!text.starts_with(kEvery)) return Bad("unrecognized descriptor: " + std::string(text));
  Result<Duration> every = Duration::Parse(text.substr(kEvery.size()));
  if (!every.ok()) {
    return Bad("failed to parse duration " + std::string(text) + ": " + every.status().message());
  }
  constexpr int64_t kSecond = 1'000'000'000;
  CronSchedule schedule;
  schedule.every.nanos = every->nanos < kSecond ? kSecond : every->nanos / kSecond * kSecond;
  return schedule;
}

}  // namespace

Result<CronSchedule> CronSchedule::Parse(std::string_view text) {
  if (text.empty()) return Bad("empty spec string");
  std::string zone;
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    CutResult cut = Cut(text, ' ');
    zone = Cut(cut.before, '=').after;
    // An empty name means UTC.
    if (!zone.empty() && !IsTimeZone(zone)) {
      return Bad("provided bad location " + zone + ": unknown time zone " + zone);
    }
    text = TrimSpace(cut.after);
  }
  Result<CronSchedule> schedule = text.starts_with("@") ? ParseDescriptor(text) : ParseFields(text);
  if (schedule.ok()) schedule->time_zone = std::move(zone);
  return schedule;
}

}  // namespace cox::apiserver
