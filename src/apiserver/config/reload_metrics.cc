// SPDX-License-Identifier: Apache-2.0
#include "apiserver/config/reload_metrics.h"

#include <chrono>

#include "net/digest.h"

namespace cox::apiserver {
namespace {

MetricOptions Named(std::string_view config, std::string_view name, std::string_view help) {
  return {.name = "apiserver_" + std::string(config) + "_config_controller_" + std::string(name),
          .help = std::string(help) + " the " + std::string(config) +
                  " configuration, by result and server.",
          .stability = Stability::kBeta};
}

}  // namespace

ConfigReloadMetrics::ConfigReloadMetrics(MetricsRegistry& registry, std::string_view config,
                                         std::string_view server_id)
    : reloads_(
          registry.AddCounterVec(Named(config, "automatic_reloads_total", "Automatic reloads of"),
                                 {"status", "apiserver_id_hash"})),
      last_(registry.AddGaugeVec(Named(config, "automatic_reload_last_timestamp_seconds",
                                       "Unix time of the last automatic reload of"),
                                 {"status", "apiserver_id_hash"})),
      server_hash_("sha256:" + net::Sha256Hex(server_id)) {}

void ConfigReloadMetrics::Record(const Status& status, Clock::WallTime now) {
  const std::string_view result = status.ok() ? "success" : "failure";
  reloads_.With({result, server_hash_}).Inc();
  last_.With({result, server_hash_})
      .Set(std::chrono::duration<double>(now.time_since_epoch()).count());
}

}  // namespace cox::apiserver
