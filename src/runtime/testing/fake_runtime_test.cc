// SPDX-License-Identifier: Apache-2.0
#include "runtime/testing/fake_runtime.h"

#include "runtime/testing/contract_test.h"

namespace cox::runtime {
namespace {

constexpr const char* kImage = "registry.example/busybox:1";

// The results of a shell for the commands of the contract.
Result<ExecResult> Shell(const std::string& /*id*/, const List<std::string>& command) {
  if (command.back() == "sleep 60") return Status::Timeout("the command took too long");
  if (command.front() != "/bin/sh") return Status::Internal("no such file");
  return ExecResult{3, "out\n", "err\n"};
}

class FakeBackend final : public RuntimeBackend {
 public:
  FakeBackend() {
    runtime_.Publish(kImage);
    runtime_.SetExec(Shell);
  }
  Runtime& runtime() override { return runtime_; }
  std::string image() override { return kImage; }
  void Ends(const std::string& id, int code) override { runtime_.Exit(id, code); }
  std::string log_directory() override { return "/var/log/pods"; }

 private:
  RealClock clock_;
  FakeRuntime runtime_{clock_};
};

RuntimeBackend* Fake() {
  static FakeBackend backend;
  return &backend;
}

INSTANTIATE_TEST_SUITE_P(Fake, RuntimeContract, testing::Values(RuntimeCase{"fake", Fake}));

class FakeRuntimeTest : public testing::Test {
 protected:
  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(30));
  FakeRuntime runtime_{clock_};
};

TEST_F(FakeRuntimeTest, FailNextFailsTheNextCall) {
  runtime_.FailNext("RunSandbox", Status::Unavailable("busy"));
  cri::v1::PodSandboxConfig config;
  MarkSandbox({"u", "ns", "web"}, 0, &config);
  EXPECT_TRUE(runtime_.RunSandbox(ctx_, config, "").status().Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(runtime_.RunSandbox(ctx_, config, "").ok());
  EXPECT_EQ(runtime_.calls(), std::vector<std::string>{"RunSandbox web"});
}

TEST_F(FakeRuntimeTest, HoldPullsBlocksUntilContextStops) {
  runtime_.Publish("a");
  runtime_.HoldPulls(true);
  Context pull = ctx_.WithTimeout(std::chrono::milliseconds(1));
  const Status given_up = runtime_.PullImage(pull, {.image = "a"}, nullptr, {}).status();
  EXPECT_EQ(given_up, pull.status());
  runtime_.HoldPulls(false);
  EXPECT_TRUE(runtime_.PullImage(ctx_, {.image = "a"}, nullptr, {}).ok());
}

TEST_F(FakeRuntimeTest, BreakEventsEndsEventStreams) {
  const auto events = runtime_.Events(ctx_);
  runtime_.BreakEvents();
  EXPECT_TRUE((*events)->Next(ctx_).status().Is(Reason::kServiceUnavailable));
}

}  // namespace
}  // namespace cox::runtime
