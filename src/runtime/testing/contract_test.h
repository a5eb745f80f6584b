// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "runtime/labels.h"
#include "runtime/runtime.h"

// The contract of every Runtime. One suite, run with each implementation:
//   INSTANTIATE_TEST_SUITE_P(Fake, RuntimeContract, testing::Values(RuntimeCase{"fake", Make}));
namespace cox {
inline void PrintTo(const Status& status, std::ostream* out) { *out << status.ToString(); }
}  // namespace cox

namespace cox::runtime {

// A runtime under test.
class RuntimeBackend {
 public:
  virtual ~RuntimeBackend() = default;
  virtual Runtime& runtime() = 0;
  // An image that can be pulled and contains /bin/sh.
  virtual std::string image() = 0;
  // The container's command is about to exit with `code`. For runtimes without processes.
  virtual void Ends(const std::string& id, int code) = 0;
  // A folder for logs.
  virtual std::string log_directory() = 0;
  // The parent cgroup of sandboxes.
  virtual std::string cgroup_parent() { return {}; }
};

struct RuntimeCase {
  std::string name;
  std::function<RuntimeBackend*()> backend;  // null: not available on this machine, skip
  std::function<std::string()> missing = [] { return std::string(); };  // the reason
};
inline void PrintTo(const RuntimeCase& c, std::ostream* out) { *out << c.name; }

class RuntimeContract : public testing::TestWithParam<RuntimeCase> {
 protected:
  using Phase = ContainerState::Phase;

  void SetUp() override {
    backend_ = GetParam().backend();
    if (backend_ == nullptr) GTEST_SKIP() << GetParam().name << ": " << GetParam().missing();
    static std::atomic<int> pods = 0;
    const std::string number = std::to_string(++pods);
    pod_ = {"uid-" + number, "default", "web-" + number};
    sandbox_.hostname = pod_.name;
    sandbox_.log_directory = backend_->log_directory();
    sandbox_.linux.emplace().cgroup_parent = backend_->cgroup_parent();
    MarkSandbox(pod_, 0, &sandbox_);
  }
  void TearDown() override {
    if (backend_ == nullptr) return;
    const auto pod = runtime().GetPod(ctx_, pod_.uid);
    if (!pod.ok()) return;
    for (const SandboxState& sandbox : pod->sandboxes) {
      EXPECT_EQ(runtime().StopSandbox(ctx_, sandbox.id), Status());
      EXPECT_EQ(runtime().RemoveSandbox(ctx_, sandbox.id), Status());
    }
  }

  Runtime& runtime() { return backend_->runtime(); }
  template <class T>
  T Must(Result<T> result) {
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *std::move(result) : T();
  }
  PodState Pod() { return Must(runtime().GetPod(ctx_, pod_.uid)); }
  cri::v1::ImageSpec Image() { return {.image = backend_->image()}; }

