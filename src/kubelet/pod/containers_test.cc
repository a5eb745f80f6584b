// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/containers.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using testing::MakePod;

TEST(ContainersTest, VisitsContainersInOrderWithKind) {
  const auto pod =
      MakePod(R"({"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],
      "containers":[{"name":"a"},{"name":"b"}],"ephemeralContainers":[{"name":"e","image":"x"}]})");
  std::string seen;
  ForEachContainer(pod, [&](const core::v1::Container& c, ContainerKind kind) {
    seen += c.name + std::to_string(static_cast<int>(kind)) + c.image + " ";
  });
  EXPECT_EQ(seen, "i0 s1 a2 b2 e3x ");
  EXPECT_EQ(FindContainer(pod, "s")->name, "s");
  EXPECT_EQ(FindContainer(pod, "none"), nullptr);
}

TEST(ContainersTest, HashCoversNameAndImageOnly) {
  const uint64_t hash = SpecHash({.name = "a", .image = "x:1"});
  EXPECT_EQ(hash, SpecHash({.name = "a", .image = "x:1", .args = {"other"}}));
  EXPECT_NE(hash, SpecHash({.name = "a", .image = "x:2"}));
  EXPECT_NE(SpecHash({.name = "ab", .image = "c"}), SpecHash({.name = "a", .image = "bc"}));
}

TEST(ContainersTest, ResolvesPortsByNumberAndName) {
  const core::v1::Container c{.ports = {{.name = "http", .containerPort = 8080}}};
  EXPECT_EQ(ResolvePort(IntOrString(80), c), 80);
  EXPECT_EQ(ResolvePort(IntOrString("http"), c), 8080);
  EXPECT_EQ(ResolvePort(IntOrString("81"), c), 81);
  EXPECT_EQ(ResolvePort(IntOrString("none"), c), 0);
  EXPECT_EQ(ResolvePort(IntOrString(70000), c), 0);
  EXPECT_EQ(ResolvePort(IntOrString(-1), c), 0);
}

}  // namespace
}  // namespace cox::kubelet
