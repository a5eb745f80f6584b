// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/pod_references.h"

#include <gtest/gtest.h>

#include "simulate/testing/node_harness.h"

namespace cox::simulate {
namespace {

using core::v1::Pod;

Pod PodWithRootCa(const std::string& ns) {
  Pod pod;
  pod.metadata.namespace_ = ns;
  auto& source = pod.spec.volumes.emplace_back().volumeSource.projected.emplace();
  source.sources.emplace_back().configMap.emplace().localObjectReference.name = "kube-root-ca.crt";
  return pod;
}

TEST(PodReferences, IncludeVolumesEnvironmentsAndPullSecrets) {
  Pod pod = PodWithRootCa("apps");
  pod.spec.volumes.emplace_back().volumeSource.secret.emplace().secretName = "tls";
  pod.spec.volumes.emplace_back().volumeSource.configMap.emplace().localObjectReference.name =
      "settings";
  auto& container = pod.spec.containers.emplace_back();
  container.envFrom.emplace_back().configMapRef.emplace().localObjectReference.name = "settings";
  container.env.emplace_back()
      .valueFrom.emplace()
      .secretKeyRef.emplace()
      .localObjectReference.name = "password";
  pod.spec.imagePullSecrets.emplace_back().name = "registry";
  EXPECT_EQ(ReferencesOf(pod), (std::vector<PodReference>{{false, "apps", "kube-root-ca.crt"},
                                                          {false, "apps", "settings"},
                                                          {true, "apps", "password"},
                                                          {true, "apps", "registry"},
                                                          {true, "apps", "tls"}}));
}

class ReferenceWatchesTest : public NodeHarness {};

TEST_F(ReferenceWatchesTest, OneWatchPerObjectWhileAPodRefersToIt) {
  NodeConnection connection(shard, NewClient());
  ReferenceWatches watches(connection);
  const PodReference reference = ReferencesOf(PodWithRootCa("apps")).at(0);
  watches.Add(reference);
  watches.Add(reference);
  const auto watch =
      Open("GET /api/v1/namespaces/apps/configmaps?watch=true&allowWatchBookmarks=true");
  ASSERT_NE(watch, nullptr);
  EXPECT_NE(watch->request.target.find("fieldSelector=metadata.name%3Dkube-root-ca.crt"),
            std::string::npos);
  EXPECT_EQ(CountOpen("GET"), 1U);
  watches.Remove(reference);
  EXPECT_TRUE(watch->open());
  watches.Remove(reference);
  EXPECT_FALSE(watch->open());
  EXPECT_EQ(watches.size(), 0U);
}

}  // namespace
}  // namespace cox::simulate
