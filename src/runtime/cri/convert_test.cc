// SPDX-License-Identifier: Apache-2.0
#include "runtime/cri/convert.h"

#include <gtest/gtest.h>

#include "object/codec/protobuf/protobuf.h"
#include "runtime/labels.h"

namespace cox::runtime {
namespace {

cri::v1::PodSandbox Sandbox(const std::string& id, const std::string& uid, int64_t attempt) {
  cri::v1::PodSandbox sandbox;
  sandbox.id = id;
  sandbox.metadata = cri::v1::PodSandboxMetadata{.attempt = attempt};
  if (!uid.empty()) sandbox.labels[label::kPodUid] = uid;
  return sandbox;
}

cri::v1::Container Container(const std::string& id, const std::string& uid, int64_t attempt) {
  cri::v1::Container container;
  container.id = id;
  container.metadata = cri::v1::ContainerMetadata{.name = "main", .attempt = attempt};
  container.state = cri::v1::kContainerStateExited;
  if (!uid.empty()) container.labels[label::kPodUid] = uid;
  return container;
}

TEST(GroupByPod, SortsNewestFirstAndIgnoresUnlabeledObjects) {
  const auto pods = GroupByPod({Sandbox("s0", "a", 0), Sandbox("s1", "a", 1), Sandbox("x", "", 0)},
                               {Container("c1", "a", 1), Container("c2", "a", 2),
                                Container("d", "b", 0), Container("y", "", 0)});
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(pods[0].uid, "a");
  EXPECT_EQ(pods[0].sandboxes[0].id, "s1");
  EXPECT_EQ(pods[0].containers[0].id, "c2");
  EXPECT_EQ(pods[0].Newest("main")->attempt, 2u);
  // A container without its sandbox still belongs to the Pod.
  EXPECT_EQ(pods[1].uid, "b");
  EXPECT_TRUE(pods[1].sandboxes.empty());
}

TEST(ToState, ConvertsAddressesAndTimes) {
  cri::v1::PodSandboxStatus sandbox;
  sandbox.state = cri::v1::kPodSandboxStateNotready;
  sandbox.network =
      cri::v1::PodSandboxNetworkStatus{.ip = "10.0.0.2", .additional_ips = {{.ip = "fd00::2"}}};
  EXPECT_FALSE(ToState(sandbox).ready);
  EXPECT_EQ(ToState(sandbox).ips, (std::vector<std::string>{"10.0.0.2", "fd00::2"}));

  cri::v1::ContainerStatus container;
  container.state = cri::v1::kContainerStateRunning;
  container.started_at = 1'700'000'000'000'000'001;
  container.image = cri::v1::ImageSpec{.image = "sha256:1", .user_specified_image = "web:1"};
  const ContainerState state = ToState(container);
  EXPECT_EQ(state.started.time_since_epoch(), std::chrono::nanoseconds(container.started_at));
  EXPECT_EQ(state.finished, Clock::WallTime());
  EXPECT_EQ(state.image, "web:1");
}

TEST(ToEvent, ReadsThePodFromTheSandboxStatus) {
  cri::v1::ContainerEventResponse event;
  event.container_id = "c";
  event.container_event_type = cri::v1::kContainerEventTypeStoppedEvent;
  EXPECT_FALSE(ToEvent(event).has_value());
  event.pod_sandbox_status.emplace().labels[label::kPodUid] = "a";
  const auto made = ToEvent(event);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->kind, ContainerEvent::Kind::kStopped);
  EXPECT_EQ(made->pod_uid, "a");
  ASSERT_TRUE(made->state.has_value());
  EXPECT_EQ(made->state->sandboxes.size(), 1u);
  event.container_event_type = 99;
  EXPECT_FALSE(ToEvent(event).has_value());
}

TEST(CallError, MapsGrpcCodesToReasons) {
  EXPECT_TRUE(CallError("/s/Get", 5, "x").Is(Reason::kNotFound));
  EXPECT_TRUE(CallError("/s/Get", 14, "x").Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(CallError("/s/Get", 2, "x").Is(Reason::kInternalError));
  EXPECT_EQ(CallError("/s/Get", 2, "why").message(), "Get: why");
}

// The messages are encoded as proto3: omitted fields are zero, numeric enums and packed lists are
// supported.
TEST(CriMessages, RoundTripAsProto3) {
  cri::v1::CreateContainerRequest request;
  request.pod_sandbox_id = "s";
  auto& config = request.config.emplace();
  config.envs = {{.key = "A", .value = "1"}};
  config.stop_signal = cri::v1::kSignalSigterm;
  auto& context = config.linux.emplace().security_context.emplace();
  context.supplemental_groups = {1, 2};
  context.run_as_user = cri::v1::Int64Value{};
  const auto back = proto::Decode<cri::v1::CreateContainerRequest>(proto::Encode(request));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->config->stop_signal, 23);
  EXPECT_EQ(back->config->envs[0].value, "1");
  EXPECT_EQ(back->config->linux->security_context->supplemental_groups,
            (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(back->config->linux->security_context->run_as_user.has_value());
  EXPECT_FALSE(back->config->linux->security_context->run_as_group.has_value());
  EXPECT_FALSE(back->sandbox_config.has_value());

  const auto user =
      proto::Decode<cri::v1::LinuxContainerUser>(std::string_view("\x1a\x03\x01\x96\x01", 5));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->supplemental_groups, (std::vector<int64_t>{1, 150}));
}

}  // namespace
}  // namespace cox::runtime
