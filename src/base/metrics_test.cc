// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "base/metric_text.h"
#include "base/series_cache.h"

namespace cox {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kOverflowZero =
    "# HELP cardinality_enforcement_unexpected_categorizations_total [ALPHA] Times that label "
    "values "
    "beyond a metric's limit were counted in its series of unexpected ones.\n"
    "# TYPE cardinality_enforcement_unexpected_categorizations_total counter\n"
    "cardinality_enforcement_unexpected_categorizations_total 0\n";

TEST(MetricsRegistry, EmptyRegistryHasNoText) { EXPECT_EQ(MetricsRegistry().Render(), ""); }

TEST(MetricsRegistry, RendersTheExpositionFormat) {
  MetricsRegistry registry;
  CounterVec& requests = registry.AddCounterVec({.name = "requests_total",
                                                 .help = "Requests \"by\" verb\\code\nsecond.",
                                                 .stability = Stability::kStable},
                                                {"verb", "code", "a"});
  requests.With({"GET", "200", "z"}).Add(3);
  requests.With({"GET", "404", "a\"b\\c\nd\té"}).Inc();
  requests.With({"APPLY", "200", "z"}).Inc(1234567);
  HistogramVec& latency = registry.AddHistogramVec({.name = "latency_seconds", .help = "Latency."},
                                                   ExponentialBuckets(0.001, 10, 4), {"verb"});
  for (double value : {0.001, 0.0011, 0.5, 7.0, 100.0}) latency.With({"GET"}).Observe(value);
  registry.AddGauge({.name = "inflight", .stability = Stability::kNone}).Set(-HUGE_VAL);
  registry
      .AddHistogram({.name = "plain_seconds", .help = "P", .stability = Stability::kBeta},
                    LinearBuckets(1, 2, 3))
      .Observe(std::nan(""));
  registry.AddCounterVec({.name = "empty_total", .help = "E"}, {"x"});

  EXPECT_EQ(registry.Render(),
            std::string(kOverflowZero) +
                R"(# HELP empty_total [ALPHA] E
# TYPE empty_total counter
# HELP inflight 
# TYPE inflight gauge
inflight -Inf
# HELP latency_seconds [ALPHA] Latency.
# TYPE latency_seconds histogram
latency_seconds_bucket{verb="GET",le="0.001"} 1
latency_seconds_bucket{verb="GET",le="0.01"} 2
latency_seconds_bucket{verb="GET",le="0.1"} 2
latency_seconds_bucket{verb="GET",le="1"} 3
latency_seconds_bucket{verb="GET",le="+Inf"} 5
latency_seconds_sum{verb="GET"} 107.5021
latency_seconds_count{verb="GET"} 5
# HELP plain_seconds [BETA] P
# TYPE plain_seconds histogram
plain_seconds_bucket{le="1"} 0
plain_seconds_bucket{le="3"} 0
plain_seconds_bucket{le="5"} 0
plain_seconds_bucket{le="+Inf"} 1
plain_seconds_sum NaN
plain_seconds_count 1
# HELP requests_total [STABLE] Requests "by" verb\\code\nsecond.
# TYPE requests_total counter
)"
                "requests_total{a=\"a\\\"b\\\\c\\nd\té\",code=\"404\",verb=\"GET\"} 1\n"
                R"(requests_total{a="z",code="200",verb="APPLY"} 1.234567e+06
requests_total{a="z",code="200",verb="GET"} 3
)");
}

