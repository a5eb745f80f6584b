// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/scalar/time.h"

namespace cox::apiserver {

// When a CronJob runs.
//
//   schedule   = [zone] ( fields | descriptor )
//   zone       = ("TZ=" | "CRON_TZ=") name " "
//   fields     = minute hour day-of-month month day-of-week     (blanks between them)
//   field      = range { "," range }
//   range      = ( "*" | "?" | value [ "-" value ] ) [ "/" step ]
//   value      = number | jan..dec | sun..sat                    (names in any case)
//   descriptor = @yearly @annually @monthly @weekly @daily @midnight @hourly | "@every " duration
//
// "N/step" means from N to the end of the field. Sunday is 0; 7 is refused.
// A value: each set of numbers is a bit mask, bit n for the number n.
struct CronSchedule {
  uint64_t minutes = 0;        // 0-59
  uint64_t hours = 0;          // 0-23
  uint64_t days_of_month = 0;  // 1-31
  uint64_t months = 0;         // 1-12
  uint64_t days_of_week = 0;   // 0-6
  // Written as * or ?, not as numbers: when both day fields are given, a day needs only one of
  // them.
  bool any_day_of_month = false;
  bool any_day_of_week = false;
  // Of @every; the sets are empty then. At least a second, whole seconds.
  Duration every;
  std::string time_zone;  // empty: the controller's own

  // BadRequest, in the words clients see.
  static Result<CronSchedule> Parse(std::string_view text);

  bool operator==(const CronSchedule&) const = default;
};

}  // namespace cox::apiserver
