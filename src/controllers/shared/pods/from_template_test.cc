// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/from_template.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"

namespace cox::controllers::pods {
namespace {

TEST(FromTemplateTest, PodHasTemplateAndControllerReference) {
  core::v1::PodTemplateSpec spec;
  spec.metadata = {.name = "ignored",
                   .labels = {{"app", "web"}},
                   .annotations = {{"note", "x"}},
                   .finalizers = {"example.com/f"}};
  spec.spec.containers = {{.name = "c", .image = "i"}};
  meta::v1::ObjectMeta owner{.name = "web-1", .namespace_ = "default", .uid = "u1"};
  const core::v1::Pod pod = PodFromTemplate(spec, apps::v1::ReplicaSet::kKind, owner);
  EXPECT_EQ(pod.metadata.name, "");
  EXPECT_EQ(pod.metadata.generateName, "web-1-");
  EXPECT_EQ(pod.metadata.namespace_, "default");
  EXPECT_EQ(*pod.metadata.labels.Get("app"), "web");
  EXPECT_EQ(*pod.metadata.annotations.Get("note"), "x");
  EXPECT_EQ(pod.metadata.finalizers, std::vector<std::string>{"example.com/f"});
  EXPECT_EQ(pod.spec.containers.at(0).image, "i");
  ASSERT_EQ(pod.metadata.ownerReferences.size(), 1);
  const meta::v1::OwnerReference& ref = pod.metadata.ownerReferences[0];
  EXPECT_EQ(ref.apiVersion, "apps/v1");
  EXPECT_EQ(ref.kind, "ReplicaSet");
  EXPECT_EQ(ref.name, "web-1");
  EXPECT_EQ(ref.uid, "u1");
  EXPECT_EQ(ref.controller, true);
  EXPECT_EQ(ref.blockOwnerDeletion, true);
}

}  // namespace
}  // namespace cox::controllers::pods