TEST(MetricsRegistry, NumbersAreFormattedLikeUpstream) {
  struct Case {
    double value;
    std::string want;
  };
  const std::vector<Case> cases = {
      {0, "0"},
      {1, "1"},
      {-1, "-1"},
      {0.1, "0.1"},
      {100000, "100000"},
      {999999, "999999"},
      {999999.5, "999999.5"},
      {1e6, "1e+06"},
      {1234567, "1.234567e+06"},
      {2e7, "2e+07"},
      {1e21, "1e+21"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {0.000123, "0.000123"},
      {1.5e-7, "1.5e-07"},
      {12345.678, "12345.678"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {1e100, "1e+100"},
      {HUGE_VAL, "+Inf"},
  };
  MetricsRegistry registry;
  Gauge& gauge = registry.AddGauge({.name = "g", .help = ""});
  for (const Case& c : cases) {
    gauge.Set(c.value);
    EXPECT_THAT(registry.Render(), testing::EndsWith("\ng " + c.want + "\n"));
  }
}

TEST(MetricsRegistry, StabilityPrecedesTheHelpText) {
  MetricsRegistry registry;
  registry.AddGauge({.name = "a", .help = "A.", .stability = Stability::kInternal});
  registry.AddGauge({.name = "b", .help = "B."});
  EXPECT_THAT(registry.Render(), HasSubstr("# HELP a [INTERNAL] A.\n"));
  EXPECT_THAT(registry.Render(), HasSubstr("# HELP b [ALPHA] B.\n"));
}

TEST(MetricsRegistry, DeprecationPrecedesTheHelpText) {
  MetricsRegistry registry;
  registry.AddGauge(
      {.name = "a", .help = "A.", .stability = Stability::kStable, .deprecated_since = "1.34.0"});
  EXPECT_THAT(registry.Render(), HasSubstr("# HELP a [STABLE] (Deprecated since 1.34.0) A.\n"));
}

TEST(MetricsRegistry, DescribesMetricsWithoutSeries) {
  MetricsRegistry registry;
  registry.AddHistogramVec({.name = "b_seconds", .stability = Stability::kBeta}, {1, 2},
                           {"z", "a"});
  const MetricHandle callback =
      registry.AddGaugeCallback({.name = "a"}, {"label"}, [](const EmitSample&) {});
  const std::vector<MetricDescription> all = registry.Describe();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].type, "gauge");
  EXPECT_EQ(all[0].labels, std::vector<std::string>{"label"});
  EXPECT_TRUE(all[0].buckets.empty());
  EXPECT_EQ(all[1].name, "b_seconds");
  EXPECT_EQ(all[1].type, "histogram");
  EXPECT_EQ(all[1].stability, Stability::kBeta);
  EXPECT_EQ(all[1].labels, (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(all[1].buckets, (std::vector<double>{1, 2}));
  EXPECT_EQ(all[2].name, "cardinality_enforcement_unexpected_categorizations_total");
}

TEST(MetricsRegistry, ComponentsCountTheirMetricsByStability) {
  MetricsRegistry registry(MetricStyle::kComponent);
  registry.AddCounter({.name = "a_total", .stability = Stability::kStable});
  registry.AddCounter({.name = "b_total", .stability = Stability::kStable});
  registry.AddGauge({.name = "c", .stability = Stability::kStable, .deprecated_since = "1.34.0"});
  const MetricHandle callback = registry.AddGaugeCallback({.name = "d"}, {}, [](auto&) {});
  registry.AddCounter({.name = "b_total", .stability = Stability::kStable});  // the same
  EXPECT_THAT(
      registry.Render(),
      HasSubstr("registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 1\n"
                "registered_metrics_total{deprecated_version=\"\",stability_level=\"STABLE\"} 2\n"
                "registered_metrics_total{deprecated_version=\"1.34.0\",stability_level=\"STABLE\"}"
                " 1\n"));
  EXPECT_THAT(MetricsRegistry().Render(), Not(HasSubstr("registered_metrics_total")));
}

TEST(MetricsRegistry, RegistriesAreIndependent) {
  MetricsRegistry a, b;
  a.AddCounter({.name = "same_total"}).Inc();
  b.AddCounter({.name = "same_total"}).Inc(2);
  EXPECT_THAT(a.Render(), HasSubstr("same_total 1\n"));
  EXPECT_THAT(b.Render(), HasSubstr("same_total 2\n"));
}

TEST(MetricVec, EqualLabelsReturnTheSameSeries) {
  MetricsRegistry registry;
  CounterVec& vec = registry.AddCounterVec({.name = "x_total"}, {"b", "a"});
  EXPECT_EQ(&vec.With({"1", "2"}), &vec.With({"1", "2"}));
  EXPECT_NE(&vec.With({"1", "2"}), &vec.With({"2", "1"}));
  vec.With({"bee", "ay"}).Inc();
  EXPECT_THAT(registry.Render(), HasSubstr("x_total{a=\"ay\",b=\"bee\"} 1\n"));
}

TEST(MetricText, IsTheTextOfOneMetric) {
  MetricText text({.name = "pod_bytes", .help = "Bytes.", .stability = Stability::kStable},
                  "gauge");
  text.Add({}, 1.5);
  text.Add({{"pod", "a\"b"}, {"namespace", "default"}}, 2e7);
  EXPECT_EQ(text.Take(),
            "# HELP pod_bytes [STABLE] Bytes.\n# TYPE pod_bytes gauge\npod_bytes 1.5\n"
            "pod_bytes{pod=\"a\\\"b\",namespace=\"default\"} 2e+07\n");
}

TEST(SeriesCache, LooksUpEachSeriesOnce) {
  MetricsRegistry registry;
  CounterVec& vec = registry.AddCounterVec({.name = "x_total"}, {"a", "b"});
  SeriesCache<Counter, 2> cache(vec);
  EXPECT_THAT(registry.Render(), Not(HasSubstr("x_total{")));
  cache.Of(1, {"1", "2"}).Inc();
  cache.Of(1, {"1", "2"}).Inc();
  EXPECT_EQ(&cache.Of(1, {"1", "2"}), &vec.With({"1", "2"}));
  EXPECT_THAT(registry.Render(), HasSubstr("x_total{a=\"1\",b=\"2\"} 2\n"));
}

TEST(MetricVec, SeriesBeyondTheLimitShareTheOverflowSeries) {
  MetricsRegistry registry;
  CounterVec& vec = registry.AddCounterVec({.name = "x_total", .help = "X."}, {"path", "code"}, 2);
  vec.With({"/a", "200"}).Inc();
  vec.With({"/b", "200"}).Inc();
  for (int i = 0; i < 100; ++i) vec.With({"/evil/" + std::to_string(i), "200"}).Inc();
  vec.With({"/a", "200"}).Inc();
  const std::string text = registry.Render();
  EXPECT_THAT(text, HasSubstr("# TYPE x_total counter\n"
                              "x_total{code=\"200\",path=\"/a\"} 2\n"
                              "x_total{code=\"200\",path=\"/b\"} 1\n"
                              "x_total{code=\"unexpected\",path=\"unexpected\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("cardinality_enforcement_unexpected_categorizations_total 100\n"));
}

TEST(MetricVec, LimitOfZeroKeepsOnlyTheOverflowSeries) {
  MetricsRegistry registry;
  GaugeVec& vec = registry.AddGaugeVec({.name = "x"}, {"l"}, 0);
  EXPECT_EQ(&vec.With({"a"}), &vec.With({"b"}));
}

TEST(MetricVec, InvalidUtf8InLabelValuesIsReplaced) {
  MetricsRegistry registry;
  GaugeVec& vec = registry.AddGaugeVec({.name = "x"}, {"l"});
  EXPECT_EQ(&vec.With({"\xff"}), &vec.With({"\xfe"})) << "no two series of one text";
  EXPECT_THAT(registry.Render(), HasSubstr("x{l=\"\ufffd\"} 0\n"));
}

TEST(MetricVec, ConcurrentIncrementsAndScrapes) {
  MetricsRegistry registry;
  CounterVec& vec = registry.AddCounterVec({.name = "x_total"}, {"n"}, 5);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) vec.With({std::to_string(i % 10)}).Inc();
      });
    }
    for (int i = 0; i < 20; ++i) EXPECT_THAT(registry.Render(), StartsWith("# HELP"));
  }
  double total = vec.With({"none of them"}).value();
  for (int n = 0; n < 10; ++n) {
    Counter& series = vec.With({std::to_string(n)});
    if (&series != &vec.With({"none of them"})) total += series.value();
  }
  EXPECT_EQ(total, 1500);
}

