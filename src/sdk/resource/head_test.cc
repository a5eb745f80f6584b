// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "coxswain/resource.h"

namespace cox {
namespace {

void ExpectWeb(const ObjectHead& head) {
  EXPECT_EQ(head.key.ToString(), "default/web");
  EXPECT_EQ(head.uid, "u1");
  EXPECT_EQ(head.version, 42);
  EXPECT_EQ(head.generation, 3);
  EXPECT_TRUE(head.deleting);
}

TEST(ObjectHeadTest, ReadsStructsAndValues) {
  core::v1::Pod pod;
  pod.metadata.name = "web";
  pod.metadata.namespace_ = "default";
  pod.metadata.uid = "u1";
  pod.metadata.resourceVersion = "42";
  pod.metadata.generation = 3;
  pod.metadata.deletionTimestamp = Time();
  ExpectWeb(HeadOf(Object::Of(pod)));
  ExpectWeb(HeadOf(
      Object({"example.com", "v1", "Web"}, types::kAny,
             Value::MakeObject({{"metadata", Value::MakeObject({
                                                 {"name", "web"},
                                                 {"namespace", "default"},
                                                 {"uid", "u1"},
                                                 {"resourceVersion", "42"},
                                                 {"generation", 3},
                                                 {"deletionTimestamp", "2026-01-01T00:00:00Z"},
                                             })}}))));
}

TEST(ObjectHeadTest, AbsentOrInvalidFieldsAreZero) {
  const ObjectHead head = HeadOf(Object({"", "v1", "X"}, types::kAny, Value(nullptr)));
  EXPECT_EQ(head.key.ToString(), "");
  EXPECT_EQ(head.version, 0);
  core::v1::Pod pod;
  pod.metadata.resourceVersion = "12x";
  EXPECT_EQ(HeadOf(Object::Of(pod)).version, 0);
  EXPECT_FALSE(HeadOf(Object::Of(pod)).deleting);
}

TEST(ObjectKeyTest, ToStringAndParseRoundTrip) {
  EXPECT_EQ((ObjectKey{"default", "web"}).ToString(), "default/web");
  EXPECT_EQ((ObjectKey{"", "node-1"}).ToString(), "node-1");
  EXPECT_EQ(ObjectKey::Parse("default/web"), (ObjectKey{"default", "web"}));
  EXPECT_EQ(ObjectKey::Parse("node-1"), (ObjectKey{"", "node-1"}));
}

TEST(ResourceTest, AsSharesTheStructInsideAnObject) {
  core::v1::Pod pod;
  pod.metadata.name = "web";
  auto object = std::make_shared<const Object>(Object::Of(pod));
  const std::shared_ptr<const core::v1::Pod> inner = As<core::v1::Pod>(object);
  EXPECT_EQ(inner.get(), object->As<core::v1::Pod>());
  EXPECT_EQ(As<core::v1::Secret>(object), nullptr);
  object.reset();
  EXPECT_EQ(inner->metadata.name, "web");
  EXPECT_EQ(Resource::Of<core::v1::Pod>().ToString(), "pods");
}

}  // namespace
}  // namespace cox