  std::string Run() { return Must(runtime().RunSandbox(ctx_, sandbox_, "")); }
  cri::v1::ContainerConfig Config(const std::string& script, uint32_t attempt = 0) {
    cri::v1::ContainerConfig config;
    config.image =
        cri::v1::ImageSpec{.image = Must(runtime().PullImage(ctx_, Image(), nullptr, sandbox_))};
    config.command = {"/bin/sh", "-c", script};
    config.log_path = pod_.name + "-" + std::to_string(attempt) + ".log";
    config.linux.emplace();
    MarkContainer(pod_, "main", attempt, 42, &config);
    return config;
  }
  std::string Create(const std::string& sandbox, const cri::v1::ContainerConfig& config) {
    return Must(runtime().CreateContainer(ctx_, sandbox, config, sandbox_));
  }
  // Reads events until one matches.
  ContainerEvent Await(EventStream& events, ContainerEvent::Kind kind, const std::string& id) {
    while (true) {
      const Result<ContainerEvent> event = events.Next(ctx_);
      if (!event.ok()) {
        ADD_FAILURE() << event.status().ToString();
        return {};
      }
      if (event->kind == kind && event->container_id == id) return *event;
    }
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(100));
  RuntimeBackend* backend_ = nullptr;
  PodName pod_;
  cri::v1::PodSandboxConfig sandbox_;
};

// A command that runs until SIGTERM.
inline constexpr const char* kForever = "trap 'exit 0' TERM; while true; do sleep 0.1; done";

TEST_P(RuntimeContract, ReportsVersionAndReadiness) {
  EXPECT_NE(Must(runtime().GetVersion(ctx_)).name, "");
  const RuntimeStatus status = Must(runtime().GetStatus(ctx_));
  EXPECT_TRUE(status.runtime.ready) << status.runtime.message;
  EXPECT_TRUE(status.network.ready) << status.network.message;
  EXPECT_TRUE(runtime().GetCgroupDriver(ctx_).ok());
}

TEST_P(RuntimeContract, PullsListsAndRemovesImages) {
  const std::string ref = Must(runtime().PullImage(ctx_, Image(), nullptr, sandbox_));
  EXPECT_NE(ref, "");
  const auto image = Must(runtime().GetImage(ctx_, Image()));
  ASSERT_TRUE(image.has_value());
  EXPECT_THAT(image->repo_tags, testing::Contains(backend_->image()));
  EXPECT_TRUE(Must(runtime().GetImage(ctx_, {.image = ref})).has_value());
  bool listed = false;
  for (const cri::v1::Image& known : Must(runtime().ListImages(ctx_))) {
    listed = listed || known.id == image->id;
  }
  EXPECT_TRUE(listed);
  EXPECT_EQ(runtime().RemoveImage(ctx_, Image()), Status());
  EXPECT_FALSE(Must(runtime().GetImage(ctx_, Image())).has_value());
  EXPECT_EQ(runtime().RemoveImage(ctx_, Image()), Status());
}

TEST_P(RuntimeContract, PullErrorNamesTheImage) {
  const cri::v1::ImageSpec missing{.image = backend_->image() + "-missing"};
  EXPECT_FALSE(Must(runtime().GetImage(ctx_, missing)).has_value());
  const auto pulled = runtime().PullImage(ctx_, missing, nullptr, sandbox_);
  EXPECT_THAT(pulled.status().message(), testing::HasSubstr("-missing"));
}

TEST_P(RuntimeContract, StoppedContextCancelsPull) {
  Context stopped = ctx_.Child();
  stopped.Stop(Status::Timeout("enough"));
  EXPECT_EQ(runtime().PullImage(stopped, Image(), nullptr, sandbox_).status(), stopped.status());
}

TEST_P(RuntimeContract, RunsPodThroughItsLifecycle) {
  EXPECT_TRUE(Pod().sandboxes.empty());
  const std::string sandbox = Run();
  PodState pod = Pod();
  ASSERT_EQ(pod.sandboxes.size(), 1u);
  EXPECT_EQ(pod.name, pod_.name);
  EXPECT_EQ(pod.ns, "default");
  EXPECT_EQ(pod.sandboxes[0].id, sandbox);
  EXPECT_TRUE(pod.sandboxes[0].ready);
  EXPECT_FALSE(pod.sandboxes[0].ips.empty());
  EXPECT_NE(pod.sandboxes[0].created, Clock::WallTime());

  const std::string id = Create(sandbox, Config(kForever, 3));
  pod = Pod();
  ASSERT_EQ(pod.containers.size(), 1u);
  EXPECT_EQ(pod.containers[0].id, id);
  EXPECT_EQ(pod.containers[0].name, "main");
  EXPECT_EQ(pod.containers[0].attempt, 3u);
  EXPECT_EQ(pod.containers[0].spec_hash, 42u);
  EXPECT_EQ(pod.containers[0].phase, Phase::kCreated);

  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  pod = Pod();
  EXPECT_EQ(pod.containers[0].phase, Phase::kRunning);
  EXPECT_GE(pod.containers[0].started, pod.containers[0].created);
  EXPECT_NE(pod.containers[0].image_id, "");

  EXPECT_EQ(runtime().StopContainer(ctx_, id, std::chrono::seconds(20)), Status());
  pod = Pod();
  EXPECT_EQ(pod.containers[0].phase, Phase::kExited);
  EXPECT_GE(pod.containers[0].finished, pod.containers[0].started);
  EXPECT_EQ(runtime().StopContainer(ctx_, id, std::chrono::seconds(0)), Status());

  EXPECT_EQ(runtime().RemoveContainer(ctx_, id), Status());
  EXPECT_TRUE(Pod().containers.empty());
  EXPECT_EQ(runtime().StopSandbox(ctx_, sandbox), Status());
  EXPECT_FALSE(Pod().sandboxes[0].ready);
  EXPECT_EQ(runtime().StopSandbox(ctx_, sandbox), Status());
  EXPECT_EQ(runtime().RemoveSandbox(ctx_, sandbox), Status());
  EXPECT_TRUE(Pod().sandboxes.empty());
}

TEST_P(RuntimeContract, ReportsExitCodeAndReason) {
  const auto events = Must(runtime().Events(ctx_));
  const std::string id = Create(Run(), Config("exit 7"));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  EXPECT_EQ(Await(*events, ContainerEvent::Kind::kStarted, id).pod_uid, pod_.uid);
  backend_->Ends(id, 7);
  EXPECT_EQ(Await(*events, ContainerEvent::Kind::kStopped, id).pod_uid, pod_.uid);
  const PodState pod = Pod();
  ASSERT_EQ(pod.containers.size(), 1u);
  EXPECT_EQ(pod.containers[0].phase, Phase::kExited);
  EXPECT_EQ(pod.containers[0].exit_code, 7);
  EXPECT_EQ(pod.containers[0].reason, "Error");
}

TEST_P(RuntimeContract, ListPodsSortsContainersNewestFirst) {
  const std::string sandbox = Run();
  const std::string first = Create(sandbox, Config(kForever, 0));
  ASSERT_EQ(runtime().StartContainer(ctx_, first), Status());
  ASSERT_EQ(runtime().StopContainer(ctx_, first, std::chrono::seconds(0)), Status());
  const std::string second = Create(sandbox, Config(kForever, 1));
  for (const PodState& pod : Must(runtime().ListPods(ctx_))) {
    if (pod.uid != pod_.uid) continue;
    ASSERT_EQ(pod.containers.size(), 2u);
    EXPECT_EQ(pod.containers[0].id, second);
    EXPECT_EQ(pod.containers[1].id, first);
    EXPECT_EQ(pod.Newest("main")->attempt, 1u);
    ASSERT_EQ(pod.sandboxes.size(), 1u);
    EXPECT_TRUE(pod.sandboxes[0].ready);
    return;
  }
  FAIL() << "the Pod is not in the list";
}

TEST_P(RuntimeContract, RemoveSandboxRemovesItsContainers) {
  const std::string sandbox = Run();
  const std::string id = Create(sandbox, Config(kForever));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  EXPECT_EQ(runtime().StopSandbox(ctx_, sandbox), Status());
  EXPECT_EQ(Pod().containers[0].phase, Phase::kExited);
  EXPECT_EQ(runtime().RemoveSandbox(ctx_, sandbox), Status());
  EXPECT_TRUE(Pod().containers.empty());
  EXPECT_TRUE(runtime().GetContainer(ctx_, id).status().Is(Reason::kNotFound));
}

TEST_P(RuntimeContract, ExecRunsCommandsInContainers) {
  const std::string id = Create(Run(), Config(kForever));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  const ExecResult result = Must(runtime().Exec(
      ctx_, id, {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, std::chrono::seconds(30)));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(runtime().Exec(ctx_, id, {"/bin/not-there"}, std::chrono::seconds(30)).ok());
  EXPECT_TRUE(runtime()
                  .Exec(ctx_, id, {"/bin/sh", "-c", "sleep 60"}, std::chrono::seconds(1))
                  .status()
                  .Is(Reason::kTimeout));
}

// One thread starts a command that waits for another one.
TEST_P(RuntimeContract, AsynchronousCallsDoNotWait) {
  const std::string id = Create(Run(), Config(kForever));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  std::promise<Result<ExecResult>> waited;
  std::promise<Status> stopped;
  runtime().ExecAsync(ctx_, id,
                      {"/bin/sh", "-c", "while [ ! -e /tmp/go ]; do sleep 0.1; done; exit 3"},
                      std::chrono::seconds(60),
                      [&](Result<ExecResult> result) { waited.set_value(std::move(result)); });
  EXPECT_EQ(Must(runtime().Exec(ctx_, id, {"/bin/sh", "-c", "echo > /tmp/go; exit 3"},
                                std::chrono::seconds(60)))
                .exit_code,
            3);
  EXPECT_EQ(Must(waited.get_future().get()).exit_code, 3);
  runtime().StopContainerAsync(ctx_, id, std::chrono::seconds(30),
                               [&](const Status& status) { stopped.set_value(status); });
  EXPECT_EQ(stopped.get_future().get(), Status());
  EXPECT_EQ(Pod().containers[0].phase, ContainerState::Phase::kExited);
}

TEST_P(RuntimeContract, ReturnsUrlsOfStreams) {
  const std::string sandbox = Run();
  const std::string id = Create(sandbox, Config(kForever));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  using testing::StartsWith;
  EXPECT_THAT(Must(runtime().ExecUrl(ctx_, id, {"/bin/sh"}, {.in = true, .tty = true})),
              StartsWith("http://"));
  EXPECT_THAT(Must(runtime().AttachUrl(ctx_, id, {})), StartsWith("http://"));
  EXPECT_THAT(Must(runtime().PortForwardUrl(ctx_, sandbox, {80})), StartsWith("http://"));
}

TEST_P(RuntimeContract, ReturnsStatsAndUpdatesResources) {
  const std::string sandbox = Run();
  const std::string id = Create(sandbox, Config(kForever));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  const auto stats = Must(runtime().ListContainerStats(ctx_, sandbox));
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].attributes->id, id);
  EXPECT_FALSE(Must(runtime().GetImageFilesystems(ctx_)).images.empty());
  EXPECT_EQ(runtime().UpdateResources(ctx_, id, {.cpu_shares = 512}), Status());
  EXPECT_EQ(runtime().ReopenLog(ctx_, id), Status());
}

