// SPDX-License-Identifier: Apache-2.0
#include "object/apply/apply.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/testing/test_schema.h"

namespace cox::apply {
namespace {

using apps::v1::Deployment;
using core::v1::Pod;

constexpr std::string_view kNow = "2030-01-01T00:00:00Z";

TEST(TypedApplyTest, TypedObjectsHaveManagers) {
  FieldManager manager(Pod::kType, {.api_version = "v1", .kind = "Pod"});
  Value patch =
      J("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'web'},'spec':{'containers':"
        "[{'name':'c','image':'nginx','ports':[{'containerPort':8080},{'containerPort':80}]}]}}");
  Result<Pod> pod = Apply(manager, Pod{}, patch, "m", false, kNow);
  ASSERT_TRUE(pod.ok()) << pod.status().ToString();
  ASSERT_EQ(pod->spec.containers.size(), 1u);
  EXPECT_EQ(pod->spec.containers[0].image, "nginx");
  ASSERT_EQ(pod->metadata.managedFields.size(), 1u);
  // Keys include their defaults and are sorted by their values.
  EXPECT_EQ(
      pod->metadata.managedFields[0].fieldsV1->raw,
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},)"
      R"("f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},)"
      R"("k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}})");

  Pod changed = *pod;
  changed.spec.containers[0].image = "nginx:2";
  Result<Pod> updated = Update(manager, *pod, changed, "editor", kNow);
  ASSERT_TRUE(updated.ok()) << updated.status().ToString();
  EXPECT_EQ(updated->metadata.managedFields.size(), 2u);
  EXPECT_EQ(Apply(manager, *updated, patch, "m", false, kNow).status().message(),
            "Apply failed with 1 conflict: conflict with \"editor\" using v1: "
            ".spec.containers[name=\"c\"].image");
}

TEST(TypedApplyTest, SelectorsAreAtomic) {
  FieldManager manager(Deployment::kType, {.api_version = "apps/v1", .kind = "Deployment"});
  Value patch =
      J("{'apiVersion':'apps/v1','kind':'Deployment','spec':{'replicas':2,"
        "'selector':{'matchLabels':{'a':'b'}}}}");
  Result<Deployment> made = Apply(manager, Deployment{}, patch, "m", false, kNow);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  ASSERT_EQ(made->metadata.managedFields.size(), 1u);
  EXPECT_EQ(made->metadata.managedFields[0].fieldsV1->raw,
            R"({"f:spec":{"f:replicas":{},"f:selector":{}}})");
}

}  // namespace
}  // namespace cox::apply
