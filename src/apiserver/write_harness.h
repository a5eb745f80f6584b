// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "apiserver/call_harness.h"
#include "apiserver/now.h"
#include "base/check.h"
#include "object/defaults.h"

namespace cox::apiserver {

// For tests: objects written to the registry itself, by a user of the test's choice, without
// handlers and admission. Each write waits until the caches have it.
class WriteHarness : public ApiHarness {
 public:
  UserInfo& user() { return user_; }  // who writes; system:masters at first

  // Returns its metadata.
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
                         resource.store().Create(Circumstances(), std::move(object), nullptr));
    CatchUp(resource.kind());
    return created;
  }
  Status TryUpdate(Object object) {
    const ServedResource& resource = registry().Hub(*Scheme::Builtin().FindKind(object.gvk()));
    const meta::v1::ObjectMeta meta = *object.object_meta();
    Result<ResourceStore::UpdateResult> updated = resource.store().Update(
        Circumstances(), {.ns = meta.namespace_,
                          .name = meta.name,
                          .change = [&](const Object*) -> Result<Object> { return object; }});
    CatchUp(resource.kind());
    return updated.status();
  }
  void Delete(const KindInfo& kind, std::string_view ns, std::string_view name) {
    COX_CHECK(registry().Hub(kind).store().Delete(Circumstances(), ns, name, {}, nullptr).ok());
    CatchUp(kind);
  }

 private:
  WriteContext Circumstances() { return {ctx(), user_, NowOf(ctx())}; }
  // Until the cache is as fresh as the store.
  void CatchUp(const KindInfo& kind) {
    COX_CHECK(registry().Hub(kind).store().cache()->Read(ctx(), {}).ok());
  }

  UserInfo user_{.name = "admin", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
};

}  // namespace cox::apiserver
