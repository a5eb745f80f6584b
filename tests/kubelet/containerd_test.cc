// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include "agent.h"
#include "runtime/cri/cri_runtime.h"
#include "runtime/testing/containerd.h"

// Pods in a real containerd, with real mounts and cgroups.
namespace cox::kubelet {
namespace {

using core::v1::Pod;
using runtime::Containerd;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string Read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool IsReady(const Pod& pod) { return IsTrue(pod.status.conditions, "Ready"); }

class ContainerdPodsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Containerd::Missing(); !why.empty()) GTEST_SKIP() << why;
    auto started = testkit::TestCluster::Start();
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    cluster_ = *std::move(started);
    ctx_.emplace(cluster_->context().WithTimeout(seconds(120)));
    auto server_started = Containerd::Start(cluster_->context());
    ASSERT_TRUE(server_started.ok()) << server_started.status().ToString();
    server_ = *std::move(server_started);
    auto connected = runtime::ConnectCri(cluster_->context(), server_->endpoint());
    ASSERT_TRUE(connected.ok()) << connected.status().ToString();
    runtime_ = *std::move(connected);
    options_.node_name = "n1";
    options_.node_ips = {"192.0.2.10"};
    options_.root_dir = server_->dir() + "/kubelet";
    options_.pod_logs_dir = server_->dir() + "/logs";
    options_.cgroup_driver = "cgroupfs";
    options_.cgroup_root = server_->cgroup();
    StartAgent();
  }
  void StartAgent() {
    agent_.emplace(cluster_->clock(), cluster_->client(), *runtime_, events_, nullptr, options_);
    ASSERT_TRUE(agent_->Start(*ctx_).ok());
  }
  // A Pod whose container "c" runs `script`; `more` is JSON for the container, `spec` for the Pod.
  Pod Create(const std::string& name, const std::string& script, const std::string& more = "",
             const std::string& spec = "") {
    auto pod = json::Decode<Pod>(
        R"({"metadata":{"namespace":"default","name":")" + name +
        R"("},"spec":{"nodeName":"n1","automountServiceAccountToken":false,"containers":[{"name":"c","image":")" +
        server_->image() + R"(","imagePullPolicy":"IfNotPresent","command":["sh","-c",)" +
        json::Write(Value(script)) + "]" + more + "}]" + spec + "}}");
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
    auto created = cluster_->client().Create(*ctx_, *std::move(pod));
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created.ok() ? *std::move(created) : Pod();
  }
  Pod Await(const std::string& name, const std::function<bool(const Pod&)>& holds) {
    auto pod = testkit::WaitFor<Pod>(*ctx_, cluster_->client(), {"default", name}, holds);
    if (pod.ok()) return *std::move(pod);
    const auto is = cluster_->client().Get<Pod>(cluster_->context(), {"default", name});
    ADD_FAILURE() << name << ": " << (is.ok() ? json::Write(json::ToValue(is->status)) : "gone")
                  << "\n"
                  << ::testing::PrintToString(events_.events());
    return {};
  }
  std::string LogOf(const Pod& pod) {
    return Read(options_.pod_logs_dir + "/default_" + pod.metadata.name + "_" + pod.metadata.uid +
                "/c/0.log");
  }
  void TearDown() override {
    agent_.reset();
    runtime_.reset();
    server_.reset();
  }

  std::unique_ptr<testkit::TestCluster> cluster_;
  std::optional<Context> ctx_;
  std::unique_ptr<Containerd> server_;
  std::unique_ptr<runtime::Runtime> runtime_;
  testing::FakeEvents events_;
  Options options_;
  std::optional<Agent> agent_;
};

constexpr const char* kForever = "trap 'exit 0' TERM; while true; do sleep 0.1; done";

