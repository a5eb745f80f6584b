// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/database_size.h"

#include <chrono>
#include <string>
#include <utility>

namespace cox::storage {
namespace {

constexpr std::chrono::seconds kTimeout{2};

}  // namespace

MetricHandle ExportDatabaseSizes(const Context& ctx, MetricsRegistry& registry,
                                 std::vector<EtcdStore*> stores) {
  return registry.AddGaugeCallback(
      {.name = "apiserver_storage_size_bytes",
       .help = "Bytes that the database file of an etcd cluster has on disk.",
       .stability = Stability::kStable},
      {"storage_cluster_id"}, [ctx, stores = std::move(stores)](const EmitSample& emit) {
        for (size_t i = 0; i < stores.size(); ++i) {
          Context attempt = ctx.WithTimeout(kTimeout);
          const Result<EtcdStore::Member> member = stores[i]->GetMember(attempt);
          if (!member.ok()) continue;
          emit({"etcd-" + std::to_string(i)}, static_cast<double>(member->db_size));
        }
      });
}

}  // namespace cox::storage
