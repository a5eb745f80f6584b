// SPDX-License-Identifier: Apache-2.0
#include "kubelet/objects/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;
using testing::MakePod;

TEST(ReferencesTest, FindsAllReferencesOfPod) {
  const auto pod = MakePod(R"({
    "imagePullSecrets":[{"name":"pull"},{"name":""}],
    "initContainers":[{"name":"i","envFrom":[{"configMapRef":{"name":"from"}},{"secretRef":{"name":"sfrom"}}]}],
    "containers":[{"name":"a","env":[
      {"name":"A","valueFrom":{"configMapKeyRef":{"name":"key","key":"k"}}},
      {"name":"B","valueFrom":{"secretKeyRef":{"name":"skey","key":"k"}}},
      {"name":"C","valueFrom":{"configMapKeyRef":{"name":"key","key":"l"}}}]}],
    "volumes":[{"name":"v","configMap":{"name":"vol"}},{"name":"w","secret":{"secretName":"svol"}},
      {"name":"x","projected":{"sources":[{"configMap":{"name":"pro"}},{"secret":{"name":"spro"}}]}},
      {"name":"y","emptyDir":{}}]})");
  std::vector<std::string> found;
  for (const ObjectReference& r : ReferencesOf(pod)) {
    found.push_back((r.kind == ObjectReference::Kind::kSecret ? "s:" : "c:") + r.key.ToString());
  }
  EXPECT_THAT(found, ElementsAre("c:default/from", "c:default/key", "c:default/pro",
                                 "c:default/vol", "s:default/pull", "s:default/sfrom",
                                 "s:default/skey", "s:default/spro", "s:default/svol"));
}

}  // namespace
}  // namespace cox::kubelet