TEST(MetricCallback, IsCalledAtEachScrapeAndSorted) {
  MetricsRegistry registry;
  double depth = 3;
  MetricHandle handle = registry.AddGaugeCallback({.name = "depth", .help = "D."}, {"queue"},
                                                  [&](const EmitSample& emit) {
                                                    emit({"z"}, depth);
                                                    emit({"a"}, 1);
                                                    emit({"a"}, 2);  // the last value is used
                                                  });
  EXPECT_EQ(
      registry.Render(),
      "# HELP depth [ALPHA] D.\n# TYPE depth gauge\ndepth{queue=\"a\"} 2\ndepth{queue=\"z\"} 3\n");
  depth = 4;
  EXPECT_THAT(registry.Render(), HasSubstr("depth{queue=\"z\"} 4\n"));
}

TEST(MetricCallback, IsDeclaredWithoutSamples) {
  MetricsRegistry registry;
  MetricHandle handle =
      registry.AddCounterCallback({.name = "n_total", .help = "N."}, {}, [](const EmitSample&) {});
  EXPECT_EQ(registry.Render(), "# HELP n_total [ALPHA] N.\n# TYPE n_total counter\n");
}

TEST(MetricCallback, DestroyingTheHandleUnregisters) {
  MetricsRegistry registry;
  auto read = [](const EmitSample& emit) { emit({}, 1); };
  MetricHandle kept = registry.AddGaugeCallback({.name = "kept"}, {}, read);
  { MetricHandle dropped = registry.AddGaugeCallback({.name = "gone"}, {}, read); }
  EXPECT_THAT(registry.Render(), Not(HasSubstr("gone")));
  MetricHandle again = registry.AddGaugeCallback({.name = "gone"}, {}, read);
  EXPECT_THAT(registry.Render(), HasSubstr("gone 1\n"));
  again = std::move(kept);
  EXPECT_THAT(registry.Render(), Not(HasSubstr("gone")));
  EXPECT_THAT(registry.Render(), HasSubstr("kept 1\n"));
}

