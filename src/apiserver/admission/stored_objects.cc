// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/stored_objects.h"

namespace cox::apiserver {

Result<Object> FindObject(Context& ctx, const ResourceStore& store, std::string_view ns,
                          std::string_view name) {
  Result<Object> found = store.Get(ctx, ns, name, /*from_cache=*/true);
  if (found.status().Is(Reason::kNotFound)) found = store.Get(ctx, ns, name);
  return found;
}

Status VisitObjects(Context& ctx, const ResourceStore& store, std::string_view ns,
                    const std::function<bool(const Object&)>& visit) {
  const auto show = [&](std::string_view stored, storage::Revision revision) {
    const Result<Object> object = store.Decode(stored, revision);
    return !object.ok() || visit(*object);
  };
  const std::string prefix = store.Prefix(ns);
  const storage::SnapshotPtr now = store.cache() == nullptr ? nullptr : store.cache()->Current();
  if (now != nullptr) {
    now->Visit(prefix, {}, [&](const storage::EntryPtr& entry) {
      return show(entry->stored(), entry->revision());
    });
    return {};
  }
  COX_ASSIGN_OR_RETURN(const storage::Page page, store.storage().List(ctx, prefix, {}));
  for (const storage::KeyValue& kv : page.items) {
    if (!show(kv.value.view(), kv.revision)) break;
  }
  return {};
}

}  // namespace cox::apiserver
