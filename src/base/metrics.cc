// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/metric_text.h"
#include "base/strings.h"

namespace cox {
namespace {

constexpr std::string_view kOverflowName =
    "cardinality_enforcement_unexpected_categorizations_total";

bool IsName(std::string_view name, bool colons) {
  auto letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

std::string_view StabilityName(Stability stability) {
  switch (stability) {
    case Stability::kNone:
      return "";
    case Stability::kInternal:
      return "INTERNAL";
    case Stability::kAlpha:
      return "ALPHA";
    case Stability::kBeta:
      return "BETA";
    case Stability::kStable:
      return "STABLE";
  }
  return "";
}

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

// The shortest form, with an exponent below 1e-4 and from 1e6 on: 1.234567e+06.
void AppendNumber(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += FormatDouble(value);
    return;
  }
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e6);
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  out.append(buffer.data(), end);
}

void AppendHead(std::string& out, const MetricOptions& options, std::string_view type) {
  out += "# HELP " + options.name + ' ';
  if (options.stability != Stability::kNone) {
    out += '[';
    out += StabilityName(options.stability);
    out += "] ";
  }
  if (!options.deprecated_since.empty()) {
    out += "(Deprecated since " + options.deprecated_since + ") ";
  }
  AppendEscaped(out, options.help, /*quotes=*/false);
  out += "\n# TYPE " + options.name + ' ';
  out += type;
  out += '\n';
}

std::string ToUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    AppendUtf8(out, rune.value);
    text.remove_prefix(rune.size);
  }
  return out;
}

template <class Metric>
constexpr std::string_view kTypeName = "";
template <>
constexpr std::string_view kTypeName<Counter> = "counter";
template <>
constexpr std::string_view kTypeName<Gauge> = "gauge";
template <>
constexpr std::string_view kTypeName<Histogram> = "histogram";

}  // namespace

namespace internal {

MetricFamily::MetricFamily(MetricOptions options, std::string_view type,
                           const std::vector<std::string>& labels)
    : options_(std::move(options)), type_(type), order_(labels.size()) {
  COX_CHECK(IsName(options_.name, /*colons=*/true)) << "metric name " << Quote(options_.name);
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::sort(order_.begin(), order_.end(),
            [&](size_t a, size_t b) { return labels[a] < labels[b]; });
  for (size_t declared : order_) labels_.push_back(labels[declared]);
  for (size_t i = 0; i < labels_.size(); ++i) {
    const std::string& label = labels_[i];
    const bool reserved = label.starts_with("__") || (label == "le" && type_ == "histogram");
    COX_CHECK(IsName(label, /*colons=*/false) && !reserved)
        << "label " << Quote(label) << " of metric " << options_.name;
    COX_CHECK(i == 0 || labels_[i - 1] != label)
        << "label " << label << " twice in " << options_.name;
  }
}

LabelValues MetricFamily::Key(std::initializer_list<std::string_view> values) const {
  COX_CHECK(values.size() == labels_.size())
      << options_.name << " has " << labels_.size() << " labels, not " << values.size();
  LabelValues key;
  key.reserve(labels_.size());
  for (size_t declared : order_) key.push_back(ToUtf8(values.begin()[declared]));
  return key;
}

MetricDescription MetricFamily::Describe() const {
  return {.name = options_.name,
          .type = type_,
          .stability = options_.stability,
          .deprecated_since = options_.deprecated_since,
          .labels = labels_,
          .buckets = Buckets()};
}

void MetricFamily::RenderHead(std::string& out) const { AppendHead(out, options_, type_); }

void MetricFamily::RenderSample(std::string& out, std::string_view suffix, const LabelValues& key,
                                std::string_view bound, double value) const {
  out += options_.name;
  out += suffix;
  char separator = '{';
  auto label = [&](std::string_view name, std::string_view text) {
    out += separator;
    out += name;
    out += "=\"";
    AppendEscaped(out, text, /*quotes=*/true);
    out += '"';
    separator = ',';
  };
  for (size_t i = 0; i < labels_.size(); ++i) label(labels_[i], key[i]);
  if (!bound.empty()) label("le", bound);
  if (separator == ',') out += '}';
  out += ' ';
  AppendNumber(out, value);
  out += '\n';
}

namespace {

// Series whose values are read when they are rendered.
class CallbackFamily final : public MetricFamily {
 public:
  CallbackFamily(MetricOptions options, std::string_view type,
                 const std::vector<std::string>& labels,
                 std::function<void(const EmitSample&)> read)
      : MetricFamily(std::move(options), type, labels), read_(std::move(read)) {}

