// SPDX-License-Identifier: Apache-2.0
#include "proxy/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cox::proxy {
namespace {

using testing::HasSubstr;

TEST(ProxyMetrics, MetricsAndModeAreServed) {
  MetricsRegistry registry(MetricStyle::kComponent);
  Metrics metrics(registry);
  metrics.service_changes.Inc(3);
  const auto get = [&](const char* path) {
    const net::Response response = RespondWithMetrics(registry, {.method = "GET", .target = path});
    std::string text = std::to_string(response.status) + " ";
    for (const Bytes& piece : response.body) text += piece.view();
    return text;
  };
  const std::string page = get("/metrics");
  EXPECT_THAT(page, HasSubstr("\nkubeproxy_sync_proxy_rules_service_changes_total 3\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE kubeproxy_sync_proxy_rules_duration_seconds histogram\n"));
  EXPECT_THAT(page, HasSubstr("\nregistered_metrics_total{deprecated_version=\"\",stability_level="
                              "\"ALPHA\"} "));
  EXPECT_EQ(get("/proxyMode"), "200 nftables");
  EXPECT_EQ(get("/healthz"), "200 ok");
  EXPECT_EQ(get("/other"), "404 ");
}

}  // namespace
}  // namespace cox::proxy
