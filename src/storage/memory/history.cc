// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/history.h"

#include <algorithm>
#include <utility>

#include "storage/errors.h"

namespace cox::storage::internal {

const History::Version* History::At(const Versions& versions, Revision at) {
  // Search from the newest version, which most reads request.
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    if (it->kv.revision <= at) return it->deleted ? nullptr : &*it;
  }
  return nullptr;
}

const KeyValue* History::Find(std::string_view key) const {
  const auto it = keys_.find(key);
  if (it == keys_.end() || it->second.back().deleted) return nullptr;
  return &it->second.back().kv;
}

Revision History::Begin() { return ++revision_; }

void History::Append(Keys::iterator key, Version version, bool created) {
  if (!key->second.empty()) past_bytes_ += key->second.back().kv.value.size();
  log_.push_back({revision_, key, version.deleted, created, version.kv.value});
  key->second.push_back(std::move(version));
}

void History::Put(std::string_view key, Bytes value) {
  auto it = keys_.find(key);
  if (it == keys_.end()) it = keys_.emplace(std::string(key), Versions()).first;
  const bool created = it->second.empty() || it->second.back().deleted;
  Append(it, {{it->first, std::move(value), revision_}, false}, created);
}

void History::Delete(std::string_view key) {
  const auto it = keys_.find(key);
  Append(it, {{it->first, {}, revision_}, true}, false);
}

Status History::CheckReadable(Revision at) const {
  if (at < compacted_) return CompactedError(at, compacted_);
  if (at > revision_) return FutureRevisionError(at, revision_);
  return {};
}

Result<Page> History::List(std::string_view prefix, const ListOptions& options) const {
  const Revision at = options.at == 0 ? revision_ : options.at;
  COX_RETURN_IF_ERROR(CheckReadable(at));
  Page page;
  page.revision = options.at == 0 ? revision_ : options.at;
  const std::string_view start = std::max<std::string_view>(prefix, options.start);
  for (auto it = keys_.lower_bound(start); it != keys_.end() && it->first.starts_with(prefix);
       ++it) {
    const Version* version = At(it->second, at);
    if (version == nullptr) continue;
    ++page.count;
    if (options.limit > 0 && std::ssize(page.items) == options.limit) {
      page.more = true;
    } else if (options.keys_only) {
      page.items.push_back({version->kv.key, {}, version->kv.revision});
    } else {
      page.items.push_back(version->kv);
    }
  }
  return page;
}

Revision History::Replay(std::string_view prefix, Revision after, size_t enough,
                         std::vector<Event>& out) const {
  auto it = std::partition_point(log_.begin(), log_.end(),
                                 [after](const Change& c) { return c.revision <= after; });
  for (; it != log_.end(); ++it) {
    if (out.size() >= enough && it->revision != out.back().kv.revision) return it->revision - 1;
    const std::string& key = it->key->first;
    if (!key.starts_with(prefix)) continue;
    out.push_back({it->deleted ? Event::Type::kDelete : Event::Type::kPut,
                   {key, it->value, it->revision},
                   it->created});
  }
  return revision_;
}

Status History::Compact(Revision revision) {
  if (revision <= compacted_) return CompactedError(revision, compacted_);
  if (revision > revision_) return FutureRevisionError(revision, revision_);
  CompactTo(revision);
  return {};
}

void History::Trim() {
  // Compact half of the changes at once, so that the amortized cost per write is constant. The loop
  // terminates, because every superseded version has a superseding change in the log.
  while (log_.size() > max_changes_ || past_bytes_ > max_past_bytes_) {
    const Revision oldest = log_.front().revision;
    Revision target = log_[log_.size() / 2].revision;
    if (target == oldest) target = log_.back().revision;
    if (target == oldest) return;  // a single revision stays
    CompactTo(target);
  }
}

void History::CompactTo(Revision revision) {
  compacted_ = revision;
  // Only keys that changed up to `revision` can have versions to drop.
  while (!log_.empty() && log_.front().revision < revision) {
    const Change change = std::move(log_.front());
    log_.pop_front();
    Prune(change.key);
    // A deletion without a later write is visible at no readable revision. Erase the key only now,
    // because this is the last change in the log that points to it.
    const Versions& versions = change.key->second;
    if (change.deleted && versions.size() == 1 && versions.front().kv.revision == change.revision) {
      keys_.erase(change.key);
    }
  }
  for (const Change& change : log_) {
    if (change.revision > revision) break;
    Prune(change.key);
  }
}

void History::Prune(Keys::iterator key) {
  Versions& versions = key->second;
  auto keep = versions.begin();
  while (keep + 1 != versions.end() && (keep + 1)->kv.revision <= compacted_) {
    past_bytes_ -= keep->kv.value.size();
    ++keep;
  }
  versions.erase(versions.begin(), keep);
}

}  // namespace cox::storage::internal
