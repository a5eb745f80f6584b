// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/override.h"

#include <gtest/gtest.h>

namespace cox::storage {
namespace {

TEST(EtcdOverride, ParsesGroupResourceAndServers) {
  const auto events = ParseEtcdOverride("/events#https://10.0.0.4:2379;https://10.0.0.5:2379");
  ASSERT_TRUE(events.ok()) << events.status().ToString();
  EXPECT_EQ(*events,
            (EtcdOverride{"", "events", {"https://10.0.0.4:2379", "https://10.0.0.5:2379"}}));
  const auto leases = ParseEtcdOverride("coordination.k8s.io/leases#http://[::1]:2379");
  ASSERT_TRUE(leases.ok()) << leases.status().ToString();
  EXPECT_EQ(*leases, (EtcdOverride{"coordination.k8s.io", "leases", {"http://[::1]:2379"}}));
}

TEST(EtcdOverride, ErrorDescribesTheProblem) {
  const struct {
    std::string_view text;
    std::string_view why;
  } kCases[] = {
      {"", "there must be one #"},
      {"/events", "there must be one #"},
      {"/events#a#b", "there must be one #"},
      {"events#http://a:1", "there must be one / before the #"},
      {"a/b/c#http://a:1", "there must be one / before the #"},
      {"apps/#http://a:1", "there is no resource"},
      {"/events#", "is not an etcd server"},
      {"/events#http://a:1;", "is not an etcd server"},
      {"/events#ftp://a:1", "is not an etcd server"},
  };
  for (const auto& c : kCases) {
    const auto parsed = ParseEtcdOverride(c.text);
    ASSERT_TRUE(parsed.status().Is(Reason::kBadRequest)) << c.text;
    EXPECT_NE(parsed.status().message().find(c.why), std::string::npos)
        << parsed.status().ToString();
  }
}

TEST(StoreRouter, RoutesResourcesAndSharesStoresWithTheSameServers) {
  RealClock clock;
  const Context ctx(clock);
  std::vector<std::vector<std::string>> connected;
  EtcdOptions options;
  options.servers = {"http://127.0.0.1:1"};
  const auto router = StoreRouter::Create(options,
                                          {{"", "events", {"http://127.0.0.1:2"}},
                                           {"events.k8s.io", "events", {"http://127.0.0.1:2"}},
                                           {"apps", "deployments", {"http://127.0.0.1:1"}}},
                                          [&](EtcdOptions own) {
                                            connected.push_back(own.servers);
                                            return ConnectEtcd(ctx, std::move(own));
                                          });
  ASSERT_TRUE(router.ok()) << router.status().ToString();
  const StoreRouter& stores = **router;
  EXPECT_EQ(connected.size(), 2U);
  EXPECT_EQ(stores.stores().size(), 2U);
  EXPECT_EQ(&stores.For("", "pods"), stores.stores()[0].get());
  EXPECT_EQ(&stores.For("apps", "deployments"), stores.stores()[0].get());
  EXPECT_EQ(&stores.For("", "events"), stores.stores()[1].get());
  EXPECT_EQ(&stores.For("events.k8s.io", "events"), stores.stores()[1].get());
  EXPECT_EQ(&stores.For("other", "events"), stores.stores()[0].get());
}

TEST(StoreRouter, CreateFailsIfAStoreCannotConnect) {
  RealClock clock;
  const Context ctx(clock);
  EtcdOptions options;
  const auto router = StoreRouter::Create(
      options, {}, [&](EtcdOptions own) { return ConnectEtcd(ctx, std::move(own)); });
  EXPECT_TRUE(router.status().Is(Reason::kBadRequest)) << router.status().ToString();
}

}  // namespace
}  // namespace cox::storage
