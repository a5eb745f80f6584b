// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/consistency_check.h"

#include <vector>

#include "base/strings.h"
#include "storage/errors.h"

namespace cox::storage {
namespace {

// Only keys are listed, so a page is smaller than a megabyte.
constexpr int64_t kPage = 10'000;

// Compares one page; sets `next` to the start of the following page.
std::string ComparePage(const Page& page, const std::string& prefix, const Snapshot& snapshot,
                        std::string& next) {
  std::string difference;
  size_t at = 0;
  const auto& items = page.items;
  snapshot.Visit(prefix, next, [&](const EntryPtr& entry) {
    if (at == items.size()) {
      if (!page.more) difference = Quote(entry->key()) + " is not in the store";
      return false;
    }
    const KeyValue& kv = items[at++];
    if (entry->key() < kv.key) {
      difference = Quote(entry->key()) + " is not in the store";
    } else if (entry->key() > kv.key) {
      difference = Quote(kv.key) + " is not in the cache";
    } else if (entry->revision() != kv.revision) {
      difference = Quote(kv.key) + " has revision " + std::to_string(kv.revision) + ", not " +
                   std::to_string(entry->revision());
    }
    return difference.empty();
  });
  if (difference.empty() && at < items.size()) {
    difference = Quote(items[at].key) + " is not in the cache";
  }
  if (!items.empty()) next = items.back().key + '\0';
  return difference;
}

}  // namespace

Result<std::string> FindDifference(Context& ctx, Store& store, const std::string& prefix,
                                   const Snapshot& snapshot) {
  ListOptions options;
  options.at = snapshot.revision();
  options.limit = kPage;
  options.keys_only = true;
  for (;;) {
    Result<Page> page = store.List(ctx, prefix, options);
    // The cache's revision came from the store, so the store was reset to an older state.
    if (!page.ok() && IsFutureRevision(page.status())) return page.status().message();
    if (!page.ok()) return page.status();
    std::string difference = ComparePage(*page, prefix, snapshot, options.start);
    if (!difference.empty() || !page->more || page->items.empty()) return difference;
  }
}

}  // namespace cox::storage
