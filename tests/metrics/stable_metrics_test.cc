// SPDX-License-Identifier: Apache-2.0
// Compares the metrics of the running components with upstream's stable and beta metrics, and
// docs/metrics.md with both.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/batch/v1.h"
#include "api/core/v1.h"
#include "base/scope.h"
#include "base/strings.h"
#include "controllers/registry.h"
#include "coxswain/cache.h"
#include "kubelet/kubelet.h"
#include "net/client.h"
#include "runtime/testing/fake_runtime.h"
#include "scheduler/scheduler.h"
#include "scheduler/trim.h"
#include "storage/etcd/database_size.h"
#include "storage/testing/child.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"
#include "tests/metrics/exceptions.h"
#include "tests/metrics/exposed.h"
#include "tests/paths/paths.h"

namespace cox::test {
namespace {

using core::v1::Pod;
using testkit::TestCluster;
using testkit::WaitFor;

constexpr char kNode[] = "node-1";
constexpr char kImage[] = "example.com/image:1";

// A component in a manager.
class Component {
 public:
  Component(TestCluster& cluster, const std::string& name, std::unique_ptr<Client> client,
            CacheOptions cache = {})
      : client_(std::move(client)), stop_(cluster.context().Child()), scope_(stop_, name) {
    ManagerOptions options;
    options.name = name;
    options.cache = std::move(cache);
    options.metrics_address = "0";
    options.health_address = "0";
    options.metric_style = MetricStyle::kComponent;
    auto made = Manager::Create(cluster.context(), client_, std::move(options));
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    manager_ = *std::move(made);
  }
  ~Component() {
    stop_.Stop();
    scope_.Wait();
  }

  Manager& manager() { return *manager_; }
  void Run() {
    EXPECT_TRUE(scope_.Go("manager", [this](Context&) { (void)manager_->Run(stop_); }).ok());
  }
  std::string Page(Context& ctx, std::string_view path) {
    const std::optional<Inspection> page = manager_->Inspect(ctx, path);
    EXPECT_TRUE(page.has_value()) << path;
    return page.has_value() ? page->body : "";
  }
  void AddMetricsTo(ExposedMetrics& exposed, Context& ctx, const std::string& name) {
    AddRegistry(name, manager_->metrics().Describe(), Page(ctx, "/metrics"), exposed);
  }

