// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/compactor.h"

#include <string>
#include <string_view>
#include <utility>

namespace cox::storage {
namespace {

// The same key as upstream: the only key outside of the prefix that API servers write.
constexpr std::string_view kKey = "compact_rev_key";

}  // namespace

Result<CompactionRound::Outcome> CompactionRound::Try(Context& ctx, EtcdStore& store) {
  COX_ASSIGN_OR_RETURN(const EtcdStore::VersionedWrite write,
                       store.PutIfVersion(ctx, kKey, version_, std::to_string(revision_)));
  version_ = write.version;
  const Revision compact_to = std::exchange(revision_, write.revision);
  if (!write.written) return Outcome::kLate;
  if (compact_to == 0) return Outcome::kNoted;
  const Status compacted = store.Compact(ctx, compact_to);
  // Expired: already compacted by another client, for example an administrator.
  if (!compacted.ok() && !compacted.Is(Reason::kExpired)) return compacted;
  return Outcome::kCompacted;
}

Compactor::Compactor(const Context& ctx, EtcdStore& store, std::chrono::seconds interval)
    : store_(store), interval_(interval), scope_(ctx, "etcd-compactor") {
  const Status started = scope_.Go("etcd-compactor", [this](Context& work) { Run(work); });
  if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start the compactor");
}

Compactor::~Compactor() {
  scope_.Stop();
  scope_.Wait();
}

void Compactor::Run(Context& ctx) {
  CompactionRound round;
  while (ctx.Sleep(interval_).ok()) {
    const Result<CompactionRound::Outcome> outcome = round.Try(ctx, store_);
    if (ctx.Done()) return;
    if (!outcome.ok()) {
      COX_ERROR(ctx.log(), outcome.status(), "Could not compact etcd");
    } else if (*outcome == CompactionRound::Outcome::kCompacted) {
      COX_V(ctx.log(), 1, "Compacted etcd");
    }
  }
}

std::unique_ptr<Compactor> StartCompactor(const Context& ctx, EtcdStore& store,
                                          std::chrono::seconds interval) {
  if (interval.count() <= 0) return nullptr;
  return std::make_unique<Compactor>(ctx, store, interval);
}

}  // namespace cox::storage
