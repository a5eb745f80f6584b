// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/list_decoder.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "coxswain/resource.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;
using core::v1::ConfigMapList;

ConfigMapList SampleList() {
  ConfigMapList list;
  list.metadata.resourceVersion = "42";
  list.metadata.continue_ = "next";
  for (const char* name : {"a", "b", "c"}) {
    ConfigMap map;
    map.metadata.name = name;
    map.data["key"] = "a \"quoted\" ]} text\\";
    list.items.push_back(std::move(map));
  }
  return list;
}

std::string Encoded(Format format) {
  std::string bytes;
  EncodeObject(Object::Of(SampleList()), format, &bytes);
  return bytes;
}

ObjectForm MapForm() { return {{"", "v1", "ConfigMap"}, &ConfigMap::kKind}; }

struct Outcome {
  std::string names;
  Status status;
  meta::v1::ListMeta meta;
};

Outcome Decode(std::initializer_list<std::string_view> pieces, ObjectForm form = MapForm()) {
  Outcome out;
  ListDecoder decoder(std::move(form));
  for (const std::string_view piece : pieces) {
    out.status = decoder.Feed(piece, [&](const Object& object) {
      if (const ConfigMap* map = object.As<ConfigMap>()) {
        EXPECT_EQ(map->data.find("key")->second, "a \"quoted\" ]} text\\");
        EXPECT_EQ(object.gvk().kind, "ConfigMap");
      }
      out.names += HeadOf(object).key.name;
      return Status();
    });
    if (!out.status.ok()) return out;
  }
  Result<meta::v1::ListMeta> meta = decoder.Finish();
  out.status = meta.status();
  if (meta.ok()) out.meta = *meta;
  return out;
}

TEST(ListDecoderTest, ReturnsTheSameObjectsForAllSplits) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string bytes = Encoded(format);
    const std::string_view all = bytes;
    for (size_t at = 0; at <= all.size(); ++at) {
      const Outcome out = Decode({all.substr(0, at), all.substr(at)});
      ASSERT_TRUE(out.status.ok()) << at << ": " << out.status.ToString();
      ASSERT_EQ(out.names, "abc") << at;
      ASSERT_EQ(out.meta.resourceVersion, "42");
      ASSERT_EQ(out.meta.continue_, "next");
    }
  }
}

TEST(ListDecoderTest, TruncatedListIsUnavailable) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    std::string bytes = Encoded(format);
    if (format == Format::kJson) bytes.pop_back();  // the newline
    for (size_t at = 0; at < bytes.size(); ++at) {
      // The last fields of the envelope are optional: the list is complete before them.
      if (format == Format::kProtobuf && (at == bytes.size() - 4 || at == bytes.size() - 2))
        continue;
      const Outcome out = Decode({std::string_view(bytes).substr(0, at)});
      ASSERT_TRUE(out.status.Is(Reason::kServiceUnavailable)) << at << out.status.ToString();
    }
  }
}

TEST(ListDecoderTest, ObjectsAreDeliveredBeforeTheResponseEnds) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string bytes = Encoded(format);
    ListDecoder decoder(MapForm());
    std::string names;
    const auto take = [&](const Object& object) {
      names += HeadOf(object).key.name;
      return Status();
    };
    ASSERT_TRUE(decoder.Feed(std::string_view(bytes).substr(0, bytes.size() - 30), take).ok());
    EXPECT_EQ(names, "ab");
  }
}

TEST(ListDecoderTest, ErrorOfTakeEndsTheList) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    ListDecoder decoder(MapForm());
    int taken = 0;
    const Status status = decoder.Feed(Encoded(format), [&](const Object&) {
      return ++taken == 2 ? Status::Conflict("enough") : Status();
    });
    EXPECT_TRUE(status.Is(Reason::kConflict));
    EXPECT_EQ(taken, 2);
  }
}

TEST(ListDecoderTest, DynamicItemsAreValues) {
  const Outcome out = Decode(
      {R"({"apiVersion":"example.com/v1","kind":"BackupList","items":[{"metadata":{"name":"x"}},)",
       R"({"metadata":{"name":"y"}}],"metadata":{"resourceVersion":"9"}})"},
      {{"example.com", "v1", "Backup"}, nullptr});
  ASSERT_TRUE(out.status.ok()) << out.status.ToString();
  EXPECT_EQ(out.names, "xy");
  EXPECT_EQ(out.meta.resourceVersion, "9");
}

TEST(ListDecoderTest, AListWithoutItemsIsEmpty) {
  for (const std::string_view text :
       {R"({"kind":"ConfigMapList","items":[],"metadata":{"resourceVersion":"1"}})",
        R"({"items":null})", R"({"kind":"ConfigMapList","metadata":{}})"}) {
    const Outcome out = Decode({text});
    EXPECT_TRUE(out.status.ok()) << text << out.status.ToString();
    EXPECT_EQ(out.names, "");
  }
}

TEST(ListDecoderTest, RejectsResponsesThatAreNotLists) {
  const std::string_view magic("k8s\0", 4);
  for (const std::string& bytes : {
           std::string(R"({"kind":"Status","apiVersion":"v1","status":"Failure"})"),
           std::string(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})"),
           std::string(R"({"items":[1]})"), std::string(R"({"items":[{"metadata":[]}]})"),
           std::string(R"({"items":[{"a":]}]})"), std::string(R"({"metadata":7})"),
           std::string(R"({"items":[]}{})"), std::string("<html>"), std::string("key: yaml"),
           std::string(magic) + "\x07",                                   // invalid wire type
           std::string(magic) + "\x12\x7f\x12\x7f",                       // incomplete
           std::string(magic) + std::string("\x12\x02\x12\x05zzzzz", 9),  // an item beyond the list
           std::string(magic) + std::string("\x12\x04\x12\x02\xff\xff", 6),  // a malformed item
           std::string(magic) + std::string("\x12\x00\x12\x02\x12\x00", 6),  // two lists
           std::string(magic) + "\x0a\xff\xff\xff\xff\x0f",                  // above the size limit
       }) {
    const Outcome out = Decode({bytes});
    EXPECT_FALSE(out.status.ok()) << bytes;
  }
}

// ProtoListStream relies on it.
TEST(ListDecoderTest, EveryBuiltInListHasItsItemsAtFieldTwo) {
  size_t lists = 0;
  for (const KindInfo* kind : AllKinds()) {
    if (!kind->kind.ends_with("List") || kind->type->wire.empty()) continue;
    // The only exception; the client requests v1.
    if (kind->kind == "PartialObjectMetadataList" && kind->version == "v1beta1") continue;
    const Field* items = kind->type->Find("items");
    const Field* metadata = kind->type->Find("metadata");
    if (items == nullptr || metadata == nullptr) continue;  // discovery lists
    ++lists;
    EXPECT_EQ(items->number, 2u) << kind->kind;
    EXPECT_EQ(metadata->number, 1u) << kind->kind;
  }
  EXPECT_GT(lists, 50u);
}

}  // namespace
}  // namespace cox::sdk
