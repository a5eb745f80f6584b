// SPDX-License-Identifier: Apache-2.0
#include "base/metric.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace cox {

void Counter::Add(double by) {
  COX_CHECK(by >= 0) << "a counter does not shrink";
  fraction_.fetch_add(by, std::memory_order_relaxed);
}

double Counter::value() const {
  return static_cast<double>(whole_.load(std::memory_order_relaxed)) +
         fraction_.load(std::memory_order_relaxed);
}

Histogram::Histogram(std::vector<double> bounds)
    : bounds_([&] {
        // A trailing +Inf is accepted, because that bucket always exists.
        if (!bounds.empty() && std::isinf(bounds.back()) && bounds.back() > 0) bounds.pop_back();
        return std::move(bounds);
      }()),
      counts_(std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1)) {
  for (size_t i = 0; i < bounds_.size(); ++i) {
    COX_CHECK(std::isfinite(bounds_[i])) << "bucket bounds are finite";
    COX_CHECK(i == 0 || bounds_[i - 1] < bounds_[i]) << "bucket bounds rise";
  }
}

void Histogram::Observe(double value) {
  // The first bound that is not below the value; NaN goes to the +Inf bucket.
  const auto bucket =
      std::isnan(value) ? bounds_.end() : std::lower_bound(bounds_.begin(), bounds_.end(), value);
  counts_[static_cast<size_t>(bucket - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<double> LinearBuckets(double start, double width, size_t count) {
  COX_CHECK(count > 0 && width > 0);
  std::vector<double> bounds(count);
  for (double& bound : bounds) {
    bound = start;
    start += width;
  }
  return bounds;
}

std::vector<double> ExponentialBuckets(double start, double factor, size_t count) {
  COX_CHECK(count > 0 && start > 0 && factor > 1);
  std::vector<double> bounds(count);
  for (double& bound : bounds) {
    bound = start;
    start *= factor;
  }
  return bounds;
}

std::vector<double> ExponentialBucketsRange(double min, double max, size_t count) {
  COX_CHECK(min > 0 && min < max && count > 1);
  const double factor = std::pow(max / min, 1.0 / static_cast<double>(count - 1));
  std::vector<double> bounds(count);
  for (size_t i = 0; i < count; ++i) bounds[i] = min * std::pow(factor, static_cast<double>(i));
  return bounds;
}

}  // namespace cox
