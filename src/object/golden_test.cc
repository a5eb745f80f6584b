// SPDX-License-Identifier: Apache-2.0
// Round trips of upstream's reference data for every kind through every codec.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "object/codec.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/equal.h"
#include "tests/paths/paths.h"

namespace cox {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(test::SharedDirectory()) / "data" / "api-golden";

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> GoldenKinds() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(kGolden, missing)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Derives the kind from a file name: "apps.v1.Deployment"; "core" is the empty group.
GroupVersionKind KindOf(const std::string& name) {
  size_t kind = name.rfind('.');
  size_t version = name.rfind('.', kind - 1);
  std::string group = name.substr(0, version);
  return {group == "core" ? "" : group, name.substr(version + 1, kind - version - 1),
          name.substr(kind + 1)};
}

Object MustDecode(const std::string& name, const char* extension, Format format) {
  json::Strictness strict;
  GroupVersionKind expected = KindOf(name);  // a WatchEvent has no kind and apiVersion
  Result<Object> object = DecodeObject(ReadFile(kGolden / (name + extension)), format,
                                       Scheme::Builtin(), &expected, &strict);
  EXPECT_TRUE(object.ok()) << object.status().ToString();
  EXPECT_TRUE(strict.errors.empty()) << strict.errors[0];
  return object.ok() ? *std::move(object) : Object(GroupVersionKind{}, types::kAny, Value());
}

std::string Encoded(const Object& object, Format format) {
  std::string out;
  EncodeObject(object, format, &out);
  return out;
}

class GoldenTest : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenTest);

TEST_P(GoldenTest, ProtobufIsByteIdentical) {
  std::string bytes = ReadFile(kGolden / (GetParam() + ".pb"));
  Object object = MustDecode(GetParam(), ".pb", Format::kProtobuf);
  EXPECT_EQ(Encoded(object, Format::kProtobuf), bytes);
}

TEST_P(GoldenTest, JsonIsSemanticallyIdentical) {
  std::string text = ReadFile(kGolden / (GetParam() + ".json"));
  Object object = MustDecode(GetParam(), ".json", Format::kJson);
  Result<Value> expected = json::Parse(text);
  ASSERT_TRUE(expected.ok());
  Result<Value> written = json::Parse(Encoded(object, Format::kJson));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(json::Write(*written), json::Write(*expected));
  // The same without encoding to text.
  EXPECT_EQ(json::Write(object.ToValue()), json::Write(*expected));
}

TEST_P(GoldenTest, YamlIsByteIdentical) {
  std::string text = ReadFile(kGolden / (GetParam() + ".yaml"));
  Object object = MustDecode(GetParam(), ".yaml", Format::kYaml);
  EXPECT_EQ(Encoded(object, Format::kYaml), text);
}

TEST_P(GoldenTest, AllFormatsDecodeToTheSameObject) {
  Object from_json = MustDecode(GetParam(), ".json", Format::kJson);
  Object from_yaml = MustDecode(GetParam(), ".yaml", Format::kYaml);
  EXPECT_EQ(from_json.ToValue(),
            from_yaml.ToValue());  // embedded raw JSON may differ in its key order
  std::string bytes = Encoded(from_json, Format::kProtobuf);
  GroupVersionKind expected = KindOf(GetParam());
  Result<Object> again = DecodeObject(bytes, Format::kProtobuf, Scheme::Builtin(), &expected);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(Encoded(*again, Format::kProtobuf), bytes);
}

TEST_P(GoldenTest, CopiesAreEqualAndIndependent) {
  Object object = MustDecode(GetParam(), ".json", Format::kJson);
  Object copy = object;
  EXPECT_TRUE(copy == object);
  ASSERT_TRUE(copy.FromValue(Value::MakeObject()).ok());
  EXPECT_FALSE(copy == object);
}

INSTANTIATE_TEST_SUITE_P(Kinds, GoldenTest, testing::ValuesIn(GoldenKinds()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(GoldenData, IsComplete) {
  size_t kinds = GoldenKinds().size();
  if (kinds == 0)
    GTEST_SKIP() << "no reference data at " << kGolden << ": codecs are tested without it only";
  EXPECT_EQ(kinds, 185u);
}

}  // namespace
}  // namespace cox
