// SPDX-License-Identifier: Apache-2.0
#include "scheduler/config/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/config/profile.h"

namespace cox::scheduler {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

Result<Configuration> Parse(const std::string& rest) {
  return ParseConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n" +
      rest);
}
std::unique_ptr<Profile> ProfileOf(const std::string& plugins) {
  const auto parsed = Parse("profiles:\n- plugins: " + plugins);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  if (!parsed.ok()) return nullptr;
  auto made = Profile::Create(parsed->scheduler.profiles.at(0), PluginHandle{});
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *std::move(made) : nullptr;
}
int64_t Weight(const Profile& profile, std::string_view plugin) {
  for (const Profile::Scorer& scorer : profile.scorers()) {
    if (scorer.plugin->name() == plugin) return scorer.weight;
  }
  return 0;
}
bool Filters(const Profile& profile, std::string_view plugin) {
  for (const FilterPlugin* filter : profile.filters()) {
    if (filter->name() == plugin) return true;
  }
  return false;
}

TEST(Configuration, EmptyConfigurationHasDefaults) {
  const auto parsed = Parse("");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ASSERT_EQ(parsed->scheduler.profiles.size(), 1U);
  EXPECT_EQ(parsed->scheduler.profiles[0].scheduler_name, "default-scheduler");
  EXPECT_TRUE(parsed->scheduler.profiles[0].plugins.empty());
  EXPECT_TRUE(parsed->flags.empty());
}

TEST(Configuration, ReadsAllFields) {
  const auto parsed = Parse(R"(
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
parallelism: 8
clientConnection: {kubeconfig: /etc/scheduler.conf, qps: 100, burst: 200}
leaderElection: {leaderElect: false, leaseDuration: 30s}
profiles:
- schedulerName: default-scheduler
- schedulerName: packed
  percentageOfNodesToScore: 100
)");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const SchedulerOptions& options = parsed->scheduler;
  ASSERT_EQ(options.profiles.size(), 2U);
  EXPECT_EQ(options.profiles[0].percentage_of_nodes_to_score, 30);
  EXPECT_EQ(options.profiles[1].scheduler_name, "packed");
  EXPECT_EQ(options.profiles[1].percentage_of_nodes_to_score, 100);
  EXPECT_EQ(options.queue.initial_backoff, std::chrono::seconds(2));
  EXPECT_EQ(options.queue.max_backoff, std::chrono::seconds(20));
  EXPECT_THAT(parsed->flags, Contains(Pair("kubeconfig", "/etc/scheduler.conf")));
  EXPECT_THAT(parsed->flags, Contains(Pair("leader-elect", "false")));
  EXPECT_THAT(parsed->flags, Contains(Pair("leader-elect-lease-duration", "30s")));
}

TEST(Configuration, PluginsCanBeWeightedAndDisabled) {
  const auto weighed = ProfileOf(
      "{score: {enabled: [{name: NodeAffinity, weight: 50}], disabled: [{name: ImageLocality}]}}");
  ASSERT_NE(weighed, nullptr);
  EXPECT_EQ(Weight(*weighed, "NodeAffinity"), 50);
  EXPECT_EQ(Weight(*weighed, "ImageLocality"), 0);
  EXPECT_EQ(Weight(*weighed, "TaintToleration"), 3);
  EXPECT_TRUE(Filters(*weighed, "NodeAffinity"));

  const auto without = ProfileOf("{multiPoint: {disabled: [{name: TaintToleration}]}}");
  ASSERT_NE(without, nullptr);
  EXPECT_FALSE(Filters(*without, "TaintToleration"));
  EXPECT_EQ(Weight(*without, "TaintToleration"), 0);

  const auto one = ProfileOf("{filter: {disabled: [{name: '*'}], enabled: [{name: NodeName}]}}");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->filters().size(), 1U);
  EXPECT_TRUE(Filters(*one, "NodeName"));
  EXPECT_EQ(Weight(*one, "NodeAffinity"), 2);

  const auto few = ProfileOf(
      "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: "
      "DefaultBinder}]},"
      " filter: {enabled: [{name: NodeAffinity}]}}");
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(few->num_plugins(), 3U);
  EXPECT_TRUE(few->scorers().empty());
}

TEST(Configuration, ErrorsContainTheField) {
  const std::pair<const char*, const char*> kCases[] = {
      {"percentageOfNodesToScore: 101", "percentageOfNodesToScore: want a number from 0 to 100"},
      {"percentageOfNodes: 10", "percentageOfNodes: unknown field"},
      {"podMaxBackoffSeconds: 1\npodInitialBackoffSeconds: 2", "podMaxBackoffSeconds: must not"},
      {"extenders: [{urlPrefix: x}]", "extenders are not supported"},
      {"profiles: [{plugins: {filter: {enabled: [{name: Nope}]}}}]",
       "profiles[0].plugins.filter.enabled[0].name: there is no plugin \"Nope\""},
      {"profiles: [{plugins: {filters: {}}}]", "profiles[0].plugins.filters: unknown field"},
      {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {}}}]}]",
       "profiles[0].pluginConfig[0].args: arguments of plugins"},
      {"leaderElection: {leaderelect: true}", "leaderElection.leaderelect: unknown field"},
  };
  for (const auto& [text, error] : kCases) {
    const auto parsed = Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.status().message(), HasSubstr(error));
  }
  EXPECT_THAT(ParseConfiguration("kind: Pod\napiVersion: v1").status().message(),
              HasSubstr("want kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration"));
  EXPECT_FALSE(ParseConfiguration("").ok());
}

}  // namespace
}  // namespace cox::scheduler
