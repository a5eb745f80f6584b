// SPDX-License-Identifier: Apache-2.0
#include "object/object_size.h"

#include <gtest/gtest.h>

#include <string>

#include "api/core/v1.h"
#include "object/codec/json/json.h"

namespace cox {
namespace {

core::v1::Pod Sample() {
  core::v1::Pod pod;
  pod.metadata.name = "web-0";
  pod.metadata.labels = {{"app", "web"}, {"tier", ""}};
  pod.spec.containers.resize(2);
  pod.spec.containers[0].image = "registry.example/some/image:with-a-long-tag";
  return pod;
}

TEST(ObjectSizeTest, CountsOwnedDataOfStruct) {
  core::v1::Pod pod = Sample();
  const size_t before = SizeInMemory(Object::Of(pod));
  EXPECT_GT(before, sizeof(core::v1::Pod) + 2 * sizeof(core::v1::Container));
  pod.metadata.annotations["a"] = std::string(10'000, 'x');
  const size_t after = SizeInMemory(Object::Of(pod));
  EXPECT_GT(after, before + 10'000);
  EXPECT_LT(after, before + 10'300);
}

TEST(ObjectSizeTest, CountsOwnedDataOfJsonValue) {
  Value value = Object::Of(Sample()).ToValue();
  const size_t text = json::Write(value).size();
  EXPECT_GT(SizeInMemory(Object({"", "v1", "Pod"}, types::kAny, std::move(value))), text);
}

}  // namespace
}  // namespace cox
