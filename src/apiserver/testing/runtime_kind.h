// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/store/strategy.h"
#include "object/scheme.h"
#include "object/type/kind_definition.h"

namespace cox::apiserver {

// A kind for tests that add and remove kinds at run time. Its objects have the fields of a
// ConfigMap.
struct RuntimeKindOptions {
  std::string group = "example.com";
  std::string kind = "Widget";
  std::string plural = "widgets";
  std::vector<std::string> versions = {"v1"};  // the first one is the hub
  std::vector<std::string> short_names = {};
  std::string column = "Name";  // the title of the first column
  bool namespaced = true;
};

class RuntimeKindStrategy final : public Strategy {
 public:
  explicit RuntimeKindStrategy(RuntimeKindOptions options) : options_(std::move(options)) {
    std::vector<const KindInfo*> kinds;
    for (const std::string& version : options_.versions) {
      const GroupVersionKind gvk{options_.group, version, options_.kind};
      const KindDefinition& definition = definitions_.emplace_back(
          KindDefinition::Options{.gvk = gvk,
                                  .plural = options_.plural,
                                  .singular = options_.kind,
                                  .short_names = options_.short_names,
                                  .namespaced = options_.namespaced,
                                  .verbs = {"create", "delete", "deletecollection", "get", "list",
                                            "patch", "update", "watch"},
                                  .type = {std::shared_ptr<void>(), &core::v1::ConfigMap::kType}});
      kinds.push_back(&definition.info());
      if (kinds.size() > 1)
        versions_.push_back(std::make_unique<Version>(*kinds[0], *kinds.back()));
    }
    for (const auto& version : versions_) version_pointers_.push_back(version.get());
    scheme_ = std::make_unique<const Scheme>(kinds, Scheme::Builtin());
    storage_prefix_ = options_.group + "/" + options_.plural;
    columns_ = {{.name = options_.column, .type = "string", .format = "name"},
                {.name = "Age", .type = "string"}};
  }

  const KindInfo& kind() const override { return definitions_.front().info(); }
  const Scheme& scheme() const override { return *scheme_; }
  std::string_view storage_prefix() const override { return storage_prefix_; }
  bool stored_as_json() const override { return true; }
  void PrepareForCreate(const WriteContext&, Object&) const override {}
  void PrepareForUpdate(const WriteContext&, Object&, const Object&) const override {}
  FieldErrorList Validate(const WriteContext&, const Object&) const override { return {}; }
  FieldErrorList ValidateUpdate(const WriteContext&, const Object&, const Object&) const override {
    return {};
  }
  std::span<const Column> Columns() const override { return columns_; }
  Cells Row(const Object& object, const Time& now) const override {
    const meta::v1::ObjectMeta& meta = *object.object_meta();
    return {meta.name, Age(meta.creationTimestamp, now)};
  }
  std::span<const ServedVersion* const> Versions() const override { return version_pointers_; }

 private:
  // Versions differ only in their name.
  class Version final : public ServedVersion {
   public:
    Version(const KindInfo& hub, const KindInfo& kind) : hub_(hub), kind_(kind) {}
    const KindInfo& kind() const override { return kind_; }
    Object ToHub(const Object& object) const override { return Renamed(object, hub_); }
    Object FromHub(const Object& hub) const override { return Renamed(hub, kind_); }

   private:
    static Object Renamed(const Object& object, const KindInfo& as) {
      Object renamed(as);
      *renamed.As<core::v1::ConfigMap>() = *object.As<core::v1::ConfigMap>();
      return renamed;
    }
    const KindInfo& hub_;
    const KindInfo& kind_;
  };

  const RuntimeKindOptions options_;
  std::deque<KindDefinition> definitions_;
  std::vector<std::unique_ptr<Version>> versions_;
  std::vector<const ServedVersion*> version_pointers_;
  std::unique_ptr<const Scheme> scheme_;
  std::string storage_prefix_;
  std::vector<Column> columns_;
};

inline SharedStrategy NewRuntimeKind(RuntimeKindOptions options = {}) {
  return std::make_shared<const RuntimeKindStrategy>(std::move(options));
}

}  // namespace cox::apiserver
