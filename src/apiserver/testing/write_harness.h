// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "apiserver/request/now.h"
#include "apiserver/testing/call_harness.h"
#include "base/check.h"
#include "object/defaults.h"

namespace cox::apiserver {

// For tests: writes objects directly to the registry as a given user, without handlers and
// admission. Each write waits until the caches contain it.
class WriteHarness : public ApiHarness {
 public:
  UserInfo& user() { return user_; }  // the writer; initially in system:masters

  // Returns the metadata of the created object.
  meta::v1::ObjectMeta Create(Object object) {
    Result<Object> created = TryCreate(std::move(object));
    COX_CHECK(created.ok());
    return *created->object_meta();
  }
  Result<Object> TryCreate(Object object) {
    const ServedResource& resource = registry().Hub(*Scheme::Builtin().FindKind(object.gvk()));
    ApplyDefaults(object.type(), object.data());
    resource.SetDefaults(object);
    COX_ASSIGN_OR_RETURN(Object created,
                         resource.store().Create(MakeWriteContext(), std::move(object), nullptr));
    Sync(resource.kind());
    return created;
  }
  Status TryUpdate(Object object) {
    const ServedResource& resource = registry().Hub(*Scheme::Builtin().FindKind(object.gvk()));
    const meta::v1::ObjectMeta meta = *object.object_meta();
    Result<ResourceStore::UpdateResult> updated = resource.store().Update(
        MakeWriteContext(), {.ns = meta.namespace_,
                             .name = meta.name,
                             .change = [&](const Object*) -> Result<Object> { return object; }});
    Sync(resource.kind());
    return updated.status();
  }
  // Updates an existing object.
  template <class T, class Change>
  Status TryChange(std::string_view name, Change change) {
    Result<Object> object = registry().Hub(T::kKind).store().Get(ctx(), "", name);
    if (!object.ok()) return object.status();
    change(*object->As<T>());
    return TryUpdate(std::move(*object));
  }
  // The stored object. If it does not exist, reports a failure and returns an empty object.
  template <class T>
  T Read(std::string_view name, std::string_view ns = {}) {
    Result<Object> found = registry().Hub(T::kKind).store().Get(ctx(), ns, name);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? *found->template As<T>() : T{};
  }
  storage::Revision Revision() { return store().CurrentRevision(ctx()).value_or(0); }
  void Delete(const KindInfo& kind, std::string_view ns, std::string_view name) {
    COX_CHECK(registry().Hub(kind).store().Delete(MakeWriteContext(), ns, name, {}, nullptr).ok());
    Sync(kind);
  }
  // Waits until all caches contain the current state of the store.
  void SyncAll() {
    for (const auto& [name, group] : registry().served()->groups()) {
      for (const ServedKind& served : group->kinds()) {
        if (served.resource != nullptr) Sync(*served.kind);
      }
    }
  }
  // The context for writes that have no method here.
  WriteContext MakeWriteContext() { return {ctx(), user_, NowOf(ctx())}; }

 private:
  UserInfo user_{.name = "admin", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
};

}  // namespace cox::apiserver
