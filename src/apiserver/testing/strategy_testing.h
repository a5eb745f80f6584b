// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/registry/store/strategy.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"
#include "object/defaults.h"
#include "object/patch/patch.h"

namespace cox::apiserver {

// For tests: calls the methods of a strategy in the order of the generic registry.
//
//   StrategyTester tester(NewDeploymentStrategy(), R"({"metadata": ..., "spec": ...})");
//   EXPECT_THAT(tester.CreateErrors(R"({"spec": {"replicas": -1}})"), ElementsAre("spec..."));
//
// Changes are JSON merge patches: of the base JSON for creates, of the stored object for updates.
class StrategyTester {
 public:
  StrategyTester(StrategyPtr strategy, std::string_view base)
      : strategy_(std::move(strategy)), base_(*json::Parse(base)) {}

  const Strategy& strategy() const { return *strategy_; }
  WriteContext context() { return {context_, user_, Time::FromUnix(1'700'000'000)}; }

  // The object with defaults, before PrepareForCreate.
  Object Decode(std::string_view patch = "{}") { return Patched(base_, patch); }
  // The object as it would be stored.
  Object Create(std::string_view patch = "{}") {
    Object object = Prepared(patch);
    strategy_->Canonicalize(object);
    return object;
  }
  std::vector<std::string> CreateErrors(std::string_view patch) {
    return Texts(strategy_->Validate(context(), Prepared(patch)));
  }
  Warnings CreateWarnings(std::string_view patch) {
    return strategy_->WarnOnCreate(context(), Prepared(patch));
  }

  Object Update(const Object& old, std::string_view patch, std::string_view subresource = "") {
    Object object = Patched(old.ToValue(), patch);
    object.object_meta()->generation = old.object_meta()->generation;
    How(subresource).PrepareForUpdate(context(), object, old);
    return object;
  }
  std::vector<std::string> UpdateErrors(const Object& old, std::string_view patch,
                                        std::string_view subresource = "") {
    return Texts(How(subresource).ValidateUpdate(context(), Update(old, patch, subresource), old));
  }

  // The cells as JSON: ["a","0/1",0].
  std::string Row(const Object& object) {
    Value::Array cells;
    for (Value& cell : strategy_->Row(object, context().now)) cells.push_back(std::move(cell));
    return json::Write(cells);
  }

  // The part of an object at `path` as JSON; "absent" if it does not exist.
  static std::string At(const Object& object, std::initializer_list<std::string_view> path) {
    Value value = object.ToValue();
    const Value* part = value.At(path);
    return part == nullptr ? "absent" : json::Write(*part);
  }

 private:
  const UpdateStrategy& How(std::string_view subresource) const {
    return subresource.empty() ? *strategy_ : *strategy_->Subresource(subresource);
  }

  Object Patched(const Value& from, std::string_view patch) {
    Result<Value> value =
        patch::Apply(patch::PatchType::kMerge, from, patch, *strategy_->kind().type);
    EXPECT_TRUE(value.ok()) << value.status().message() << "\n" << patch;
    Object object(strategy_->kind());
    Status status = object.FromValue(*std::move(value));
    EXPECT_TRUE(status.ok()) << status.message() << "\n" << patch;
    ApplyDefaults(object.type(), object.data());
    strategy_->SetDefaults(object);
    return object;
  }

  Object Prepared(std::string_view patch) {
    Object object = Decode(patch);
    object.object_meta()->uid = "11111111-2222-3333-4444-555555555555";
    strategy_->PrepareForCreate(context(), object);
    return object;
  }

  static std::vector<std::string> Texts(const FieldErrorList& errors) {
    std::vector<std::string> texts;
    for (const FieldError& error : errors) texts.push_back(error.ToString());
    return texts;
  }

  StrategyPtr strategy_;
  Value base_;
  UserInfo user_;
  TestClock clock_;
  Context context_{clock_};
};

// A patch and the expected errors.
struct ErrorCase {
  std::string_view patch;
  std::vector<std::string> errors;
};

inline void ExpectCreateErrors(StrategyTester& tester, const std::vector<ErrorCase>& cases) {
  for (const ErrorCase& c : cases) EXPECT_EQ(tester.CreateErrors(c.patch), c.errors) << c.patch;
}
inline void ExpectUpdateErrors(StrategyTester& tester, const Object& old,
                               const std::vector<ErrorCase>& cases,
                               std::string_view subresource = "") {
  for (const ErrorCase& c : cases) {
    EXPECT_EQ(tester.UpdateErrors(old, c.patch, subresource), c.errors) << c.patch;
  }
}

}  // namespace cox::apiserver
