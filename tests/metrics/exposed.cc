// SPDX-License-Identifier: Apache-2.0
#include "tests/metrics/exposed.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/strings.h"
#include "object/codec/yaml/yaml.h"
#include "tests/paths/paths.h"

namespace cox::test {
namespace {

std::string_view NameOfStability(Stability stability) {
  switch (stability) {
    case Stability::kBeta:
      return "BETA";
    case Stability::kStable:
      return "STABLE";
    default:
      return "";
  }
}

// The name before the labels or the value.
std::string_view NameOfSample(std::string_view line) {
  return line.substr(0, line.find_first_of("{ "));
}

// Label names and values. Values in the tests contain no quotes.
std::vector<std::pair<std::string, std::string>> LabelsOfSample(std::string_view line) {
  std::vector<std::pair<std::string, std::string>> labels;
  size_t at = line.find('{');
  while (at != std::string_view::npos && line[at] != '}') {
    const size_t equals = line.find("=\"", ++at);
    const size_t end = line.find('"', equals + 2);
    labels.emplace_back(line.substr(at, equals - at), line.substr(equals + 2, end - equals - 2));
    at = end + 1;
  }
  return labels;
}

// The family of a sample: a histogram's samples have suffixes.
MetricFacts* FamilyOf(std::string_view sample, std::map<std::string, MetricFacts>& families) {
  if (const auto found = families.find(std::string(sample)); found != families.end()) {
    return &found->second;
  }
  for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
    if (!sample.ends_with(suffix)) continue;
    const auto found = families.find(std::string(sample.substr(0, sample.size() - suffix.size())));
    if (found != families.end()) return &found->second;
  }
  return nullptr;
}

void ReadSample(std::string_view line, MetricFacts& family) {
  family.has_series = family.has_labels = true;
  for (const auto& [name, value] : LabelsOfSample(line)) {
    if (name != "le") {
      family.labels.insert(name);
      continue;
    }
    const double bound = std::strtod(value.c_str(), nullptr);
    const bool is_new =
        std::find(family.buckets.begin(), family.buckets.end(), bound) == family.buckets.end();
    if (is_new && value != "+Inf") family.buckets.push_back(bound);
  }
}

std::map<std::string, MetricFacts> ParsePage(std::string_view text) {
  constexpr std::string_view kHelp = "# HELP ";
  constexpr std::string_view kType = "# TYPE ";
  std::map<std::string, MetricFacts> families;
  std::string stability;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with(kHelp)) {
      const size_t open = line.find(" [");
      const size_t close = line.find(']');
      stability = open == std::string_view::npos || close == std::string_view::npos
                      ? ""
                      : std::string(line.substr(open + 2, close - open - 2));
    } else if (line.starts_with(kType)) {
      const std::string_view rest = line.substr(kType.size());
      const size_t space = rest.find(' ');
      MetricFacts& family = families[std::string(rest.substr(0, space))];
      family.type = rest.substr(space + 1);
      family.stability = stability;
    } else if (!line.empty()) {
      if (MetricFacts* family = FamilyOf(NameOfSample(line), families)) ReadSample(line, *family);
    }
  }
  return families;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string Member(const Value& entry, std::string_view name) {
  const Value* found = entry.Find(name);
  return found == nullptr ? std::string() : std::string(found->as_string());
}

}  // namespace

void AddRegistry(const std::string& source, const std::vector<MetricDescription>& metrics,
                 std::string_view text, ExposedMetrics& to) {
  const std::map<std::string, MetricFacts> page = ParsePage(text);
  for (const MetricDescription& metric : metrics) {
    const auto on_page = page.find(metric.name);
    if (on_page == page.end()) continue;
    to.emplace(metric.name, MetricFacts{.source = source,
                                        .type = std::string(metric.type),
                                        .stability = std::string(NameOfStability(metric.stability)),
                                        .labels = {metric.labels.begin(), metric.labels.end()},
                                        .buckets = metric.buckets,
                                        .has_labels = true,
                                        .has_series = on_page->second.has_series});
  }
}

void AddPage(const std::string& source, std::string_view text, ExposedMetrics& to) {
  for (auto& [name, facts] : ParsePage(text)) {
    facts.source = source;
    to.emplace(name, std::move(facts));
  }
}

std::map<std::string, MetricFacts> UpstreamMetrics() {
  const std::filesystem::path path =
      std::filesystem::path(SharedDirectory()) / "data" / "metrics" / "stable-metrics-list.yaml";
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const Result<Value> list = yaml::Parse(text.str());
  std::map<std::string, MetricFacts> metrics;
  if (!list.ok() || !list->is_array()) return metrics;
  for (const Value& entry : list->as_array()) {
    std::string name;
    for (const std::string_view part : {"namespace", "subsystem", "name"}) {
      const std::string word = Member(entry, part);
      if (!word.empty()) name += (name.empty() ? "" : "_") + word;
    }
    MetricFacts facts{.source = "upstream",
                      .type = Lower(Member(entry, "type")),
                      .stability = Member(entry, "stabilityLevel"),
                      .has_labels = true};
    if (const Value* labels = entry.Find("labels")) {
      for (const Value& label : labels->as_array())
        facts.labels.insert(std::string(label.as_string()));
    }
    if (const Value* buckets = entry.Find("buckets")) {
      for (const Value& bound : buckets->as_array()) facts.buckets.push_back(bound.as_number());
    }
    metrics.emplace(std::move(name), std::move(facts));
  }
  return metrics;
}

}  // namespace cox::test
