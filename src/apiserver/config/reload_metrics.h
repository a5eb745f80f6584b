// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/status.h"

namespace cox::apiserver {

// Metrics of a configuration file that is reloaded when it changes, with upstream's names:
// apiserver_<config>_config_controller_automatic_reloads_total and
// ..._automatic_reload_last_timestamp_seconds. The first read of the file is not a reload.
//
// Threads: all methods may be called concurrently.
// Ownership: the registry outlives it.
class ConfigReloadMetrics {
 public:
  // `config` is "authentication" or "authorization". `server_id` distinguishes the servers of a
  // cluster; its hash is exported.
  ConfigReloadMetrics(MetricsRegistry& registry, std::string_view config,
                      std::string_view server_id);

  // Records a reload that ended with `status`.
  void Record(const Status& status, Clock::WallTime now);

 private:
  CounterVec& reloads_;
  GaugeVec& last_;
  const std::string server_hash_;
};

// Null: reloads are not counted.
using ConfigReloadMetricsPtr = std::shared_ptr<ConfigReloadMetrics>;

}  // namespace cox::apiserver
