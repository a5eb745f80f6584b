// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/topology/zone_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cox::controllers {
namespace {

using discovery::v1::Endpoint;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

ZoneCpus Cpus(std::map<std::string, int64_t> millis) {
  ZoneCpus cpus{.millis = std::move(millis), .total = 0, .incomplete_nodes = 0};
  for (const auto& [zone, value] : cpus.millis) cpus.total += value;
  return cpus;
}

// One ready endpoint for each letter, which is its zone.
List<Endpoint> In(std::string_view zones) {
  List<Endpoint> endpoints;
  for (const char zone : zones) {
    Endpoint endpoint;
    endpoint.addresses = {"10.0.0." + std::to_string(endpoints.size())};
    endpoint.conditions.ready = true;
    endpoint.zone = std::string(1, zone);
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

std::string HintOf(const Endpoint& endpoint) {
  if (!endpoint.hints.has_value()) return "-";
  EXPECT_EQ(endpoint.hints->forZones.size(), 1U);
  EXPECT_THAT(endpoint.hints->forNodes, IsEmpty());
  return endpoint.hints->forZones.at(0).name;
}
std::string HintsOf(const List<Endpoint>& endpoints) {
  std::string hints;
  for (const Endpoint& endpoint : endpoints) hints += HintOf(endpoint);
  return hints;
}
ZoneHints Assign(const ZoneCpus& cpus, List<Endpoint>& endpoints) {
  std::map<std::string, std::string> previous;
  std::vector<Endpoint*> pointers;
  for (Endpoint& endpoint : endpoints) {
    previous[endpoint.addresses[0]] = HintOf(endpoint);
    pointers.push_back(&endpoint);
  }
  return AssignZoneHints(cpus, pointers,
                         [&](const Endpoint& endpoint) { return previous[endpoint.addresses[0]]; });
}

TEST(ZoneHints, ValueAutoOfEitherAnnotationEnablesHints) {
  const std::string mode = "service.kubernetes.io/topology-mode";
  const std::string old = "service.kubernetes.io/topology-aware-hints";
  for (const std::string& name : {mode, old}) {
    core::v1::Service service;
    EXPECT_FALSE(HasTopologyModeAuto(service));
    for (const char* value : {"Auto", "auto"}) {
      service.metadata.annotations[name] = value;
      EXPECT_TRUE(HasTopologyModeAuto(service)) << name << "=" << value;
    }
    for (const char* value : {"Disabled", "disabled", "AUTO", "", "example.com/mode"}) {
      service.metadata.annotations[name] = value;
      EXPECT_FALSE(HasTopologyModeAuto(service)) << name << "=" << value;
    }
  }
}

TEST(ZoneHints, ProblemsHaveTheMessagesOfUpstream) {
  struct Case {
    ZoneCpus cpus;
    size_t endpoints;
    std::string problem;
  };
  ZoneCpus incomplete = Cpus({{"a", 1000}, {"b", 1000}});
  incomplete.incomplete_nodes = 1;
  const std::string insufficient =
      "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
  const std::string overload =
      "Unable to allocate minimum required endpoints to each zone without exceeding overload "
      "threshold";
  for (const Case& c : {
           Case{ZoneCpus(), 10, insufficient},
           Case{incomplete, 10, insufficient},
           Case{Cpus({{"a", 1000}}), 10, "Nodes only ready in one zone"},
           Case{Cpus({{"a", 1}, {"b", 1}}), 0,
                "Insufficient number of endpoints (0 endpoints, 2 zones)"},
           Case{Cpus({{"a", 1}, {"b", 1}, {"c", 1}}), 2,
                "Insufficient number of endpoints (2 endpoints, 3 zones)"},
           Case{Cpus({{"a", 1}, {"b", 1}}), 2, ""},
           // 1.5 for each zone: with one, a zone would have 150 % of its share.
           Case{Cpus({{"a", 1}, {"b", 1}}), 3, overload + " (3 endpoints, 2 zones)"},
           Case{Cpus({{"a", 1}, {"b", 1}}), 5, overload + " (5 endpoints, 2 zones)"},
           Case{Cpus({{"a", 1}, {"b", 1}}), 6, ""},
           Case{Cpus({{"a", 1}, {"b", 1}}), 11, ""},  // 5.5 / 5 = 110 %
           Case{Cpus({{"a", 1}, {"b", 1}, {"c", 1}}), 3, ""},
           Case{Cpus({{"a", 1}, {"b", 1}, {"c", 1}}), 5, overload + " (5 endpoints, 3 zones)"},
           Case{Cpus({{"a", 3000}, {"b", 1000}}), 4, ""},
           Case{Cpus({{"a", 2000}, {"b", 1000}}), 4, overload + " (4 endpoints, 2 zones)"},
           // The share of b is exactly 120 % of the minimum.
           Case{Cpus({{"a", 38}, {"b", 12}}), 5, ""},
           Case{Cpus({{"a", 379}, {"b", 121}}), 5, overload + " (5 endpoints, 2 zones)"},
       }) {
    std::map<std::string, ZoneShare> shares;
    EXPECT_EQ(DivideAmongZones(c.cpus, c.endpoints, shares), c.problem) << c.endpoints;
  }
}

TEST(ZoneHints, EndpointsStayInTheirZoneIfSharesFit) {
  List<Endpoint> endpoints = In("aabbcc");
  const ZoneHints hints = Assign(Cpus({{"a", 2}, {"b", 2}, {"c", 2}}), endpoints);
  EXPECT_TRUE(hints.has_hints());
  EXPECT_EQ(HintsOf(endpoints), "aabbcc");
  EXPECT_THAT(hints.by_zone, ElementsAre(Pair("a", 2), Pair("b", 2), Pair("c", 2)));
}

TEST(ZoneHints, ZonesWithTooFewEndpointsGetThoseOfOthers) {
  List<Endpoint> endpoints = In("aaaaaa");
  EXPECT_TRUE(Assign(Cpus({{"a", 1}, {"b", 1}, {"c", 1}}), endpoints).has_hints());
  std::string hints = HintsOf(endpoints);
  std::sort(hints.begin(), hints.end());
  EXPECT_EQ(hints, "aabbcc");

  endpoints = In("aaabbb");
  EXPECT_TRUE(Assign(Cpus({{"a", 2000}, {"b", 1000}}), endpoints).has_hints());
  hints = HintsOf(endpoints);
  EXPECT_EQ(std::count(hints.begin(), hints.end(), 'a'), 4);
}

TEST(ZoneHints, EndpointsInZonesWithoutReadyNodesServeOthers) {
  List<Endpoint> endpoints = In("aaxxbb");
  const ZoneHints hints = Assign(Cpus({{"a", 1}, {"b", 1}}), endpoints);
  EXPECT_TRUE(hints.has_hints());
  EXPECT_THAT(hints.by_zone, ElementsAre(Pair("a", 3), Pair("b", 3)));
  EXPECT_EQ(HintsOf(endpoints).find('x'), std::string::npos);
}

TEST(ZoneHints, OnlyReadyEndpointsGetHintsAndCount) {
  List<Endpoint> endpoints = In("aabb");
  endpoints[1].conditions.ready = false;
  endpoints[3].conditions.ready = false;
  const ZoneHints hints = Assign(Cpus({{"a", 1}, {"b", 1}}), endpoints);
  EXPECT_EQ(hints.endpoints, 2U);
  EXPECT_EQ(HintsOf(endpoints), "a-b-");
}

TEST(ZoneHints, ReadyEndpointWithoutZoneRemovesAllHints) {
  List<Endpoint> endpoints = In("aabb");
  const ZoneCpus cpus = Cpus({{"a", 1}, {"b", 1}});
  EXPECT_TRUE(Assign(cpus, endpoints).has_hints());
  endpoints[0].zone.reset();
  const ZoneHints hints = Assign(cpus, endpoints);
  EXPECT_EQ(hints.problem, "One or more endpoints do not have a zone specified");
  EXPECT_EQ(HintsOf(endpoints), "----");
  EXPECT_FALSE(AreOutdated(hints, cpus));
  endpoints[0].conditions.ready = false;
  EXPECT_EQ(Assign(Cpus({{"a", 1}, {"b", 2}}), endpoints).problem, "");
}

TEST(ZoneHints, SecondAssignmentChangesNothing) {
  std::mt19937 random(1);
  int with_hints = 0;
  for (int round = 0; round < 500; ++round) {
    std::map<std::string, int64_t> millis;
    for (const char* zone : {"a", "b", "c", "d"}) {
      if (random() % 4 != 0) millis[zone] = 1000 + static_cast<int64_t>(random() % 20) * 500;
    }
    const ZoneCpus cpus = Cpus(std::move(millis));
    std::string zones;
    for (size_t i = random() % 60; i-- > 0;) zones += "abcde"[random() % 5];
    List<Endpoint> endpoints = In(zones);
    const ZoneHints first = Assign(cpus, endpoints);
    const std::string hints = HintsOf(endpoints);
    EXPECT_EQ(Assign(cpus, endpoints), first);
    EXPECT_EQ(HintsOf(endpoints), hints);
    EXPECT_FALSE(AreOutdated(first, cpus));
    if (!first.has_hints()) {
      EXPECT_EQ(hints, std::string(zones.size(), '-'));
      continue;
    }
    ++with_hints;
    std::map<std::string, ZoneShare> shares;
    ASSERT_EQ(DivideAmongZones(cpus, zones.size(), shares), "");
    std::map<std::string, int64_t> counted;
    for (const char zone : hints) ++counted[std::string(1, zone)];
    EXPECT_EQ(counted, first.by_zone);
    for (const auto& [zone, share] : shares) {
      EXPECT_GE(counted[zone], share.minimum);
      EXPECT_LE(counted[zone], std::max(share.minimum, share.ceiling));
    }
  }
  EXPECT_GT(with_hints, 100);
}

TEST(ZoneHints, MovedEndpointsStayTheSameWhenOthersAreAdded) {
  const ZoneCpus cpus = Cpus({{"a", 1}, {"b", 1}});
  List<Endpoint> endpoints = In("aaaaab");
  Assign(cpus, endpoints);
  const std::string before = HintsOf(endpoints);
  for (Endpoint& added : In("ab")) {
    added.addresses = {"10.0.1." + *added.zone};
    endpoints.insert(endpoints.begin(), std::move(added));
  }
  EXPECT_TRUE(Assign(cpus, endpoints).has_hints());
  EXPECT_EQ(HintsOf(endpoints).substr(2), before);
}

TEST(ZoneHints, OutdatedWhenAZoneLacksEndpointsOrHintsBecomePossible) {
  List<Endpoint> endpoints = In("aaabbb");
  const ZoneHints even = Assign(Cpus({{"a", 10}, {"b", 10}}), endpoints);
  EXPECT_FALSE(AreOutdated(even, Cpus({{"a", 11}, {"b", 10}})));  // within 20 %
  EXPECT_TRUE(AreOutdated(even, Cpus({{"a", 30}, {"b", 10}})));
  EXPECT_TRUE(AreOutdated(even, Cpus({{"a", 10}, {"c", 10}})));
  EXPECT_TRUE(AreOutdated(even, Cpus({{"a", 10}, {"b", 10}, {"c", 1}})));
  EXPECT_TRUE(AreOutdated(even, Cpus({{"a", 10}})));
  EXPECT_TRUE(AreOutdated(even, ZoneCpus()));
  const ZoneHints none = Assign(Cpus({{"a", 10}}), endpoints);
  EXPECT_FALSE(AreOutdated(none, Cpus({{"a", 20}})));
  EXPECT_TRUE(AreOutdated(none, Cpus({{"a", 10}, {"b", 10}})));
}

}  // namespace
}  // namespace cox::controllers
