// SPDX-License-Identifier: Apache-2.0
#include "apiserver/config/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

using ::testing::ElementsAre;

Result<ConfigDocument> Read(const std::string& fields) {
  return ConfigDocument::Parse("apiVersion: example.com/v1\nkind: Thing\n" + fields, "Thing",
                               {"example.com/v1beta1", "example.com/v1"});
}

TEST(ConfigReaderTest, ReadsFieldsOfEveryType) {
  Result<ConfigDocument> document = Read(R"(
name: web
ready: true
size: 7
wait: 1m30s
list: [a, b]
key: aGk=
inner: {name: x}
items: [{name: one}, {name: two}]
free: {any: [thing]}
)");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->api_version(), "example.com/v1");
  const ConfigObject root = document->root();
  EXPECT_EQ(root.RequiredString("name"), "web");
  EXPECT_TRUE(root.Bool("ready"));
  EXPECT_EQ(root.Int("size", 1, 0, 10), 7);
  EXPECT_EQ(root.Time("wait", {}), Duration::Seconds(90));
  EXPECT_THAT(root.Strings("list"), ElementsAre("a", "b"));
  EXPECT_EQ(root.Bytes("key"), "hi");
  EXPECT_EQ(root.Object("inner").String("name"), "x");
  ASSERT_EQ(root.Objects("items").size(), 2U);
  for (const ConfigObject& item : root.Objects("items")) EXPECT_FALSE(item.String("name").empty());
  EXPECT_EQ(root.Objects("items")[1].path(), "items[1]");
  ASSERT_NE(root.Raw("free"), nullptr);
  EXPECT_EQ(document->Finish().message(), "");
}

TEST(ConfigReaderTest, AbsentFieldsYieldFallback) {
  Result<ConfigDocument> document = Read("name: null\n");
  ASSERT_TRUE(document.ok());
  const ConfigObject root = document->root();
  EXPECT_EQ(root.String("name", "other"), "other");
  EXPECT_EQ(root.Choice("mode", {"a", "b"}, "b"), "b");
  EXPECT_EQ(root.Int("size", 3, 5, 9), 3);
  const ConfigObject inner = root.Object("inner");
  EXPECT_FALSE(inner.present());
  EXPECT_TRUE(inner.Objects("deep").empty());
  EXPECT_FALSE(inner.Object("deep").Bool("x"));
  EXPECT_TRUE(document->Finish().ok());
}

TEST(ConfigReaderTest, ReportsAllErrorsAtOnce) {
  Result<ConfigDocument> document = Read(R"(
name: 5
size: 99
mode: c
list: [a, 1]
wait: soon
inner: {nmae: x}
items: [{name: one, extra: 1}, 7]
)");
  ASSERT_TRUE(document.ok());
  const ConfigObject root = document->root();
  root.RequiredString("name");
  root.RequiredString("missing");
  root.Int("size", 1, 0, 10);
  root.Choice("mode", {"a", "b"});
  root.Strings("list");
  root.Time("wait", {});
  root.Object("inner").String("name");
  for (const ConfigObject& item : root.Objects("items")) item.String("name");
  EXPECT_EQ(document->Finish().message(),
            "name: must be a string; missing: Required value; size: must be from 0 to 10; "
            "mode: must be one of a, b, not \"c\"; list[1]: must be a string; "
            "wait: must be a duration such as 30s or 1h; items[1]: must be an object; "
            "unknown field \"inner.nmae\"; unknown field \"items[0].extra\"");
}

TEST(ConfigReaderTest, OtherKindsAndVersionsAreRejected) {
  const Result<ConfigDocument> kind = ConfigDocument::Parse(
      "{apiVersion: example.com/v1, kind: Other}", "Thing", {"example.com/v1"});
  EXPECT_EQ(kind.status().message(),
            "no kind \"Other\" in apiVersion \"example.com/v1\": want Thing of example.com/v1");
  EXPECT_FALSE(ConfigDocument::Parse("[]", "Thing", {"v1"}).ok());
  EXPECT_FALSE(ConfigDocument::Parse("a: {", "Thing", {"v1"}).ok());
  EXPECT_FALSE(Read("name: a\nname: b\n").ok());  // duplicate key
}

}  // namespace
}  // namespace cox::apiserver