TEST(MetricCallback, IsCalledWithoutLockAndDestroyingItsHandleWaitsForItsEnd) {
  MetricsRegistry registry;
  std::atomic<bool> called = false, unregistered = false;
  std::jthread other;
  MetricHandle handle =
      registry.AddGaugeCallback({.name = "slow"}, {}, [&](const EmitSample& emit) {
        registry.AddGauge({.name = "added_meanwhile"}).Set(1);
        other = std::jthread([&] {
          called = true;
          called.notify_all();
          handle = {};
          unregistered = true;
        });
        called.wait(false);
        EXPECT_FALSE(unregistered);
        emit({}, 7);
      });
  EXPECT_THAT(registry.Render(), HasSubstr("slow 7\n"));
  other.join();
  EXPECT_TRUE(unregistered);
  EXPECT_THAT(registry.Render(), Not(HasSubstr("slow")));
}

TEST(MetricCallback, HandleMayOutliveTheRegistry) {
  std::optional<MetricsRegistry> registry(std::in_place);
  MetricHandle handle = registry->AddGaugeCallback({.name = "x"}, {}, [](const EmitSample&) {});
  registry.reset();
}

TEST(MetricsTest, AddingTheSameMetricReturnsTheExistingOne) {
  MetricsRegistry registry;
  CounterVec& first = registry.AddCounterVec({.name = "x_total"}, {"a"});
  EXPECT_EQ(&registry.AddCounterVec({.name = "x_total"}, {"a"}), &first);
  EXPECT_EQ(&registry.AddGauge({.name = "y"}), &registry.AddGauge({.name = "y"}));
}

TEST(MetricsDeathTest, InvalidUseAborts) {
  MetricsRegistry registry;
  CounterVec& vec = registry.AddCounterVec({.name = "x_total"}, {"a"});
  EXPECT_DEATH(registry.AddGauge({.name = "x_total"}), "registered twice");
  EXPECT_DEATH(registry.AddCounterVec({.name = "x_total"}, {"b"}), "registered twice");
  EXPECT_DEATH(registry.AddGauge({.name = ""}), "metric name \"\"");
  EXPECT_DEATH(registry.AddGauge({.name = "1x"}), "metric name");
  EXPECT_DEATH(registry.AddGauge({.name = "a b"}), "metric name");
  EXPECT_DEATH(registry.AddGaugeVec({.name = "y"}, {"a:b"}), "label");
  EXPECT_DEATH(registry.AddGaugeVec({.name = "y"}, {"__a"}), "label");
  EXPECT_DEATH(registry.AddGaugeVec({.name = "y"}, {"a", "a"}), "twice");
  EXPECT_DEATH(registry.AddHistogramVec({.name = "y"}, {1}, {"le"}), "label");
  EXPECT_DEATH(vec.With({}), "has 1 labels, not 0");
  EXPECT_DEATH(vec.With({"a", "b"}), "has 1 labels, not 2");
}

}  // namespace
}  // namespace cox