TEST_P(RuntimeContract, OnlyRunningContainerSharesItsPidNamespace) {
  const std::string sandbox = Run();
  const cri::v1::ContainerConfig target_config = Config(kForever);
  const std::string target = Create(sandbox, target_config);
  cri::v1::ContainerConfig config = Config(kForever, 1);
  config.metadata->name = "debug";
  cri::v1::NamespaceOption& namespaces =
      config.linux->security_context.emplace().namespace_options.emplace();
  namespaces.pid = cri::v1::kNamespaceModeTarget;
  const auto create = [&](const std::string& id) {
    namespaces.target_id = id;
    return runtime().CreateContainer(ctx_, sandbox, config, sandbox_);
  };
  EXPECT_FALSE(create("no-such-container").ok());
  EXPECT_THAT(create(target).status().message(), testing::HasSubstr("is not running"));
  EXPECT_EQ(runtime().StartContainer(ctx_, target), Status());
  EXPECT_EQ(create(target).status(), Status());
  backend_->Ends(target, 0);
  EXPECT_EQ(runtime().StopContainer(ctx_, target, std::chrono::seconds(0)), Status());
  config.metadata->attempt = 2;
  EXPECT_THAT(create(target).status().message(), testing::HasSubstr("is not running"));
}

TEST_P(RuntimeContract, UnknownIdsAreNotFoundExceptOnStopAndRemove) {
  const std::string none = "0123456789abcdef";
  EXPECT_EQ(runtime().StopContainer(ctx_, none, std::chrono::seconds(0)), Status());
  EXPECT_EQ(runtime().RemoveContainer(ctx_, none), Status());
  EXPECT_EQ(runtime().StopSandbox(ctx_, none), Status());
  EXPECT_EQ(runtime().RemoveSandbox(ctx_, none), Status());
  EXPECT_TRUE(runtime().StartContainer(ctx_, none).Is(Reason::kNotFound));
  EXPECT_TRUE(runtime().GetContainer(ctx_, none).status().Is(Reason::kNotFound));
  EXPECT_TRUE(runtime()
                  .Exec(ctx_, none, {"/bin/true"}, std::chrono::seconds(1))
                  .status()
                  .Is(Reason::kNotFound));
  EXPECT_TRUE(runtime()
                  .CreateContainer(ctx_, none, Config(kForever), sandbox_)
                  .status()
                  .Is(Reason::kNotFound));
}

}  // namespace cox::runtime
