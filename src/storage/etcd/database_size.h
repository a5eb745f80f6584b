// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "storage/etcd/etcd_store.h"

namespace cox::storage {

// Exports apiserver_storage_size_bytes: the size of each store's database file, as reported by the
// member that serves its calls. Read when scraped; a store that does not answer within two seconds
// is left out. `stores` and the clock of `ctx` outlive the handle.
MetricHandle ExportDatabaseSizes(const Context& ctx, MetricsRegistry& registry,
                                 std::vector<EtcdStore*> stores);

}  // namespace cox::storage