  void Render(std::string& out) const override {
    std::map<LabelValues, double> samples;
    read_([&](std::initializer_list<std::string_view> labels, double value) {
      samples.insert_or_assign(Key(labels), value);
    });
    RenderHead(out);
    for (const auto& [key, value] : samples) RenderSample(out, "", key, "", value);
  }

 private:
  const std::function<void(const EmitSample&)> read_;
};

}  // namespace
}  // namespace internal

using internal::LabelValues;

template <class Metric>
MetricVec<Metric>::MetricVec(MetricOptions options, const std::vector<std::string>& labels,
                             size_t limit, Make make, Counter* overflows)
    : MetricFamily(std::move(options), kTypeName<Metric>, labels),
      limit_(limit),
      make_(std::move(make)),
      overflows_(overflows) {}

template <class Metric>
Metric& MetricVec<Metric>::With(std::initializer_list<std::string_view> values) {
  LabelValues key = Key(values);
  {
    ReaderLock lock(mu_);
    if (const auto found = series_.find(key); found != series_.end()) return *found->second;
  }
  WriterLock lock(mu_);
  // The overflow series itself is allowed beyond the limit.
  if (overflows_ != nullptr && series_.size() >= limit_ && !series_.contains(key)) {
    overflows_->Inc();
    key = OverflowKey();
  }
  std::unique_ptr<Metric>& metric = series_[std::move(key)];
  if (metric == nullptr) metric = make_();
  return *metric;
}

template <class Metric>
void MetricVec<Metric>::Render(std::string& out) const {
  ReaderLock lock(mu_);
  RenderHead(out);
  for (const auto& [key, metric] : series_) RenderSeries(out, key, *metric);
}

template <class Metric>
std::vector<double> MetricVec<Metric>::Buckets() const {
  if constexpr (std::is_same_v<Metric, Histogram>) {
    const std::unique_ptr<Histogram> histogram = make_();
    return {histogram->bounds().begin(), histogram->bounds().end()};
  } else {
    return {};
  }
}

template <class Metric>
void MetricVec<Metric>::RenderSeries(std::string& out, const LabelValues& key,
                                     const Metric& metric) const {
  if constexpr (std::is_same_v<Metric, Histogram>) {
    double count = 0;
    for (size_t i = 0; i <= metric.bounds().size(); ++i) {
      count += static_cast<double>(metric.bucket(i));
      std::string bound;
      AppendNumber(bound, i < metric.bounds().size() ? metric.bounds()[i] : HUGE_VAL);
      RenderSample(out, "_bucket", key, bound, count);
    }
    RenderSample(out, "_sum", key, "", metric.sum());
    RenderSample(out, "_count", key, "", count);
  } else {
    RenderSample(out, "", key, "", metric.value());
  }
}

template class MetricVec<Counter>;
template class MetricVec<Gauge>;
template class MetricVec<Histogram>;

// Shared with the handles, so that neither they nor the registry must outlive the other.
struct MetricHandle::State {
  Mutex mu;
  std::map<std::string, std::unique_ptr<internal::MetricFamily>> families COX_GUARDED_BY(mu);
  // Labels in the order of declaration, for metrics with stored series.
  std::map<std::string, std::vector<std::string>> labels COX_GUARDED_BY(mu);
  Counter* overflows COX_GUARDED_BY(mu) = nullptr;
  CounterVec* registered COX_GUARDED_BY(mu) = nullptr;  // null: not counted
  // Callbacks may wait, so they are called without the lock, by one scrape at a time.
  bool scraping COX_GUARDED_BY(mu) = false;
  std::string_view rendered COX_GUARDED_BY(mu);  // the metric that is being rendered
  CondVar changed;

