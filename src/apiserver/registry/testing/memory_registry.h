// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/handlers/respond.h"
#include "apiserver/registry/registry.h"
#include "base/check.h"
#include "base/test_clock.h"
#include "object/defaults.h"
#include "storage/memory/memory_store.h"

namespace cox::apiserver {

// For tests: all kinds over a store in memory, with their caches filled, at a time that the test
// moves.
class MemoryRegistry {
 public:
  MemoryRegistry()
      : ctx_(clock_, Logger()),
        store_(storage::NewMemoryStore(clock_)),
        registry_(ctx_, {.storage = [this](const KindInfo&) -> storage::Store& { return *store_; },
                         .root = "/registry",
                         .metrics = nullptr,
                         .serves = [](const KindInfo&) { return true; }}) {
    COX_CHECK(registry_.WaitReady(ctx_).ok());
  }
  ~MemoryRegistry() { ctx_.Stop(); }

  Context& ctx() { return ctx_; }
  TestClock& clock() { return clock_; }
  int64_t now() const { return NowOf(ctx_).unix_seconds(); }
  const Registry& registry() const { return registry_; }
  UserInfo& user() { return user_; }  // who writes

  // Creates it and waits until the cache has it. Returns its metadata.
  meta::v1::ObjectMeta Create(Object object) {
    Result<Object> created = TryCreate(std::move(object));
    COX_CHECK(created.ok());
    return *created->object_meta();
  }
  Result<Object> TryCreate(Object object) {
    const ServedResource& resource = registry_.Hub(*Scheme::Builtin().FindKind(object.gvk()));
    ApplyDefaults(object.type(), object.data());
    resource.SetDefaults(object);
    COX_ASSIGN_OR_RETURN(Object created,
                         resource.store().Create(Circumstances(), std::move(object), nullptr));
    COX_ASSIGN_OR_RETURN(const storage::Revision revision,
                         ParseResourceVersion(created.object_meta()->resourceVersion));
    COX_RETURN_IF_ERROR(resource.store().cache()->WaitFor(ctx_, revision));
    return created;
  }
  Status TryUpdate(Object object) {
    const ServedResource& resource = registry_.Hub(*Scheme::Builtin().FindKind(object.gvk()));
    const meta::v1::ObjectMeta meta = *object.object_meta();
    return resource.store()
        .Update(Circumstances(),
                {.ns = meta.namespace_,
                 .name = meta.name,
                 .change = [&](const Object*) -> Result<Object> { return object; }})
        .status();
  }
  // Deletes it and waits until the cache knows.
  void Delete(const KindInfo& kind, std::string_view ns, std::string_view name) {
    const ResourceStore& store = registry_.Hub(kind).store();
    COX_CHECK(registry_.Hub(kind).store().Delete(Circumstances(), ns, name, {}, nullptr).ok());
    COX_CHECK(store.cache()->Read(ctx_, {}).ok());  // as fresh as the store
  }

 private:
  WriteContext Circumstances() { return {ctx_, user_, NowOf(ctx_)}; }

  TestClock clock_;
  Context ctx_;
  std::unique_ptr<storage::Store> store_;
  Registry registry_;
  UserInfo user_{.name = "admin", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
};

}  // namespace cox::apiserver
