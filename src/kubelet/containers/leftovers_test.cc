// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;
using testing::Exited;
using testing::kNow;
using testing::Running;

std::vector<std::string> Ids(const Leftovers& leftovers) {
  std::vector<std::string> ids;
  for (const auto& container : leftovers.containers) ids.push_back(container.id);
  return ids;
}

TEST(LeftoversTest, KeepsNewestAndNewestEndedInstance) {
  auto state = testing::RunningSandbox();
  state.containers = {Running("a", "i", 3), Exited("b", 1, 2), Exited("a", 1, 2),
                      Exited("b", 1, 1),    Exited("a", 1, 1), Exited("a", 1, 0)};
  EXPECT_THAT(Ids(FindLeftovers(state)), ElementsAre("b1", "a1", "a0"));
}

TEST(LeftoversTest, RemovesCreatedContainerIfNewerInstanceExists) {
  auto state = testing::RunningSandbox();
  auto created = Running("a", "i", 0);
  created.phase = runtime::ContainerState::Phase::kCreated;
  state.containers = {Running("a", "i", 1), created};
  EXPECT_THAT(Ids(FindLeftovers(state)), ElementsAre("a0"));
  state.containers = {created};
  EXPECT_THAT(Ids(FindLeftovers(state)), ::testing::IsEmpty());
}

TEST(LeftoversTest, RemovesOldSandboxesWithoutContainers) {
  using std::chrono::seconds;
  auto state = testing::RunningSandbox();
  state.sandboxes = {{.id = "s2", .attempt = 2, .ready = true, .created = kNow - seconds(10)},
                     {.id = "s1", .attempt = 1, .created = kNow - seconds(50)},
                     {.id = "s0", .attempt = 0, .created = kNow - seconds(90)}};
  state.containers = {Exited("a", 0)};  // created 40 s ago, in s1
  EXPECT_THAT(FindLeftovers(state).sandboxes, ElementsAre("s0"));
  state.containers.clear();
  EXPECT_THAT(FindLeftovers(state).sandboxes, ElementsAre("s1", "s0"));
}

}  // namespace
}  // namespace cox::kubelet
