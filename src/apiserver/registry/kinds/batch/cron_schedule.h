// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/scalar/time.h"

namespace cox::apiserver {

// The schedule of a CronJob.
//
//   schedule   = [zone] ( fields | descriptor )
//   zone       = ("TZ=" | "CRON_TZ=") name " "
//   fields     = minute hour day-of-month month day-of-week     (blanks between them)
//   field      = range { "," range }
//   range      = ( "*" | "?" | value [ "-" value ] ) [ "/" step ]
//   value      = number | jan..dec | sun..sat                    (names in any case)
//   descriptor = @yearly @annually @monthly @weekly @daily @midnight @hourly | "@every " duration
//
// "N/step" means from N to the end of the field. Sunday is 0; 7 is rejected.
// Each set of numbers is a bit mask with bit n for the number n.
struct CronSchedule {
  uint64_t minutes = 0;        // 0-59
  uint64_t hours = 0;          // 0-23
  uint64_t days_of_month = 0;  // 1-31
  uint64_t months = 0;         // 1-12
  uint64_t days_of_week = 0;   // 0-6
  // Written as * or ?, not as numbers. If both day fields are numbers, a day must match only one of
  // them.
  bool any_day_of_month = false;
  bool any_day_of_week = false;
  // The interval of @every, in whole seconds, at least one; the sets are empty then.
  Duration every;
  std::string time_zone;  // empty: the controller's time zone

  // Errors: BadRequest, with upstream's texts.
  static Result<CronSchedule> Parse(std::string_view text);

  bool operator==(const CronSchedule&) const = default;
};

}  // namespace cox::apiserver
