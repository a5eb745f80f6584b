// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "base/metrics.h"

namespace cox {

// The series of a vector whose label values have few combinations, which the user numbers from 0.
// Each is looked up on first use, so that combinations that do not occur have no series; after
// that, access is one atomic load.
//
// Threads: Of may be called concurrently.
// Ownership: the registry of the vector outlives this object.
template <class Metric, size_t Size>
class SeriesCache {
 public:
  explicit SeriesCache(MetricVec<Metric>& metric) : metric_(metric) {}

  // `labels` are the values of combination `number`, in the order of declaration.
  // REQUIRES: number < Size; always the same labels for the same number.
  Metric& Of(size_t number, std::initializer_list<std::string_view> labels) {
    Metric* series = series_[number].load(std::memory_order_acquire);
    if (series == nullptr) {
      series = &metric_.With(labels);
      series_[number].store(series, std::memory_order_release);
    }
    return *series;
  }

 private:
  MetricVec<Metric>& metric_;
  std::array<std::atomic<Metric*>, Size> series_{};
};

}  // namespace cox
