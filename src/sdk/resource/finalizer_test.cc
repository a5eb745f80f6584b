// SPDX-License-Identifier: Apache-2.0
#include "coxswain/finalizer.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"
#include "sdk/testing/function_client.h"

namespace cox {
namespace {

using core::v1::ConfigMap;

constexpr char kName[] = "example.com/bucket";

// A server with one ConfigMap that accepts patches of its metadata.
class FinalizerTest : public ::testing::Test {
 protected:
  FinalizerTest() {
    stored_.metadata.namespace_ = "ns";
    stored_.metadata.name = "a";
    stored_.metadata.resourceVersion = "7";
    stored_.metadata.finalizers = {"other/one"};
    client_.execute = [this](Context&, const Operation& operation) { return Patched(operation); };
  }

  Result<Object> Patched(const Operation& operation) {
    EXPECT_EQ(operation.verb, Operation::Verb::kPatch);
    EXPECT_EQ(operation.key.ToString(), "ns/a");
    patches_.push_back(operation.patch->body);
    if (!answer_.ok()) return answer_;
    Object object = Object::Of(stored_);
    Value value = object.ToValue();
    const Value patch = *json::Parse(operation.patch->body);
    EXPECT_EQ(patch.At({"metadata", "resourceVersion"})->as_string(),
              stored_.metadata.resourceVersion);
    value.as_object()["metadata"].as_object()["finalizers"] = *patch.At({"metadata", "finalizers"});
    EXPECT_TRUE(object.FromValue(value).ok());
    stored_ = *object.As<ConfigMap>();
    stored_.metadata.resourceVersion = "8";
    return Object::Of(stored_);
  }

  Result<Finalization> Run(ConfigMap& map) {
    return Finalize(ctx_, client_, map, kName, [this](Context&) {
      ++cleanups_;
      return cleanup_;
    });
  }

  TestClock clock_;
  Context ctx_{clock_};
  sdk::FunctionClient client_;
  ConfigMap stored_;
  Status answer_, cleanup_;
  std::vector<std::string> patches_;
  int cleanups_ = 0;
};

TEST_F(FinalizerTest, IsAddedOnce) {
  ConfigMap map = stored_;
  EXPECT_EQ(*Run(map), Finalization::kActive);
  EXPECT_EQ(map.metadata.finalizers, (std::vector<std::string>{"other/one", kName}));
  EXPECT_EQ(map.metadata.resourceVersion, "8") << "as stored";
  EXPECT_EQ(*Run(map), Finalization::kActive);
  EXPECT_EQ(patches_.size(), 1u);
  EXPECT_EQ(cleanups_, 0);
}

TEST_F(FinalizerTest, IsRemovedAfterTheCleanup) {
  stored_.metadata.deletionTimestamp = Time::FromUnix(1);
  stored_.metadata.finalizers = {kName, "other/one"};
  ConfigMap map = stored_;
  cleanup_ = Status::Unavailable("bucket");
  EXPECT_EQ(Run(map).status(), cleanup_);
  EXPECT_TRUE(patches_.empty()) << "stays on while there is something to clean up";
  cleanup_ = {};
  EXPECT_EQ(*Run(map), Finalization::kGone);
  EXPECT_EQ(stored_.metadata.finalizers, (std::vector<std::string>{"other/one"}));
  map = stored_;
  EXPECT_EQ(*Run(map), Finalization::kGone);
  EXPECT_EQ(patches_.size(), 1u);
  EXPECT_EQ(cleanups_, 2);
}

TEST_F(FinalizerTest, IsNotAddedToAnObjectBeingDeleted) {
  stored_.metadata.deletionTimestamp = Time::FromUnix(1);
  ConfigMap map = stored_;
  EXPECT_EQ(*Run(map), Finalization::kGone);
  EXPECT_TRUE(patches_.empty());
  EXPECT_EQ(cleanups_, 0);
}

TEST_F(FinalizerTest, ConflictIsReturnedAndNotFoundIsSuccess) {
  ConfigMap map = stored_;
  answer_ = Status::Conflict("changed");
  EXPECT_EQ(Run(map).status(), answer_);
  EXPECT_FALSE(HasFinalizer(map.metadata, kName));
  map.metadata.deletionTimestamp = Time::FromUnix(1);
  map.metadata.finalizers = {kName};
  EXPECT_EQ(Run(map).status(), answer_);
  answer_ = Status::NotFound("gone");
  EXPECT_EQ(*Run(map), Finalization::kGone);
}

}  // namespace
}  // namespace cox
