// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/table_state.h"

#include <gtest/gtest.h>

namespace cox::proxy {
namespace {

// Counts commits and messages.
class Counting final : public nft::Committer {
 public:
  Status Commit(const nft::Batch& batch) override {
    ++commits;
    messages = batch.count();
    return {};
  }
  int commits = 0;
  size_t messages = 0;
};

ServicePort Web(int endpoints, const std::string& name = "web", const char* ip = "10.96.0.10") {
  ServicePort port;
  port.ns = "default";
  port.service = name;
  port.cluster_ip = *Address::Parse(ip);
  port.port = 80;
  for (int i = 0; i < endpoints; ++i) {
    port.cluster_endpoints.push_back(
        {*Address::Parse("10.0.0." + std::to_string(i + 1)), 8080, false});
  }
  port.any_endpoints = endpoints > 0;
  return port;
}

const ObjectKey kWeb{"default", "web"};

TEST(TableStateTest, SendsOnlyDifferences) {
  Counting kernel;
  TableState table(Family::kIpv4, {}, {});
  ASSERT_TRUE(table.Replace(kernel, {{kWeb, {Web(2)}}}).ok());
  const struct {
    const char* name;
    int endpoints;
    size_t messages;
  } kSteps[] = {
      {"nothing has changed", 2, 0},
      // A new chain with two rules; the service chain is flushed and gets three.
      {"one more", 3, 1 + 1 + 3 + 2},
      // Flush, two rules; the endpoint chain is flushed and deleted.
      {"one less", 2, 1 + 2 + 2},
      // The element moves from one map to the other; three chains are deleted.
      {"none is left", 0, 2 + 2 * 3},
      {"one comes back", 1, 2 + 2 + 1 + 2},
  };
  for (const auto& step : kSteps) {
    SCOPED_TRACE(step.name);
    ASSERT_TRUE(table.Apply(kernel, {{kWeb, {Web(step.endpoints)}}}).ok());
    EXPECT_EQ(table.last_messages(), step.messages);
  }
  EXPECT_EQ(kernel.commits, 6);
}

TEST(TableStateTest, ManyEndpointsUseMap) {
  Counting kernel;
  TableState table(Family::kIpv4, {}, {});
  ASSERT_TRUE(table.Replace(kernel, {{kWeb, {Web(100)}}}).ok());
  ASSERT_TRUE(table.Apply(kernel, {{kWeb, {Web(101)}}}).ok());
  // A new chain with two rules, an element, and one replaced rule with the new modulus.
  EXPECT_EQ(table.last_messages(), 1 + 2 + 1 + 2);
}

TEST(TableStateTest, FirstServiceKeepsContestedAddress) {
  Counting kernel;
  TableState table(Family::kIpv4, {}, {});
  const ObjectKey other{"default", "other"};
  ServicePort first = Web(1);
  first.external_ips = {*Address::Parse("203.0.113.1")};
  ServicePort second = Web(1, "other", "10.96.0.11");
  second.external_ips = first.external_ips;
  ASSERT_TRUE(table.Replace(kernel, {}).ok());
  ASSERT_TRUE(table.Apply(kernel, {{kWeb, {first}}}).ok());
  const size_t with_external = table.last_messages();
  ASSERT_TRUE(table.Apply(kernel, {{other, {second}}}).ok());
  EXPECT_EQ(table.last_messages(), with_external - 1);
  // The first Service releases the address, and the second gets it in the same transaction.
  ServicePort without = first;
  without.external_ips.clear();
  ASSERT_TRUE(table.Apply(kernel, {{kWeb, {without}}}).ok());
  EXPECT_GT(table.last_messages(), 0);
  ASSERT_TRUE(table.Apply(kernel, {{other, {second}}}).ok());
  EXPECT_EQ(table.last_messages(), 0);
}

TEST(ChainNameTest, NamesAreTruncatedButUnique) {
  const std::string longest(300, 'x');
  const std::string a = ChainName("service", longest + "a");
  const std::string b = ChainName("service", longest + "b");
  EXPECT_EQ(a.size(), 127);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace cox::proxy