  void Add(const std::string& name, std::unique_ptr<internal::MetricFamily> family)
      COX_REQUIRES(mu) {
    if (registered != nullptr) {
      const MetricDescription added = family->Describe();
      registered->With({StabilityName(added.stability), added.deprecated_since}).Inc();
    }
    const bool added = families.try_emplace(name, std::move(family)).second;
    COX_CHECK(added) << "metric " << name << " is registered twice";
  }
};

MetricHandle& MetricHandle::operator=(MetricHandle&& other) noexcept {
  if (this != &other) {
    Drop();
    state_ = std::move(other.state_);
    name_ = std::move(other.name_);
  }
  return *this;
}

void MetricHandle::Drop() {
  const auto state = std::exchange(state_, nullptr);
  if (state == nullptr) return;
  MutexLock lock(state->mu);
  state->changed.Wait(state->mu,
                      [&]() COX_REQUIRES(state->mu) { return state->rendered != name_; });
  const auto family = state->families.extract(name_);
  lock.Unlock();  // before the callback's captures are destroyed
}

MetricsRegistry::MetricsRegistry(MetricStyle style)
    : style_(style), state_(std::make_shared<MetricHandle::State>()) {
  if (style == MetricStyle::kOperator) return;
  // Labels with few values, so that the registry of a component without other labels does not
  // contain the counter of overflows.
  MetricOptions options{.name = "registered_metrics_total",
                        .help =
                            "Metrics that were registered, by stability level and the version "
                            "since which they are deprecated.",
                        .stability = Stability::kBeta};
  const std::string name = options.name;
  auto family = std::make_unique<CounterVec>(
      std::move(options), std::vector<std::string>{"stability_level", "deprecated_version"},
      kDefaultSeriesLimit, std::make_unique<Counter>, nullptr);
  CounterVec* const registered = family.get();
  MutexLock lock(state_->mu);
  state_->Add(name, std::move(family));
  state_->registered = registered;
}

// Registered with the first metric that has labels, so that it is exported as 0 before the first
// overflow.
Counter& MetricsRegistry::Overflows() {
  MutexLock lock(state_->mu);
  if (state_->overflows == nullptr) {
    MetricOptions options{.name = std::string(kOverflowName),
                          .help =
                              "Times that label values beyond a metric's limit were counted in its "
                              "series of unexpected ones."};
    auto family = std::make_unique<CounterVec>(std::move(options), std::vector<std::string>(), 1,
                                               std::make_unique<Counter>, nullptr);
    state_->overflows = &family->With({});
    state_->Add(std::string(kOverflowName), std::move(family));
  }
  return *state_->overflows;
}

template <class Metric>
MetricVec<Metric>& MetricsRegistry::AddVec(MetricOptions options,
                                           const std::vector<std::string>& labels, size_t limit,
                                           typename MetricVec<Metric>::Make make) {
  const std::string name = options.name;
  // Several instances in one process (queues, caches of several clusters) share their metrics and
  // differ in label values.
  const auto known = [&]() COX_REQUIRES(state_->mu) -> MetricVec<Metric>* {
    const auto found = state_->families.find(name);
    if (found == state_->families.end()) return nullptr;
    auto* same = dynamic_cast<MetricVec<Metric>*>(found->second.get());
    COX_CHECK(same != nullptr && state_->labels[name] == labels)
        << "metric " << name << " is registered twice";
    return same;
  };
  {
    MutexLock lock(state_->mu);
    if (MetricVec<Metric>* same = known()) return *same;
  }
  Counter* overflows = labels.empty() ? nullptr : &Overflows();
  auto family = std::make_unique<MetricVec<Metric>>(std::move(options), labels, limit,
                                                    std::move(make), overflows);
  MetricVec<Metric>& vec = *family;
  MutexLock lock(state_->mu);
  if (MetricVec<Metric>* same = known()) return *same;  // another thread was faster
  state_->Add(name, std::move(family));
  state_->labels.emplace(name, labels);
  return vec;
}

