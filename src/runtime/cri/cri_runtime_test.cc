// SPDX-License-Identifier: Apache-2.0
// The runtime contract with a real containerd, and its behavior after a crash of containerd.
#include "runtime/cri/cri_runtime.h"

#include <fstream>
#include <iterator>

#include "runtime/testing/containerd.h"
#include "runtime/testing/contract_test.h"

namespace cox::runtime {
namespace {

class CriBackend final : public RuntimeBackend {
 public:
  CriBackend(std::unique_ptr<Containerd> server, std::unique_ptr<Runtime> runtime)
      : server_(std::move(server)), runtime_(std::move(runtime)) {}

  Runtime& runtime() override { return *runtime_; }
  std::string image() override { return server_->image(); }
  void Ends(const std::string& /*id*/, int /*code*/) override {}
  std::string log_directory() override { return server_->dir() + "/logs"; }
  std::string cgroup_parent() override { return server_->cgroup(); }
  Containerd& server() { return *server_; }

 private:
  const std::unique_ptr<Containerd> server_;
  const std::unique_ptr<Runtime> runtime_;
};

// One containerd for all tests, started by the first and stopped after the last.
class Shared final : public testing::Environment {
 public:
  CriBackend* Get() {
    if (backend_ != nullptr || tried_) return backend_.get();
    tried_ = true;
    if (!Containerd::Missing().empty()) return nullptr;
    auto server = Containerd::Start(ctx_);
    if (!server.ok()) {
      ADD_FAILURE() << server.status().ToString();
      return nullptr;
    }
    auto runtime = ConnectCri(ctx_, (*server)->endpoint());
    backend_ = std::make_unique<CriBackend>(*std::move(server), *std::move(runtime));
    return backend_.get();
  }
  void TearDown() override { backend_.reset(); }

 private:
  RealClock clock_;
  Context ctx_{clock_};
  bool tried_ = false;
  std::unique_ptr<CriBackend> backend_;
};
Shared* const kShared =
    static_cast<Shared*>(testing::AddGlobalTestEnvironment(std::make_unique<Shared>().release()));

INSTANTIATE_TEST_SUITE_P(Containerd, RuntimeContract,
                         testing::Values(RuntimeCase{"containerd", [] { return kShared->Get(); },
                                                     Containerd::Missing}));

class CriRuntimeTest : public RuntimeContract {};
INSTANTIATE_TEST_SUITE_P(Containerd, CriRuntimeTest,
                         testing::Values(RuntimeCase{"containerd", [] { return kShared->Get(); },
                                                     Containerd::Missing}));

TEST_P(CriRuntimeTest, ContainersSurviveRuntimeCrash) {
  const std::string sandbox = Run();
  const std::string id = Create(sandbox, Config(kForever));
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  const PodState before = Pod();
  const auto events = Must(runtime().Events(ctx_));

  kShared->Get()->server().Kill();
  // containerd buffers events without a subscriber for the next one: they may still arrive.
  Result<ContainerEvent> event = events->Next(ctx_);
  while (event.ok()) event = events->Next(ctx_);
  EXPECT_TRUE(event.status().Is(Reason::kServiceUnavailable)) << event.status().ToString();
  EXPECT_TRUE(runtime().ListPods(ctx_).status().Is(Reason::kServiceUnavailable));
  ASSERT_EQ(kShared->Get()->server().Boot(ctx_), Status());

  const PodState after = Pod();
  ASSERT_EQ(after.containers.size(), 1u);
  EXPECT_EQ(after.containers[0].id, id);
  EXPECT_EQ(after.containers[0].phase, Phase::kRunning);
  EXPECT_EQ(after.containers[0].started, before.containers[0].started);
  EXPECT_EQ(after.containers[0].spec_hash, 42u);
  EXPECT_EQ(after.sandboxes[0].ips, before.sandboxes[0].ips);
}

TEST_P(CriRuntimeTest, WritesLogsToConfiguredPath) {
  const auto events = Must(runtime().Events(ctx_));
  const cri::v1::ContainerConfig config = Config("echo hello; exit 0");
  const std::string id = Create(Run(), config);
  ASSERT_EQ(runtime().StartContainer(ctx_, id), Status());
  Await(*events, ContainerEvent::Kind::kStopped, id);
  std::ifstream log(backend_->log_directory() + "/" + config.log_path);
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  EXPECT_THAT(text, testing::HasSubstr(" stdout F hello\n"));
}

}  // namespace
}  // namespace cox::runtime
