// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric.h"
#include "base/mutex.h"

namespace cox {

// The stability level of a metric, which precedes its help text.
enum class Stability : uint8_t { kNone, kInternal, kAlpha, kBeta, kStable };

struct MetricOptions {
  std::string name;  // [a-zA-Z_:][a-zA-Z0-9_:]*; counters end in _total, units are base units
  std::string help;
  Stability stability = Stability::kAlpha;
  std::string deprecated_since = {};  // version, precedes the help text; empty: not deprecated
};

// A registered metric without its values.
struct MetricDescription {
  std::string name;
  std::string_view type;  // "counter", "gauge" or "histogram"
  Stability stability = Stability::kNone;
  std::string deprecated_since;
  std::vector<std::string> labels;  // sorted
  std::vector<double> buckets;      // without +Inf; empty if it is not a histogram
};

// More series than this in one vector indicate a bug or an attack: label values taken from
// requests.
inline constexpr size_t kDefaultSeriesLimit = 1000;
// The value of every label of the series that collects everything beyond the limit.
inline constexpr std::string_view kOverflowLabel = "unexpected";

namespace internal {

using LabelValues = std::vector<std::string>;

// One metric name with its HELP and TYPE lines and series.
class MetricFamily {
 public:
  MetricFamily(MetricOptions options, std::string_view type,
               const std::vector<std::string>& labels);
  virtual ~MetricFamily() = default;
  // Appends the family's text; HELP and TYPE also if it has no series, so that every metric of a
  // component can be found before its first event.
  virtual void Render(std::string& out) const = 0;
  MetricDescription Describe() const;

 protected:
  // The values in the order of the sorted label names, as series are stored and written. Bytes that
  // are not UTF-8 become U+FFFD. Aborts if the number of values is wrong.
  LabelValues Key(std::initializer_list<std::string_view> values) const;
  LabelValues OverflowKey() const {
    return LabelValues(labels_.size(), std::string(kOverflowLabel));
  }
  virtual std::vector<double> Buckets() const { return {}; }
  void RenderHead(std::string& out) const;
  void RenderSample(std::string& out, std::string_view suffix, const LabelValues& key,
                    std::string_view bound, double value) const;

  const MetricOptions options_;
  const std::string_view type_;
  std::vector<std::string> labels_;  // sorted
  std::vector<size_t> order_;        // labels_[i] was declared at position order_[i]
};

}  // namespace internal

// The series of one metric, by label values. Resolve a series once and keep it:
//   Counter& gets = requests.With({"GET", "200"});       // in the order the labels were declared
//   gets.Inc();
//
// Guarantees: series live as long as the registry. There are at most `limit` of them; further label
//   values share one series with the label values "unexpected", and each such call increments the
//   registry's cardinality_enforcement_unexpected_categorizations_total.
// Threads: all methods may be called concurrently.
template <class Metric>
class MetricVec final : public internal::MetricFamily {
 public:
  using Make = std::function<std::unique_ptr<Metric>()>;
  MetricVec(MetricOptions options, const std::vector<std::string>& labels, size_t limit, Make make,
            Counter* overflows);

  // REQUIRES: as many values as labels.
  Metric& With(std::initializer_list<std::string_view> values);
  void Render(std::string& out) const override;

 private:
  std::vector<double> Buckets() const override;
  void RenderSeries(std::string& out, const internal::LabelValues& key, const Metric& metric) const;

  const size_t limit_;
  const Make make_;
  Counter* const overflows_;  // null for a metric without labels
  mutable SharedMutex mu_;
  std::map<internal::LabelValues, std::unique_ptr<Metric>> series_ COX_GUARDED_BY(mu_);
};

using CounterVec = MetricVec<Counter>;
using GaugeVec = MetricVec<Gauge>;
using HistogramVec = MetricVec<Histogram>;

// Receives a callback's samples: label values in the order of declaration, and the value.
using EmitSample =
    std::function<void(std::initializer_list<std::string_view> labels, double value)>;

// A registered callback; destruction unregisters the metric and waits for a scrape that is calling
// it. May outlive the registry. Do not destroy it while holding a lock that the callback acquires.
class [[nodiscard]] MetricHandle {
 public:
  MetricHandle() = default;
  MetricHandle(MetricHandle&&) noexcept = default;
  MetricHandle& operator=(MetricHandle&& other) noexcept;
  ~MetricHandle() { Drop(); }

 private:
  friend class MetricsRegistry;
  void Drop();

  struct State;
  MetricHandle(std::shared_ptr<State> state, std::string name)
      : state_(std::move(state)), name_(std::move(name)) {}

  std::shared_ptr<State> state_;
  std::string name_;
};

// The conventions that the metrics of shared parts follow, for example those of work queues.
enum class MetricStyle : uint8_t {
  kOperator,   // the labels of controller-runtime, no stability levels
  kComponent,  // the labels, buckets and stability levels of Kubernetes' components
};

// The metrics of one component, rendered in the Prometheus exposition format 0.0.4.
//
// Guarantees: the text is sorted by metric name, then label values: equal states give equal text.
// Threads: all methods may be called concurrently. Scrapes are serialized.
// Errors: a duplicate or malformed name, or a wrong number of label values, is a bug and aborts the
//   process.
class MetricsRegistry {
 public:
  // The Content-Type of Render().
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // A component's registry counts its metrics in registered_metrics_total.
  explicit MetricsRegistry(MetricStyle style = MetricStyle::kOperator);
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // The registry owns all of them.
  Counter& AddCounter(MetricOptions options);
  Gauge& AddGauge(MetricOptions options);
  Histogram& AddHistogram(MetricOptions options, std::vector<double> buckets);
  CounterVec& AddCounterVec(MetricOptions options, const std::vector<std::string>& labels,
                            size_t limit = kDefaultSeriesLimit);
  GaugeVec& AddGaugeVec(MetricOptions options, const std::vector<std::string>& labels,
                        size_t limit = kDefaultSeriesLimit);
  HistogramVec& AddHistogramVec(MetricOptions options, std::vector<double> buckets,
                                const std::vector<std::string>& labels,
                                size_t limit = kDefaultSeriesLimit);

  // Metrics whose values are read when scraped. Render() calls `read`, one call at a time and
  // without holding a lock; `read` must not call Render. If several samples have equal labels, the
  // last one is used.
  MetricHandle AddCounterCallback(MetricOptions options, const std::vector<std::string>& labels,
                                  std::function<void(const EmitSample&)> read);
  MetricHandle AddGaugeCallback(MetricOptions options, const std::vector<std::string>& labels,
                                std::function<void(const EmitSample&)> read);

  std::string Render() const;
  // All registered metrics, by name.
  std::vector<MetricDescription> Describe() const;
  MetricStyle style() const { return style_; }

 private:
  template <class Metric>
  MetricVec<Metric>& AddVec(MetricOptions options, const std::vector<std::string>& labels,
                            size_t limit, typename MetricVec<Metric>::Make make);
  MetricHandle AddCallback(MetricOptions options, std::string_view type,
                           const std::vector<std::string>& labels,
                           std::function<void(const EmitSample&)> read);
  Counter& Overflows();

  const MetricStyle style_;
  const std::shared_ptr<MetricHandle::State> state_;
};

}  // namespace cox
