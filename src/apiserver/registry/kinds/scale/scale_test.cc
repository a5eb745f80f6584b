// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/scale/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

template <class T>
Object Make(std::string_view selector) {
  Object object(T::kKind);
  Status status = object.FromValue(*json::Parse(
      R"({"metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7",
                       "labels": {"x": "y"}, "generation": 3},
          "spec": {"replicas": 5, "selector": )" +
      std::string(selector) + R"(}, "status": {"replicas": 2}})"));
  EXPECT_TRUE(status.ok()) << status.message();
  return object;
}

std::vector<Object> Scalable() {
  constexpr std::string_view kSelector =
      R"({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "b", "operator": "In",
          "values": ["d", "c"]}]})";
  return {Make<apps::v1::Deployment>(kSelector), Make<apps::v1::ReplicaSet>(kSelector),
          Make<apps::v1::StatefulSet>(kSelector),
          Make<core::v1::ReplicationController>(R"({"app": "a", "b": "c"})")};
}

TEST(Scale, ShowsReplicasAndSelectorOfEveryKind) {
  for (const Object& object : Scalable()) {
    ASSERT_TRUE(HasScale(object)) << object.gvk().kind;
    autoscaling::v1::Scale scale = ToScale(object);
    bool plain = object.As<core::v1::ReplicationController>() != nullptr;
    EXPECT_EQ(json::Encode(scale),
              R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"},)"
              R"("spec":{"replicas":5},"status":{"replicas":2,"selector":")" +
                  std::string(plain ? "app=a,b=c" : "app=a,b in (c,d)") + R"("}})");
  }
  EXPECT_FALSE(HasScale(Object(apps::v1::DaemonSet::kKind)));
}

TEST(Scale, ChangesOnlyDesiredReplicas) {
  for (Object& object : Scalable()) {
    autoscaling::v1::Scale scale = ToScale(object);
    scale.spec.replicas = 9;
    scale.metadata.resourceVersion = "";
    scale.metadata.labels["z"] = "z";
    scale.status.replicas = 9;
    FromScale(scale, &object);
    EXPECT_EQ(object.object_meta()->resourceVersion, "");
    EXPECT_FALSE(object.object_meta()->labels.contains("z"));
    EXPECT_EQ(ToScale(object).spec.replicas, 9);
    EXPECT_EQ(ToScale(object).status.replicas, 2);
  }
}

TEST(Scale, RejectsNegativeReplicas) {
  autoscaling::v1::Scale scale;
  EXPECT_TRUE(ValidateScale(scale).empty());
  scale.spec.replicas = -1;
  FieldErrorList errors = ValidateScale(scale);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].ToString(),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
}

TEST(Scale, HasColumns) {
  EXPECT_EQ(ScaleColumns().size(), 4u);
  EXPECT_EQ(ScaleColumns()[0].format, "");
  Cells cells = ScaleRow(ToScale(Scalable()[0]), Time::FromUnix(1));
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[1], Value(5));
  EXPECT_EQ(cells[2], Value(2));
}

}  // namespace
}  // namespace cox::apiserver
