// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"

// Reads the metrics that components expose, and upstream's list of metrics.
namespace cox::test {

// A metric as a component exposes it or as upstream lists it.
struct MetricFacts {
  std::string source;            // "kube-scheduler"
  std::string type;              // "counter", "gauge", "histogram"; "custom" in the list
  std::string stability;         // "STABLE"
  std::set<std::string> labels;  // known if `has_labels`
  std::vector<double> buckets;
  bool has_labels = false;
  bool has_series = false;
};
// By name; several components may expose the same metric.
using ExposedMetrics = std::multimap<std::string, MetricFacts>;

// Adds the metrics of a registry. `text` is its page, which shows which of them have series.
void AddRegistry(const std::string& source, const std::vector<MetricDescription>& metrics,
                 std::string_view text, ExposedMetrics& to);
// Adds the metrics of a page that is not the page of a registry. Labels and buckets are those of
// the samples.
void AddPage(const std::string& source, std::string_view text, ExposedMetrics& to);

// Upstream's stable and beta metrics by full name; empty if the data is missing.
std::map<std::string, MetricFacts> UpstreamMetrics();

}  // namespace cox::test
