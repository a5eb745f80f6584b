// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/access_path.h"

#include <optional>

namespace cox::apiserver {

AccessPath AccessPathOf(const ServedResource& resource, std::string_view ns,
                        const ReadOptions& options) {
  const fields::Selector& selector = options.field_selector;
  const bool namespaced = resource.kind().namespaced;
  if (namespaced && ns.empty()) {
    ns = selector.RequiresExactMatch("metadata.namespace").value_or(std::string_view());
  }
  AccessPath path{.prefix = resource.store().Prefix(namespaced ? ns : std::string_view())};
  const std::optional<std::string_view> name = selector.RequiresExactMatch("metadata.name");
  if (name && !name->empty() && (!namespaced || !ns.empty())) {
    path.prefix += *name;
    path.one_key = true;
    return path;
  }
  const std::string_view indexed = resource.strategy().IndexedField();
  if (!indexed.empty()) {
    path.field_value = selector.RequiresExactMatch(indexed).value_or(std::string_view());
  }
  return path;
}

storage::WatchOptions AccessPath::ToWatchOptions(storage::Revision after) const {
  storage::WatchOptions options;
  options.prefix = prefix;
  options.exact = one_key;
  options.after = after;
  options.field_value = field_value;
  return options;
}

Result<storage::Selection> ReadCurrent(Context& ctx, storage::WatchCache& cache,
                                       const AccessPath& path,
                                       const storage::Freshness& freshness) {
  if (!path.field_value.empty()) {
    COX_ASSIGN_OR_RETURN(storage::Selection found,
                         cache.ReadByField(ctx, freshness, path.field_value));
    // The index is of all namespaces.
    std::erase_if(found.entries, [&](const storage::EntryPtr& entry) {
      return !entry->key().starts_with(path.prefix);
    });
    return found;
  }
  COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr snapshot, cache.Read(ctx, freshness));
  storage::Selection found{{}, snapshot->revision()};
  if (path.one_key) {
    if (storage::EntryPtr entry = snapshot->Find(path.prefix)) found.entries.push_back(entry);
    return found;
  }
  snapshot->Visit(path.prefix, "", [&](const storage::EntryPtr& entry) {
    found.entries.push_back(entry);
    return true;
  });
  return found;
}

}  // namespace cox::apiserver
