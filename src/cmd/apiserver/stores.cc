// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/stores.h"

#include <utility>

#include "cmd/duration_flag.h"
#include "storage/etcd/database_size.h"
#include "storage/etcd/etcd_store.h"
#include "storage/memory/memory_store.h"

namespace cox::cmd {

Result<OpenedStores> OpenStores(const Context& ctx, const Flags& flags, MetricsRegistry& metrics) {
  OpenedStores opened;
  if (flags.Get("storage-backend") == "memory") {
    opened.memory = storage::NewMemoryStore(ctx.clock());
    return opened;
  }
  if (!flags.Has("etcd-servers")) {
    return Status::BadRequest("--etcd-servers must be specified (or --storage-backend=memory)");
  }
  COX_ASSIGN_OR_RETURN(const std::chrono::seconds compaction,
                       SecondsOf(flags, "etcd-compaction-interval"));
  std::vector<storage::EtcdOverride> overrides;
  for (const std::string& text : flags.GetList("etcd-servers-overrides")) {
    COX_ASSIGN_OR_RETURN(storage::EtcdOverride override, storage::ParseEtcdOverride(text));
    overrides.push_back(std::move(override));
  }
  COX_ASSIGN_OR_RETURN(opened.routed, storage::StoreRouter::Create(
                                          {.servers = flags.GetList("etcd-servers"),
                                           .tls = {},
                                           .ca_file = flags.Get("etcd-cafile"),
                                           .certificate_file = flags.Get("etcd-certfile"),
                                           .key_file = flags.Get("etcd-keyfile")},
                                          overrides, [&ctx](storage::EtcdOptions options) {
                                            return storage::ConnectEtcd(ctx, std::move(options));
                                          }));
  std::vector<storage::EtcdStore*> stores;
  for (const auto& store : opened.routed->stores()) {
    opened.compactors.push_back(storage::StartCompactor(ctx, *store, compaction));
    stores.push_back(store.get());
  }
  opened.metrics.push_back(storage::ExportDatabaseSizes(ctx, metrics, std::move(stores)));
  return opened;
}

}  // namespace cox::cmd
