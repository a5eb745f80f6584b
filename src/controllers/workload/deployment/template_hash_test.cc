// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/template_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox::controllers::deployment {
namespace {

using core::v1::PodTemplateSpec;

PodTemplateSpec Template(std::string_view image) {
  return *json::Decode<PodTemplateSpec>(R"({"metadata":{"labels":{"app":"web"}},"spec":{)"
                                        R"("containers":[{"name":"c","image":")" +
                                        std::string(image) + R"("}]}})");
}

// The hash is part of names in existing clusters: it must never change.
TEST(TemplateHashTest, HashIsStable) { EXPECT_EQ(HashOf(Template("nginx:1"), {}), "hv68h87fbm"); }

TEST(TemplateHashTest, HashDependsOnTemplateAndCollisions) {
  const std::string hash = HashOf(Template("nginx:1"), {});
  EXPECT_EQ(hash, HashOf(Template("nginx:1"), {}));
  EXPECT_NE(hash, HashOf(Template("nginx:2"), {}));
  EXPECT_NE(hash, HashOf(Template("nginx:1"), 0));
  EXPECT_NE(HashOf(Template("nginx:1"), 1), HashOf(Template("nginx:1"), 2));
  EXPECT_THAT(hash, testing::MatchesRegex("[bcdfghjklmnpqrstvwxz2456789]+"));
  EXPECT_EQ(hash.size(), 10);
}

TEST(TemplateHashTest, ComparisonIgnoresHashLabel) {
  PodTemplateSpec labelled = Template("nginx:1");
  labelled.metadata.labels[kTemplateHash] = "x";
  EXPECT_TRUE(SameTemplate(labelled, Template("nginx:1")));
  EXPECT_TRUE(SameTemplate(Template("nginx:1"), labelled));
  EXPECT_FALSE(SameTemplate(labelled, Template("nginx:2")));
  labelled.metadata.annotations["kubectl.kubernetes.io/restartedAt"] = "now";
  EXPECT_FALSE(SameTemplate(labelled, Template("nginx:1")));
}

}  // namespace
}  // namespace cox::controllers::deployment