 private:
  const std::shared_ptr<Client> client_;
  Context stop_;
  std::unique_ptr<Manager> manager_;
  Scope scope_;  // last: its work uses the manager
};

std::string TextOf(const Result<net::Response>& response) {
  EXPECT_TRUE(response.ok()) << response.status().ToString();
  if (!response.ok()) return "";
  EXPECT_EQ(response->status, 200);
  std::string text;
  for (const Bytes& piece : response->body) text += piece.view();
  return text;
}

// A cluster with controllers, scheduler and the kubelet of one node, whose runtime is simulated.
class RunningCluster {
 public:
  RunningCluster() {
    testkit::TestClusterOptions options;
    options.authorization = {"Node", "RBAC"};
    auto started = TestCluster::Start(std::move(options));
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    cluster_ = *std::move(started);
    ctx_.emplace(cluster_->context().WithTimeout(std::chrono::seconds(100)));
    runtime_.emplace(cluster_->clock());
    runtime_->Publish(kImage);
    std::filesystem::create_directories(folder_);
    AddControllerManager();
    AddKubeScheduler();
    AddKubeletOfNode();
  }
  ~RunningCluster() {
    kubelet_.reset();
    scheduler_.reset();
    controllers_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Causes the events that metrics count.
  void Work() {
    CreateService();
    CreateJob("work", "");
    const auto is_running = [](const Pod& pod) {
      return pod.status.phase == core::v1::kPodRunning;
    };
    Result<Pod> pod = Status::NotFound("no Pod");
    while (!pod.ok() && !ctx_->Done()) {
      const auto pods = cluster_->client().List<Pod>(*ctx_, {});
      ASSERT_TRUE(pods.ok()) << pods.status().ToString();
      if (pods->items.empty()) continue;
      pod = WaitFor<Pod>(*ctx_, cluster_->client(), KeyOf(pods->items[0]), is_running);
    }
    ASSERT_TRUE(pod.ok()) << pod.status().ToString();
    CreateUnschedulablePod();
    FinishJob();
    (void)Get("/api/v1/endpoints");
    (void)Get("/livez");
  }

  ExposedMetrics Metrics() {
    ExposedMetrics exposed;
    AddRegistry("kube-apiserver", cluster_->DescribeMetrics(), Get("/metrics"), exposed);
    AddPage("kube-apiserver", Get("/metrics/slis"), exposed);
    controllers_->AddMetricsTo(exposed, *ctx_, "kube-controller-manager");
    scheduler_->AddMetricsTo(exposed, *ctx_, "kube-scheduler");
    AddPage("kube-scheduler", scheduler_->Page(*ctx_, "/metrics/resources"), exposed);
    kubelet_->AddMetricsTo(exposed, *ctx_, "kubelet");
    AddPage("kubelet", KubeletPage("/metrics/resource"), exposed);
    // The cluster has no etcd.
    MetricsRegistry etcd;
    const MetricHandle size = storage::ExportDatabaseSizes(*ctx_, etcd, {});
    AddRegistry("kube-apiserver", etcd.Describe(), etcd.Render(), exposed);
    return exposed;
  }
  // A page of the kubelet's server, as a scraper sees it.
  std::string KubeletPage(const std::string& path) {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = kubelet_port_;
    options.tls_options.insecure = true;
    auto client = net::Client::Create(*ctx_, std::move(options));
    EXPECT_TRUE(client.ok()) << client.status().ToString();
    return client.ok() ? TextOf((*client)->Do(*ctx_, {.method = "GET", .target = path})) : "";
  }

 private:
  void AddControllerManager() {
    controllers_.emplace(*cluster_, "kube-controller-manager",
                         cluster_->ClientFor("controllers", {"system:masters"}));
    const Status added = controllers::AddControllers(controllers_->manager(), {});
    EXPECT_TRUE(added.ok()) << added.ToString();
    controllers_->Run();
  }
  void AddKubeScheduler() {
    scheduler_.emplace(*cluster_, "kube-scheduler",
                       cluster_->ClientFor("system:kube-scheduler", {}), scheduler::TrimmedCache());
    const Status added = scheduler::AddScheduler(scheduler_->manager());
    EXPECT_TRUE(added.ok()) << added.ToString();
    scheduler_->Run();
  }
  void AddKubeletOfNode() {
    kubelet_.emplace(*cluster_, "kubelet",
                     cluster_->ClientFor("system:node:" + std::string(kNode), {"system:nodes"}));
    const auto port = storage::FreePort();
    ASSERT_TRUE(port.ok()) << port.status().ToString();
    kubelet_port_ = static_cast<uint16_t>(*port);
    kubelet::KubeletOptions options;
    options.pods.node_name = kNode;
    options.pods.node_ips = {"127.0.0.1"};
    options.pods.root_dir = folder_ + "/root";
    options.pods.pod_logs_dir = folder_ + "/logs";
    options.pods.cgroups_per_qos = false;
    options.node.eviction_hard = {};
    options.server.address = "127.0.0.1";
    options.server.port = kubelet_port_;
    options.server.authentication = {.anonymous = true, .webhook = false};
    options.server.authorization.mode = "AlwaysAllow";
    options.healthz_address = "0";
    const Status added = kubelet::AddKubelet(kubelet_->manager(), std::move(options), &*runtime_);
    EXPECT_TRUE(added.ok()) << added.ToString();
    kubelet_->Run();
  }

  std::string Get(const std::string& path) {
    return TextOf(cluster_->transport()->Do(*ctx_, {.method = "GET", .target = path}));
  }
  template <class T>
  void Create(T object) {
    const auto created = cluster_->client().Create(*ctx_, std::move(object));
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }

  static core::v1::Container MakeContainer() {
    core::v1::Container container;
    container.name = "main";
    container.image = kImage;
    container.resources.requests["cpu"] = *Quantity::Parse("100m");
    container.resources.limits["memory"] = *Quantity::Parse("64Mi");
    auto& probe = container.readinessProbe.ensure();
    probe.handler.exec.ensure().command = {"true"};
    probe.periodSeconds = 1;
    return container;
  }
  void CreateService() {
    core::v1::Service service;
    service.metadata.namespace_ = "default";
    service.metadata.name = "web";
    service.spec.selector["app"] = "web";
    service.spec.trafficDistribution = "PreferSameZone";
    core::v1::ServicePort port;
    port.port = 80;
    service.spec.ports.push_back(port);
    Create(std::move(service));
  }
  // `node` is empty if the Pod is to be scheduled.
  void CreateJob(const std::string& name, const std::string& node) {
    batch::v1::Job job;
    job.metadata.namespace_ = "default";
    job.metadata.name = name;
    job.spec.completions = 1;
    job.spec.template_.metadata.labels["app"] = "web";
    core::v1::PodSpec& pod = job.spec.template_.spec;
    pod.nodeName = node;
    pod.containers.push_back(MakeContainer());
    pod.restartPolicy = "Never";
    pod.automountServiceAccountToken = false;
    Create(std::move(job));
  }
  // No node has its resource.
  void CreateUnschedulablePod() {
    Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = "large";
    pod.spec.containers.push_back(MakeContainer());
    pod.spec.containers[0].resources.requests["cpu"] = *Quantity::Parse("1000000");
    Create(std::move(pod));
    const auto rejected =
        WaitFor<Pod>(*ctx_, cluster_->client(), {"default", "large"}, [](const Pod& now) {
          return std::any_of(
              now.status.conditions.begin(), now.status.conditions.end(),
              [](const auto& condition) { return condition.reason == "Unschedulable"; });
        });
    ASSERT_TRUE(rejected.ok()) << rejected.status().ToString();
  }
  // Ends the Pod of a second Job, because the first one has to run while metrics are read.
  void FinishJob() {
    CreateJob("short", "absent");
    std::optional<Pod> found;
    while (!found.has_value() && !ctx_->Done()) {
      ListOptions which;
      which.labels = *labels::Selector::Parse("job-name=short");
      const auto pods = cluster_->client().List<Pod>(*ctx_, which);
      ASSERT_TRUE(pods.ok()) << pods.status().ToString();
      if (!pods->items.empty()) found = pods->items[0];
    }
    ASSERT_TRUE(found.has_value());
    found->status.phase = core::v1::kPodSucceeded;
    const auto stored = cluster_->client().UpdateStatus(*ctx_, *found);
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
    const auto done = WaitFor<batch::v1::Job>(
        *ctx_, cluster_->client(), {"default", "short"},
        [](const batch::v1::Job& now) { return now.status.completionTime.has_value(); });
    ASSERT_TRUE(done.ok()) << done.status().ToString();
  }

  const std::string folder_ = testing::TempDir() + "stable-metrics";
  std::unique_ptr<TestCluster> cluster_;
  std::optional<Context> ctx_;
  std::optional<runtime::FakeRuntime> runtime_;
  uint16_t kubelet_port_ = 0;
  std::optional<Component> controllers_, scheduler_, kubelet_;
};

std::string_view ReasonOfException(std::string_view name) {
  for (const MetricException& exception : kMetricExceptions) {
    if (exception.name == name) return exception.reason;
  }
  return {};
}

bool IsTestedElsewhere(std::string_view name) {
  return std::any_of(std::begin(kTestedElsewhere), std::end(kTestedElsewhere),
                     [&](const TestedElsewhere& tested) { return tested.name == name; });
}

// Whether the test causes the events that the metric counts.
bool IsCaused(std::string_view name) {
  return ReasonOfException(name).empty() && !IsTestedElsewhere(name);
}

bool HasSeries(const ExposedMetrics& exposed, const std::string& name) {
  const auto [begin, end] = exposed.equal_range(name);
  return std::any_of(begin, end, [](const auto& metric) { return metric.second.has_series; });
}

// Reads the metrics of all components until each metric has a series whose event the test has
// caused, but no longer than 30 seconds. Components count after they have written, so the first
// pages may come too early.
ExposedMetrics AwaitMetrics(RunningCluster& cluster,
                            const std::map<std::string, MetricFacts>& listed) {
  const RealClock clock;
  const Clock::SteadyTime end = clock.In(std::chrono::seconds(30));
  while (true) {
    ExposedMetrics exposed = cluster.Metrics();
    const bool complete = std::all_of(listed.begin(), listed.end(), [&](const auto& metric) {
      return !IsCaused(metric.first) || HasSeries(exposed, metric.first);
    });
    if (complete || clock.Monotonic() >= end) return exposed;
  }
}

std::string Joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool AreEqual(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::fabs(a[i] - b[i]) > 1e-9 * std::fabs(b[i])) return false;
  }
  return true;
}

void Compare(const std::string& name, const MetricFacts& ours, const MetricFacts& upstream) {
  SCOPED_TRACE(name + " of " + ours.source);
  // Upstream's custom collectors produce counters and gauges.
  if (upstream.type != "custom") {
    EXPECT_EQ(ours.type, upstream.type);
  }
  EXPECT_EQ(ours.stability, upstream.stability);
  if (ours.has_labels) {
    EXPECT_EQ(Joined(ours.labels), Joined(upstream.labels));
  }
  if (ours.type != "histogram" || !ours.has_labels) return;
  EXPECT_FALSE(ours.buckets.empty());
  EXPECT_TRUE(upstream.buckets.empty() || AreEqual(ours.buckets, upstream.buckets));
}

TEST(StableMetrics, EveryMetricIsExposedAsUpstreamOrIsAnException) {
  const std::map<std::string, MetricFacts> listed = UpstreamMetrics();
  if (listed.empty()) GTEST_SKIP() << "the list of upstream's metrics is missing";
  RunningCluster cluster;
  ASSERT_NO_FATAL_FAILURE(cluster.Work());
  const ExposedMetrics exposed = AwaitMetrics(cluster, listed);
  for (const auto& [name, upstream] : listed) {
    const auto [begin, end] = exposed.equal_range(name);
    const bool is_exception = !ReasonOfException(name).empty();
    EXPECT_NE(begin != end, is_exception)
        << name << (is_exception ? " is an exception and exposed" : " is not exposed");
    for (auto at = begin; at != end; ++at) Compare(name, at->second, upstream);
    EXPECT_TRUE(!IsCaused(name) || HasSeries(exposed, name)) << name << " has no series";
  }
}

TEST(StableMetrics, TablesContainOnlyListedMetrics) {
  const std::map<std::string, MetricFacts> listed = UpstreamMetrics();
  if (listed.empty()) GTEST_SKIP() << "the list of upstream's metrics is missing";
  for (const MetricException& exception : kMetricExceptions) {
    EXPECT_TRUE(listed.contains(std::string(exception.name))) << exception.name;
  }
  for (const TestedElsewhere& tested : kTestedElsewhere) {
    EXPECT_TRUE(listed.contains(std::string(tested.name))) << tested.name;
    EXPECT_TRUE(ReasonOfException(tested.name).empty()) << tested.name;
  }
}

TEST(KubeletMetrics, PagesAreServed) {
  RunningCluster cluster;
  ASSERT_NO_FATAL_FAILURE(cluster.Work());
  for (const char* path : {"/metrics", "/metrics/probes"}) {
    const std::string page = cluster.KubeletPage(path);
    EXPECT_NE(page.find("# TYPE prober_probe_total counter\n"), std::string::npos) << path;
  }
  const std::string page = cluster.KubeletPage("/metrics/resource");
  EXPECT_NE(page.find("\nresource_scrape_error 0\n"), std::string::npos);
  EXPECT_NE(page.find("\ncontainer_cpu_usage_seconds_total{container=\"main\","),
            std::string::npos);
}

// The rows of the table in docs/metrics.md: the state by name.
std::map<std::string, std::string> DocumentedStates() {
  std::ifstream in(std::filesystem::path(SourceDirectory()) / "docs" / "metrics.md");
  std::map<std::string, std::string> states;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string_view> cells;
    for (const std::string_view cell : Split(line, '|')) cells.push_back(cell);
    if (cells.size() != 5) continue;  // another table
    const std::string_view name = TrimSpace(cells[1]);
    states.emplace(name.substr(1, name.size() - 2), TrimSpace(cells[3]));
  }
  return states;
}

TEST(StableMetrics, DocumentationAgreesWithTheExceptions) {
  const std::map<std::string, std::string> states = DocumentedStates();
  size_t exceptions = 0;
  for (const auto& [name, state] : states) {
    const std::string_view reason = ReasonOfException(name);
    exceptions += reason.empty() ? 0 : 1;
    EXPECT_EQ(state, reason.empty() ? "exposed" : "exception: " + std::string(reason)) << name;
  }
  EXPECT_EQ(exceptions, std::size(kMetricExceptions));
  const std::map<std::string, MetricFacts> listed = UpstreamMetrics();
  if (listed.empty()) GTEST_SKIP() << "the list of upstream's metrics is missing";
  EXPECT_EQ(states.size(), listed.size());
  for (const auto& [name, facts] : listed) EXPECT_TRUE(states.contains(name)) << name;
}

}  // namespace
}  // namespace cox::test
