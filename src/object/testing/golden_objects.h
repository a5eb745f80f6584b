// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "object/codec.h"
#include "object/codec/json/json.h"
#include "tests/paths/paths.h"

// For tests: objects of built-in kinds. ForEachGoldenObject has the reference objects of all kinds
// and random parts of them.
namespace cox {

// An object of a built-in kind; a failure of the test if it is invalid.
inline Object ObjectFromJson(std::string_view json) {
  Result<Object> object = DecodeObject(json, Format::kJson, Scheme::Builtin());
  EXPECT_TRUE(object.ok()) << object.status().ToString();
  return *std::move(object);
}

// Removes members with a small probability, and shortens lists.
inline void ThinOut(Value& value, std::mt19937& random) {
  const auto happens = [&](unsigned percent) { return random() % 100 < percent; };
  if (value.is_object()) {
    std::vector<std::string> removed;
    for (auto& [key, member] : value.as_object()) {
      if (happens(15) && key != "apiVersion" && key != "kind") {
        removed.push_back(key);
      } else {
        ThinOut(member, random);
      }
    }
    for (const std::string& key : removed) value.as_object().Erase(key);
  } else if (value.is_array()) {
    Value::Array& items = value.as_array();
    if (!items.empty() && happens(20)) items.pop_back();
    for (Value& item : items) ThinOut(item, random);
  }
}

// Calls use(a, b) with `pairs` pairs of random parts of each reference object; the first `a` is the
// whole object. They have no managedFields. False: the reference objects are missing.
template <class Use>
bool ForEachGoldenObject(int pairs, Use use) {
  namespace fs = std::filesystem;
  std::error_code missing;
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(test::SharedDirectory()) / "data" / "api-golden", missing)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::mt19937 random(1);  // NOLINT: the same objects in each run
  for (const fs::path& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    Result<Value> whole = json::Parse(text.str());
    if (!whole.ok()) continue;
    Value* const metadata = whole->Find("metadata");
    if (metadata == nullptr || !metadata->is_object()) continue;
    metadata->as_object().Erase("managedFields");
    for (int i = 0; i < pairs; ++i) {
      Value a = *whole;
      Value b = *whole;
      if (i > 0) ThinOut(a, random);
      ThinOut(b, random);
      const auto first = DecodeObject(json::Write(a), Format::kJson, Scheme::Builtin());
      const auto second = DecodeObject(json::Write(b), Format::kJson, Scheme::Builtin());
      if (first.ok() && second.ok() && first->object_meta() != nullptr) use(*first, *second);
    }
  }
  return !files.empty();
}

}  // namespace cox
