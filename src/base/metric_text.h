// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.h"

namespace cox {

// The text of one metric whose series are computed for each scrape and not kept, such as one series
// per Pod. Labels are written in the given order.
class MetricText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  // `type` is "counter" or "gauge".
  MetricText(const MetricOptions& options, std::string_view type);

  void Add(const Labels& labels, double value);
  // Returns the HELP and TYPE lines and the samples. May be called once.
  std::string Take() { return std::move(text_); }

 private:
  const std::string name_;
  std::string text_;
};

}  // namespace cox
