// SPDX-License-Identifier: Apache-2.0
#include "object/core/containers.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox::core_rules {
namespace {

using core::v1::Container;
using core::v1::EphemeralContainer;

TEST(CoreContainersTest, SidecarIsInitContainerWithRestartPolicyAlways) {
  EXPECT_FALSE(IsSidecar({}));
  EXPECT_FALSE(IsSidecar({.restartPolicy = "OnFailure"}));
  EXPECT_FALSE(IsSidecar({.restartPolicy = "Never"}));
  EXPECT_TRUE(IsSidecar({.restartPolicy = "Always"}));
}

TEST(CoreContainersTest, AsContainerCopiesAllFieldsOfEphemeralContainer) {
  // One field of each kind, and a target, which other containers do not have.
  const std::string fields =
      R"("name":"e","image":"i","command":["c"],"args":["a"],"workingDir":"/w",)"
      R"("ports":[{"containerPort":1}],"envFrom":[{"prefix":"p"}],"env":[{"name":"n"}],)"
      R"("resources":{"limits":{"cpu":"1"}},"resizePolicy":[{"resourceName":"cpu","restartPolicy":""}],)"
      R"("restartPolicy":"Never","restartPolicyRules":[{"action":"Restart"}],)"
      R"("volumeMounts":[{"name":"v","mountPath":"/v"}],)"
      R"("volumeDevices":[{"name":"d","devicePath":"/d"}],)"
      R"("livenessProbe":{"periodSeconds":1},"readinessProbe":{"periodSeconds":2},)"
      R"("startupProbe":{"periodSeconds":3},"lifecycle":{"stopSignal":"SIGTERM"},)"
      R"("terminationMessagePath":"/t","terminationMessagePolicy":"File",)"
      R"("imagePullPolicy":"Always","securityContext":{"privileged":true},)"
      R"("stdin":true,"stdinOnce":true,"tty":true)";
  const auto ephemeral =
      json::Decode<EphemeralContainer>("{" + fields + R"(,"targetContainerName":"t"})");
  const auto container = json::Decode<Container>("{" + fields + "}");
  ASSERT_TRUE(ephemeral.ok());
  ASSERT_TRUE(container.ok());
  EXPECT_EQ(json::Encode(AsContainer(*ephemeral)), json::Encode(*container));
}

}  // namespace
}  // namespace cox::core_rules
