// SPDX-License-Identifier: Apache-2.0
#include "object/testing/case_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "object/codec/json/json.h"
#include "tests/paths/paths.h"

namespace cox::patch {

const Value& Case::operator[](std::string_view field) const {
  static const Value none;
  const Value* value = fields_.Find(field);
  return value != nullptr ? *value : none;
}

std::string_view Case::Text(std::string_view field) const {
  const Value& value = (*this)[field];
  return value.is_string() ? value.as_string() : "";
}

std::vector<Precondition> Case::Preconditions() const {
  std::vector<Precondition> out;
  if (!(*this)["preconditions"].is_array()) return out;
  for (const Value& item : (*this)["preconditions"].as_array()) {
    std::string key(item.as_string());
    constexpr std::string_view kMetadata = "metadata.";
    out.push_back(key.starts_with(kMetadata)
                      ? RequireMetadataKeyUnchanged(key.substr(kMetadata.size()))
                      : RequireKeyUnchanged(key));
  }
  return out;
}

void Case::Expect(const Result<Value>& result) const {
  if (fields_.Find("error") != nullptr) {
    ASSERT_FALSE(result.ok()) << json::Write(fields_) << "\n got " << json::Write(*result);
    EXPECT_EQ(result.status().message(), Text("error")) << json::Write(fields_);
    return;
  }
  ASSERT_TRUE(result.ok()) << json::Write(fields_) << "\n got " << result.status().ToString();
  EXPECT_EQ(json::Write(*result), json::Write((*this)["expected"])) << json::Write(fields_);
}

std::vector<Case> ReadCases(const std::string& file) {
  std::string path = std::string(test::SourceDirectory()) + "/src/object/patch/testdata/" + file;
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path;
  std::stringstream text;
  text << stream.rdbuf();
  std::vector<Case> out;
  const Value cases = Json(text.str());
  for (const Value& item : cases.as_array()) out.emplace_back(item);
  return out;
}

Value Json(std::string_view text) {
  Result<Value> value = json::Parse(text);
  EXPECT_TRUE(value.ok()) << text << "\n" << value.status().ToString();
  return value.ok() ? *value : Value(Value::Array());
}

}  // namespace cox::patch
