// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/table_state.h"

#include <gtest/gtest.h>
#include <linux/netfilter/nf_tables.h>

#include "proxy/rules/service_program.h"
#include "proxy/rules/table.h"

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

// A kernel with a listing, which rejects the first `refused` commits.
class Listed final : public nft::Committer {
 public:
  Status Commit(const nft::Batch& batch) override {
    messages.push_back(batch.messages());
    return messages.size() <= refused ? Status::Conflict("refused") : Status();
  }
  Result<nft::Listing> List(Family, std::string_view) override {
    ++lists;
    return listing;
  }
  Result<nft::Listing> listing = nft::Listing();
  int lists = 0;
  size_t refused = 0;
  std::vector<std::string> messages;
};

std::string ResetMessages() {
  nft::Batch reset(Family::kIpv4, kTable);
  ResetTable(&reset);
  return reset.messages();
}

// A listing with the sets of `port`.
nft::Listing ListingOf(const ServicePort& port) {
  nft::Listing listing;
  for (const auto& [name, set] : MakeServiceProgram(port, {}).sets) {
    listing.sets.push_back({.name = name,
                            .flags = NFT_SET_TIMEOUT | NFT_SET_EVAL,
                            .key_length = 4,
                            .timeout_milliseconds = set.timeout_milliseconds});
  }
  return listing;
}

TEST(TableStateTest, FullSyncResetsTheTableUnlessThereAreClientsToKeep) {
  ServicePort sticky = Web(2);
  sticky.affinity_seconds = 10;
  ServicePort longer = sticky;
  longer.affinity_seconds = 20;
  ServicePort moved = Web(0);
  moved.affinity_seconds = 10;
  moved.cluster_endpoints = {{*Address::Parse("10.0.0.9"), 8080, false}};
  nft::Listing wrong_key = ListingOf(sticky);
  for (auto& set : wrong_key.sets) set.key_length = 16;
  nft::Listing wrong_flags = ListingOf(sticky);
  for (auto& set : wrong_flags.sets) set.flags = 0;
  const struct {
    const char* name;
    Result<nft::Listing> listing;
    ServicePort port;
    size_t refused;
    std::vector<bool> resets;  // of each commit
    int lists;
  } kCases[] = {
      {"no affinity", ListingOf(sticky), Web(2), 0, {true}, 0},
      {"no table", nft::Listing(), sticky, 0, {true}, 1},
      {"same sets", ListingOf(sticky), sticky, 0, {false}, 1},
      {"other endpoints", ListingOf(moved), sticky, 0, {true}, 1},
      {"other timeout", ListingOf(longer), sticky, 0, {true}, 1},
      {"other key", wrong_key, sticky, 0, {true}, 1},
      {"other flags", wrong_flags, sticky, 0, {true}, 1},
      {"list fails", Status::Conflict("busy"), sticky, 0, {true}, 1},
      {"table changed after the list", ListingOf(sticky), sticky, 1, {false, true}, 1},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    Listed kernel;
    kernel.listing = c.listing;
    kernel.refused = c.refused;
    TableState table(Family::kIpv4, {}, {});
    EXPECT_TRUE(table.Replace(kernel, {{kWeb, {c.port}}}).ok());
    std::vector<bool> resets;
    for (const std::string& messages : kernel.messages) {
      resets.push_back(messages.starts_with(ResetMessages()));
    }
    EXPECT_EQ(resets, c.resets);
    EXPECT_EQ(kernel.lists, c.lists);
  }
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
