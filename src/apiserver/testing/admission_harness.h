// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/testing/write_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {

// Fixture for plugin tests: calls a plugin with objects of the test. The plugin reads other objects
// from an in-memory API.
class PluginTest : public ::testing::Test {
 protected:
  // Allows the requests in `allowed` and records all requests: "approve signers example.com/a".
  class FakeAuthorizer final : public Authorizer {
   public:
    Decision Decide(const UserInfo&, const RequestInfo& request, const Selectors&) const override {
      std::string what = request.verb + " " + request.resource;
      if (!request.subresource.empty()) what += "/" + request.subresource;
      what += " " + request.name;
      authorized.push_back(what);
      for (const std::string& one : allowed) {
        if (one == what) return {true, {}};
      }
      return {false, {}};
    }
    UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }

    std::vector<std::string> allowed;
    mutable std::vector<std::string> authorized;
  };

  static Object Of(const KindInfo& kind, std::string_view json) {
    Object object(kind);
    const Result<Value> value = json::Parse(json);
    EXPECT_TRUE(value.ok()) << json;
    if (value.ok()) {
      EXPECT_TRUE(object.FromValue(*value).ok()) << json;
    }
    return object;
  }
  template <class T>
  static Object Of(std::string_view json) {
    return Of(T::kKind, json);
  }

  AdmissionRequest Request(Operation operation, const Object& object, const Object* old = nullptr,
                           std::string subresource = {}) {
    const KindInfo* kind = Scheme::Builtin().FindKind(object.gvk());
    return {.operation = operation,
            .resource = api_.registry().Hub(*kind),
            .subresource = std::move(subresource),
            .ns = object.object_meta()->namespace_,
            .name = object.object_meta()->name,
            .user = user_,
            .object = &object,
            .old = old};
  }
  // Return the error of the plugin; empty if the request is admitted.
  std::string OnCreate(const AdmissionPlugin& plugin, Object& object,
                       std::string subresource = {}) {
    const AdmissionRequest request =
        Request(Operation::kCreate, object, nullptr, std::move(subresource));
    const Status mutated = plugin.Mutate(api_.ctx(), request, object);
    return mutated.ok() ? plugin.Validate(api_.ctx(), request).message() : mutated.message();
  }
  std::string OnUpdate(const AdmissionPlugin& plugin, Object& object, const Object& old,
                       std::string subresource = {}) {
    const AdmissionRequest request =
        Request(Operation::kUpdate, object, &old, std::move(subresource));
    const Status mutated = plugin.Mutate(api_.ctx(), request, object);
    return mutated.ok() ? plugin.Validate(api_.ctx(), request).message() : mutated.message();
  }

  WriteHarness api_;
  FakeAuthorizer authorizer_;
  AdmissionParts parts_{.registry = api_.registry(), .authorizer = authorizer_};
  UserInfo user_{.name = "jane", .uid = {}, .groups = {}, .extra = {}};
};

}  // namespace cox::apiserver
