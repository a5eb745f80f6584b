// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/registry/store/names.h"
#include "apiserver/registry/store/strategy.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"
#include "object/defaults.h"
#include "object/patch/merge_patch.h"

// For tests: calls the methods of a strategy in the order of the registry, without storage and
// admission.
namespace cox::apiserver {

class StrategyHarness {
 public:
  struct Outcome {
    std::string error;  // "spec.x: Required value", "[..., ...]"; empty: the object is valid
    Warnings warnings;
    Object object;

    // The object as JSON without metadata, kind and apiVersion.
    std::string Text() const {
      Value value = object.ToValue();
      for (std::string_view key : {"kind", "apiVersion", "metadata"}) value.as_object().Erase(key);
      return json::Write(value);
    }
  };

  explicit StrategyHarness(StrategyPtr strategy) : strategy_(std::move(strategy)) {}

  const Strategy& strategy() const { return *strategy_; }
  UserInfo& user() { return user_; }
  // Sets the version of requests; null: the hub version.
  void SetServedVersion(const KindInfo* kind) { served_as_ = kind; }

  // Decodes an object like a request: with defaults, and in the namespace "ns" if the kind is
  // namespaced.
  Object Decode(std::string_view text) {
    const KindInfo& kind = served_as_ == nullptr ? strategy_->kind() : *served_as_;
    Object object(kind);
    Result<Value> value = json::Parse(text);
    EXPECT_TRUE(value.ok()) << text;
    Status status = object.FromValue(*value);
    EXPECT_TRUE(status.ok()) << status.message() << text;
    if (kind.namespaced && object.object_meta()->namespace_.empty()) {
      object.object_meta()->namespace_ = "ns";
    }
    return ToHub(std::move(object));
  }

  Outcome Create(std::string_view text) {
    Object object = Decode(text);
    WriteContext w = MakeWriteContext();
    strategy_->PrepareForCreate(w, object);
    meta::v1::ObjectMeta& meta = *object.object_meta();
    meta.uid = "uid";
    meta.resourceVersion = "1";
    meta.creationTimestamp = w.now;
    FieldErrorList errors =
        ValidateMeta(meta, strategy_->kind().namespaced, strategy_->name_rule());
    Append(errors, strategy_->Validate(w, object));
    Warnings warnings = strategy_->WarnOnCreate(w, object);
    if (errors.empty()) strategy_->Canonicalize(object);
    return {AggregateText(errors), std::move(warnings), std::move(object)};
  }

  // Applies a JSON merge patch to `old` and updates the object or its `subresource`.
  Outcome Update(const Object& old, std::string_view patch, std::string_view subresource = "") {
    Result<Value> parsed = json::Parse(patch);
    EXPECT_TRUE(parsed.ok()) << patch;
    Result<Value> patched = patch::ApplyMergePatch(FromHub(old).ToValue(), *parsed);
    EXPECT_TRUE(patched.ok()) << patch;
    return Replace(old, json::Write(*patched), subresource);
  }
  // Updates with a complete new object.
  Outcome Replace(const Object& old, std::string_view text, std::string_view subresource = "") {
    Object object = Decode(text);
    const UpdateStrategy* way =
        subresource.empty() ? strategy_.get() : strategy_->Subresource(subresource);
    if (way == nullptr) {
      ADD_FAILURE() << "no subresource " << subresource;
      return {"", {}, std::move(object)};
    }
    WriteContext w = MakeWriteContext();
    way->PrepareForUpdate(w, object, old);
    FieldErrorList errors = ValidateMetaUpdate(*object.object_meta(), *old.object_meta());
    Append(errors, way->ValidateUpdate(w, object, old));
    Warnings warnings = way->WarnOnUpdate(w, object, old);
    if (errors.empty()) way->Canonicalize(object);
    return {AggregateText(errors), std::move(warnings), std::move(object)};
  }

  // The cells of `kubectl get -o wide` one hour after creation, as a JSON list.
  std::string Row(const Object& object) {
    Value::Array cells;
    Time later = Now() + cox::Duration::Seconds(3600);
    for (Value& cell : strategy_->Row(object, later)) cells.push_back(std::move(cell));
    EXPECT_EQ(cells.size(), strategy_->Columns().size());
    return json::Write(Value(std::move(cells)));
  }

 private:
  static Time Now() { return Time::FromUnix(1'700'000'000); }
  WriteContext MakeWriteContext() {
    return {.ctx = context_, .user = user_, .now = Now(), .served_as = served_as_};
  }
  const ServedVersion* Served() const {
    for (const ServedVersion* version : strategy_->Versions()) {
      if (&version->kind() == served_as_) return version;
    }
    return nullptr;
  }
  Object ToHub(Object object) const {
    ApplyDefaults(object.type(), object.data());
    if (const ServedVersion* version = Served()) {
      version->SetDefaults(object);
      object = version->ToHub(object);
      ApplyDefaults(object.type(), object.data());
    }
    strategy_->SetDefaults(object);
    return object;
  }
  Object FromHub(const Object& hub) const {
    const ServedVersion* version = Served();
    return version == nullptr ? hub : version->FromHub(hub);
  }

  StrategyPtr strategy_;
  const KindInfo* served_as_ = nullptr;
  UserInfo user_;
  TestClock clock_;
  Context context_{clock_};
};

// A new object and its expected errors. The metadata is added.
struct CreateCase {
  std::string_view spec;  // members of the object except metadata, without braces
  std::string_view error;
};
inline void ExpectCreate(StrategyHarness& harness, std::span<const CreateCase> cases) {
  for (const CreateCase& c : cases) {
    std::string text = R"({"metadata":{"name":"a"})";
    if (!c.spec.empty()) text.append(",").append(c.spec);
    EXPECT_EQ(harness.Create(text + "}").error, c.error) << c.spec;
  }
}

}  // namespace cox::apiserver