Counter& MetricsRegistry::AddCounter(MetricOptions options) {
  return AddVec<Counter>(std::move(options), {}, 1, std::make_unique<Counter>).With({});
}

Gauge& MetricsRegistry::AddGauge(MetricOptions options) {
  return AddVec<Gauge>(std::move(options), {}, 1, std::make_unique<Gauge>).With({});
}

Histogram& MetricsRegistry::AddHistogram(MetricOptions options, std::vector<double> buckets) {
  return AddHistogramVec(std::move(options), std::move(buckets), {}).With({});
}

CounterVec& MetricsRegistry::AddCounterVec(MetricOptions options,
                                           const std::vector<std::string>& labels, size_t limit) {
  return AddVec<Counter>(std::move(options), labels, limit, std::make_unique<Counter>);
}

GaugeVec& MetricsRegistry::AddGaugeVec(MetricOptions options,
                                       const std::vector<std::string>& labels, size_t limit) {
  return AddVec<Gauge>(std::move(options), labels, limit, std::make_unique<Gauge>);
}

HistogramVec& MetricsRegistry::AddHistogramVec(MetricOptions options, std::vector<double> buckets,
                                               const std::vector<std::string>& labels,
                                               size_t limit) {
  return AddVec<Histogram>(std::move(options), labels, limit, [buckets = std::move(buckets)] {
    return std::make_unique<Histogram>(buckets);
  });
}

MetricHandle MetricsRegistry::AddCallback(MetricOptions options, std::string_view type,
                                          const std::vector<std::string>& labels,
                                          std::function<void(const EmitSample&)> read) {
  const std::string name = options.name;
  auto family =
      std::make_unique<internal::CallbackFamily>(std::move(options), type, labels, std::move(read));
  MutexLock lock(state_->mu);
  state_->Add(name, std::move(family));
  return {state_, name};
}

MetricHandle MetricsRegistry::AddCounterCallback(MetricOptions options,
                                                 const std::vector<std::string>& labels,
                                                 std::function<void(const EmitSample&)> read) {
  return AddCallback(std::move(options), "counter", labels, std::move(read));
}

MetricHandle MetricsRegistry::AddGaugeCallback(MetricOptions options,
                                               const std::vector<std::string>& labels,
                                               std::function<void(const EmitSample&)> read) {
  return AddCallback(std::move(options), "gauge", labels, std::move(read));
}

MetricText::MetricText(const MetricOptions& options, std::string_view type) : name_(options.name) {
  AppendHead(text_, options, type);
}

void MetricText::Add(const Labels& labels, double value) {
  text_ += name_;
  char separator = '{';
  for (const auto& [name, text] : labels) {
    text_ += separator;
    text_ += name;
    text_ += "=\"";
    AppendEscaped(text_, text, /*quotes=*/true);
    text_ += '"';
    separator = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_ += ' ';
  AppendNumber(text_, value);
  text_ += '\n';
}

std::vector<MetricDescription> MetricsRegistry::Describe() const {
  std::vector<MetricDescription> all;
  MutexLock lock(state_->mu);
  for (const auto& [name, family] : state_->families) all.push_back(family->Describe());
  return all;
}

std::string MetricsRegistry::Render() const {
  std::string out;
  MetricHandle::State& state = *state_;
  MutexLock lock(state.mu);
  state.changed.Wait(state.mu, [&]() COX_REQUIRES(state.mu) { return !state.scraping; });
  state.scraping = true;
  // A metric is not removed while it is rendered, so the iterator stays valid.
  for (auto at = state.families.begin(); at != state.families.end(); ++at) {
    const internal::MetricFamily& family = *at->second;
    state.rendered = at->first;
    lock.Unlock();
    family.Render(out);
    lock.Lock();
    state.rendered = {};
    state.changed.NotifyAll();
  }
  state.scraping = false;
  state.changed.NotifyAll();
  return out;
}

}  // namespace cox