TEST_F(ContainerdPodsTest, PodLifecycle) {
  core::v1::ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.name = "conf";
  map.data["greeting"] = "hello";
  ASSERT_TRUE(cluster_->client().Create(*ctx_, map).ok());
  core::v1::Secret secret;
  secret.metadata.namespace_ = "default";
  secret.metadata.name = "key";
  secret.data["k"] = "sesame";
  ASSERT_TRUE(cluster_->client().Create(*ctx_, secret).ok());

  const Pod web =
      Create("web",
             "cat /conf/greeting /secret/k; echo; cat /etc/hosts; hostname; echo $IP; : > /e/x; " +
                 std::string(kForever),
             R"(,"env":[{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],
         "resources":{"limits":{"memory":"64Mi","cpu":"500m"}},
         "readinessProbe":{"exec":{"command":["sh","-c","test -e /e/x"]},"periodSeconds":1},
         "lifecycle":{"postStart":{"exec":{"command":["true"]}}},
         "volumeMounts":[{"name":"conf","mountPath":"/conf"},{"name":"e","mountPath":"/e"},
           {"name":"secret","mountPath":"/secret"}])",
             R"(,"volumes":[{"name":"conf","configMap":{"name":"conf"}},{"name":"e","emptyDir":{}},
         {"name":"secret","secret":{"secretName":"key"}}])");
  const Pod ready = Await("web", IsReady);
  EXPECT_THAT(LogOf(web), HasSubstr("stdout F hellosesame\n"));
  EXPECT_THAT(LogOf(web), HasSubstr("stdout F " + ready.status.podIP + "\tweb\n"));
  EXPECT_THAT(LogOf(web), HasSubstr("stdout F web\n"));

  // Terminated containers report their message.
  Create("job", "echo -n bye > /dev/termination-log; exit 3", "", R"(,"restartPolicy":"Never")");
  Create("logs", "echo late; exit 4", R"(,"terminationMessagePolicy":"FallbackToLogsOnError")",
         R"(,"restartPolicy":"Never")");
  Create("crash", "exit 1");
  const auto failed = [](const Pod& pod) { return pod.status.phase == "Failed"; };
  EXPECT_EQ(Await("job", failed).status.containerStatuses[0].state.terminated->message, "bye");
  EXPECT_EQ(Await("logs", failed).status.containerStatuses[0].state.terminated->message, "late\n");
  Await("crash", [](const Pod& pod) {
    const auto& statuses = pod.status.containerStatuses;
    return !statuses.empty() && statuses[0].state.waiting &&
           statuses[0].state.waiting->reason == "CrashLoopBackOff";
  });

  // A new kubelet adopts the Pods.
  const std::string id = ready.status.containerStatuses[0].containerID;
  agent_.reset();
  StartAgent();
  Create("later", "exit 0", "", R"(,"restartPolicy":"Never")");
  Await("later", [](const Pod& pod) { return pod.status.phase == "Succeeded"; });
  const Pod still = Await("web", IsReady);
  EXPECT_EQ(still.status.containerStatuses[0].containerID, id);
  EXPECT_EQ(still.status.containerStatuses[0].restartCount, 0);

  for (const char* name : {"web", "job", "logs", "crash", "later"}) {
    EXPECT_TRUE(cluster_->client().Delete<Pod>(*ctx_, {"default", name}).ok());
  }
  for (const char* name : {"web", "job", "logs", "crash", "later"}) {
    EXPECT_TRUE(testkit::WaitForDeleted<Pod>(*ctx_, cluster_->client(), {"default", name}).ok())
        << name;
  }
  EXPECT_FALSE(std::filesystem::exists(options_.root_dir + "/pods/" + web.metadata.uid));
}

TEST_F(ContainerdPodsTest, ContainerExitIsReportedSoon) {
  constexpr int kPods = 10;
  std::vector<milliseconds> took;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = "p" + std::to_string(i);
    const Pod pod = Create(name, "sleep 0.3", "", R"(,"restartPolicy":"Never")");
    Await(name, [](const Pod& is) { return is.status.phase == "Succeeded"; });
    const auto seen = cluster_->clock().Now();
    const auto state = runtime_->GetPod(*ctx_, pod.metadata.uid);
    ASSERT_TRUE(state.ok());
    took.push_back(std::chrono::duration_cast<milliseconds>(seen - state->Newest("c")->finished));
  }
  std::sort(took.begin(), took.end());
  RecordProperty("exit_to_status_ms_median", static_cast<int>(took[kPods / 2].count()));
  RecordProperty("exit_to_status_ms_max", static_cast<int>(took.back().count()));
  std::printf("exit to status: median %d ms, max %d ms\n",
              static_cast<int>(took[kPods / 2].count()), static_cast<int>(took.back().count()));
  // The kubelet must find the exits long before it lists all containers again, which it does once
  // a minute.
  // tests/e2e/figures_test.py compares the time with that of containerd.
  EXPECT_LT(took[kPods / 2], seconds(10));
}

}  // namespace
}  // namespace cox::kubelet
