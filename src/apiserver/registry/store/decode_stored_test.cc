// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/decode_stored.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/core/v1.h"
#include "object/codec.h"
#include "storage/unreadable.h"

namespace cox::apiserver {
namespace {

using core::v1::ReplicationController;

class ControllerStrategy final : public StrategyOf<ReplicationController> {
 public:
  std::string_view storage_prefix() const override { return "controllers"; }
};

std::string StoredBytes(ReplicationController controller) {
  std::string bytes;
  EncodeObject(Object::Of(std::move(controller)), Format::kProtobuf, &bytes);
  return bytes;
}

ReplicationController Sample() {
  ReplicationController controller;
  controller.metadata.name = "web";
  controller.metadata.uid = "uid-1";
  controller.metadata.labels = {{"app", "web"}};
  controller.metadata.managedFields.resize(2);
  return controller;
}

TEST(DecodeStoredTest, SetsDefaultsAndResourceVersion) {
  const Result<Object> object = DecodeStored(ControllerStrategy(), StoredBytes(Sample()), 7);
  ASSERT_TRUE(object.ok()) << object.status().message();
  EXPECT_EQ(object->object_meta()->resourceVersion, "7");
  EXPECT_EQ(object->As<ReplicationController>()->spec.replicas, 1);
  EXPECT_EQ(object->object_meta()->managedFields.size(), 2u);
}

TEST(DecodeStoredTest, HeadContainsUidAndLabels) {
  storage::HeadBuilder builder(0);
  ReadHead(ControllerStrategy(), StoredBytes(Sample()), builder);
  const std::string head(builder.Finish());
  EXPECT_EQ(storage::UidOf(head.data()), "uid-1");
  EXPECT_EQ(storage::LabelsOf(head.data())("app"), "web");
}

TEST(DecodeStoredTest, DecoderOmitsManagedFields) {
  const storage::ObjectDecoder decode = MakeDecoder(std::make_shared<ControllerStrategy>());
  const ObjectPtr object = decode(StoredBytes(Sample()), 7);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->object_meta()->name, "web");
  EXPECT_EQ(object->object_meta()->resourceVersion, "7");
  EXPECT_TRUE(object->object_meta()->managedFields.empty());
}

TEST(DecodeStoredTest, BytesThatCannotBeDecodedHaveNoUidAndNoObject) {
  const storage::ObjectDecoder decode = MakeDecoder(std::make_shared<ControllerStrategy>());
  for (const std::string& value :
       {std::string("no object"), StoredBytes(Sample()).substr(0, 20),
        std::string(storage::UnreadableValue("the key is missing").view())}) {
    SCOPED_TRACE(value);
    EXPECT_EQ(decode(value, 7), nullptr);
    storage::HeadBuilder builder(0);
    ReadHead(ControllerStrategy(), value, builder);
    EXPECT_EQ(storage::UidOf(std::string(builder.Finish()).data()), "");
  }
}

}  // namespace
}  // namespace cox::apiserver
