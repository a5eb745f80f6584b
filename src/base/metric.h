// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cox {

// Each is one time series, owned by its MetricsRegistry: keep the reference and use it on the hot
// path.
// Threads: all methods may be called concurrently; none takes a lock.

// A counter. Integer increments are one atomic addition.
class Counter {
 public:
  void Inc(uint64_t by = 1) { whole_.fetch_add(by, std::memory_order_relaxed); }
  // REQUIRES: by >= 0
  void Add(double by);
  double value() const;

 private:
  std::atomic<uint64_t> whole_ = 0;
  std::atomic<double> fraction_ = 0;
};

// A value that goes up and down.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  void Inc() { Add(1); }
  void Dec() { Add(-1); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// A distribution over buckets. A reader may see the sum a moment before or after the buckets; the
// count is always consistent with the buckets.
class Histogram {
 public:
  // Upper bounds, inclusive, strictly increasing; the +Inf bucket is added. REQUIRES: no NaN.
  explicit Histogram(std::vector<double> bounds);

  // NaN counts in the last bucket.
  void Observe(double value);

  std::span<const double> bounds() const { return bounds_; }
  // The count of one bucket, not cumulative; index bounds().size() is the +Inf bucket.
  uint64_t bucket(size_t index) const { return counts_[index].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  const std::unique_ptr<std::atomic<uint64_t>[]> counts_;  // one more than bounds_
  std::atomic<double> sum_ = 0;
};

// `count` bounds from `start`, with steps of `width`, or with a ratio of `factor`.
std::vector<double> LinearBuckets(double start, double width, size_t count);
std::vector<double> ExponentialBuckets(double start, double factor, size_t count);
// `count` bounds from `min` to `max` with a constant ratio. REQUIRES: 0 < min < max, count > 1
std::vector<double> ExponentialBucketsRange(double min, double max, size_t count);

}  // namespace cox
