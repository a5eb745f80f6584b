// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "storage/etcd/compactor.h"
#include "storage/etcd/override.h"
#include "storage/store.h"

namespace cox::cmd {

// The stores for objects, with their compactors and metrics.
struct OpenedStores {
  std::unique_ptr<storage::Store> memory;        // either memory
  std::unique_ptr<storage::StoreRouter> routed;  // or etcd
  std::vector<std::unique_ptr<storage::Compactor>> compactors;
  std::vector<MetricHandle> metrics;

  storage::Store& For(std::string_view group, std::string_view resource) const {
    return memory != nullptr ? *memory : routed->For(group, resource);
  }
};

Result<OpenedStores> OpenStores(const Context& ctx, const Flags& flags, MetricsRegistry& metrics);

}  // namespace cox::cmd
