// SPDX-License-Identifier: Apache-2.0
#include "apiserver/config/reload_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

TEST(ConfigReloadMetrics, CountsReloadsByResult) {
  MetricsRegistry registry;
  ConfigReloadMetrics metrics(registry, "authentication", "server-1");
  const Clock::WallTime start{std::chrono::seconds(1000)};
  metrics.Record({}, start);
  metrics.Record({}, start + std::chrono::seconds(5));
  metrics.Record(Status::BadRequest("bad"), start + std::chrono::seconds(7));
  const std::string text = registry.Render();
  const std::string prefix = "apiserver_authentication_config_controller_automatic_reload";
  EXPECT_THAT(text, testing::ContainsRegex(prefix + "s_total\\{apiserver_id_hash=\"sha256:[0-9a-f]+"
                                                    "\",status=\"success\"\\} 2\n"));
  EXPECT_THAT(text, testing::ContainsRegex(prefix + "s_total\\{apiserver_id_hash=\"sha256:[0-9a-f]+"
                                                    "\",status=\"failure\"\\} 1\n"));
  EXPECT_THAT(text, testing::ContainsRegex(prefix + "_last_timestamp_seconds\\{apiserver_id_hash=\""
                                                    "sha256:[0-9a-f]+\",status=\"success\"\\} "
                                                    "1005\n"));
}

}  // namespace
}  // namespace cox::apiserver
