// SPDX-License-Identifier: Apache-2.0
// For tests: runs the creates of a recorded scenario through a strategy and compares the errors.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "apiserver/registry/store/names.h"
#include "apiserver/registry/store/strategy.h"
#include "base/testing/test_clock.h"
#include "object/codec.h"
#include "object/defaults.h"

namespace cox::apiserver {

// Runs a create like the generic registry, without storing the object. Returns the error message;
// empty if the object is valid.
inline std::string TryCreate(const Strategy& strategy, Object& object) {
  TestClock clock;
  Context ctx(clock);
  const UserInfo user{.name = "admin"};
  const WriteContext w{ctx, user, Time()};
  ApplyDefaults(object.type(), object.data());
  strategy.SetDefaults(object);
  strategy.PrepareForCreate(w, object);
  FieldErrorList errors =
      ValidateMeta(*object.object_meta(), strategy.kind().namespaced, strategy.name_rule());
  Append(errors, strategy.Validate(w, object));
  if (errors.empty()) return {};
  return NewInvalid(strategy.kind().group, strategy.kind().kind, object.object_meta()->name, errors)
      .message();
}

// Returns the number of compared creates; those in `skip` are omitted. Creates that failed for
// reasons other than validation count as valid.
inline int CompareCreates(const Strategy& strategy, const std::filesystem::path& scenario,
                          const std::set<std::string>& skip = {}) {
  std::ifstream in(scenario, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  Result<Value> recorded = json::Parse(text.str());
  if (!recorded.ok()) return 0;
  int compared = 0;
  for (const Value& step : recorded->Find("steps")->as_array()) {
    const std::string id(step.Find("id")->as_string());
    const Value* body = step.Find("body");
    const Value* method = step.Find("method");
    const bool create = method != nullptr && *method == Value("POST");
    if (!create || body == nullptr || !body->is_object() || skip.contains(id)) continue;
    const Value* kind = body->Find("kind");
    if (kind == nullptr || *kind != Value(strategy.kind().kind)) continue;
    Result<Object> object =
        DecodeObject(json::Write(*body), Format::kJson, Scheme::Builtin(), nullptr);
    EXPECT_TRUE(object.ok()) << id << ": " << object.status().ToString();
    if (!object.ok()) continue;
    std::string expected;
    if (step.At({"expect", "status"})->as_int() == 422) {
      expected = step.At({"expect", "body", "message"})->as_string();
    }
    EXPECT_EQ(TryCreate(strategy, *object), expected) << scenario << " " << id;
    ++compared;
  }
  return compared;
}

}  // namespace cox::apiserver
