// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

StrategyPtr NewEndpointSliceStrategy() {
  std::vector<StrategyPtr> kinds;
  AddDiscoveryKinds(&kinds);
  return std::move(kinds.front());
}

TEST(EndpointSliceTest, RejectsInvalidAddresses) {
  const CreateCase cases[] = {
      {R"("addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}])", ""},
      {R"("addressType":"IPv6","endpoints":[{"addresses":["fd00::1"]}])", ""},
      {R"("endpoints":[{"addresses":["10.0.0.1"]}])", "addressType: Required value"},
      {R"("addressType":"X")",
       R"(addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6")"},
      {R"("addressType":"IPv4","endpoints":[{"addresses":[]}])",
       "endpoints[0].addresses: Required value: must contain at least 1 address"},
      {R"("addressType":"IPv4","endpoints":[{"addresses":["x"]}])",
       R"(endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address, )"
       "(e.g. 10.9.8.7 or 2001:db8::ffff)"},
      {R"("addressType":"IPv4","endpoints":[{"addresses":["::1"]}])",
       R"([endpoints[0].addresses: Invalid value: "::1": must be an IPv4 address, )"
       R"(endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range )"
       "(127.0.0.0/8, ::1/128)]"},
      {R"("addressType":"IPv6","endpoints":[{"addresses":["10.0.0.1"]}])",
       R"(endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address)"},
      {R"("addressType":"IPv4","endpoints":[{"addresses":["169.254.1.1"]}])",
       R"(endpoints[0].addresses[0]: Invalid value: "169.254.1.1": may not be in the link-local )"
       "range (169.254.0.0/16, fe80::/10)"},
  };
  StrategyHarness slices(NewEndpointSliceStrategy());
  ExpectCreate(slices, cases);
}

TEST(EndpointSliceTest, PortsAndHintsMustBeUnique) {
  const CreateCase cases[] = {
      {R"("addressType":"IPv4","ports":[{"name":"a"},{"name":"b"}])", ""},
      {R"("addressType":"IPv4","ports":[{},{}])", R"(ports[1].name: Duplicate value: "")"},
      {R"("addressType":"IPv4","ports":[{"protocol":"X"}])",
       R"(ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP")"},
      {R"("addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"],"hints":{"forZones":[)"
       R"({"name":"z"},{"name":"z"}]}}])",
       R"(endpoints[0].hints.forZones[1].name: Duplicate value: "z")"},
  };
  StrategyHarness slices(NewEndpointSliceStrategy());
  ExpectCreate(slices, cases);
}

TEST(EndpointSliceTest, AddressTypeIsImmutableAndGenerationCountsLabels) {
  StrategyHarness slices(NewEndpointSliceStrategy());
  auto made = slices.Create(R"({"metadata":{"name":"a"},"addressType":"IPv4",
      "endpoints":[{"addresses":["10.0.0.1"],"deprecatedTopology":{"a b":"c"}}]})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.Text().find("deprecatedTopology"), std::string::npos);
  EXPECT_EQ(slices.Update(made.object, R"({"addressType":"IPv6"})").error,
            R"(addressType: Invalid value: "IPv6": field is immutable)");
  auto generation = [&](std::string_view patch) {
    return slices.Update(made.object, patch).object.object_meta()->generation;
  };
  EXPECT_EQ(made.object.object_meta()->generation, 1);
  EXPECT_EQ(generation(R"({"metadata":{"annotations":{"a":"b"}}})"), 1);
  EXPECT_EQ(generation(R"({"metadata":{"labels":{"a":"b"}}})"), 2);
  EXPECT_EQ(generation(R"({"endpoints":[{"addresses":["10.0.0.2"]}]})"), 2);
}

TEST(EndpointSliceTest, WarnsAboutFqdnAddressType) {
  StrategyHarness slices(NewEndpointSliceStrategy());
  auto made = slices.Create(R"({"metadata":{"name":"a"},"addressType":"FQDN",
      "endpoints":[{"addresses":["a.example.com"]}]})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.warnings, Warnings{"spec.addressType: FQDN endpoints are deprecated"});
}

TEST(EndpointSliceTest, ShowsThreePortsAndAddresses) {
  StrategyHarness slices(NewEndpointSliceStrategy());
  auto made = slices.Create(R"({"metadata":{"name":"a"},"addressType":"IPv4","endpoints":[
      {"addresses":["10.0.0.1","10.0.0.2"]},{"addresses":["10.0.0.3"]},{"addresses":["10.0.0.4"]}],
      "ports":[{"name":"x","port":80},{"name":"y"}]})");
  EXPECT_EQ(slices.Row(made.object),
            R"(["a","IPv4","80,y","10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...","60m"])");
  auto empty = slices.Create(R"({"metadata":{"name":"a"},"addressType":"IPv4","ports":[{}]})");
  EXPECT_EQ(slices.Row(empty.object),
            R"(["a","IPv4","\u003cunset\u003e","\u003cunset\u003e","60m"])");
}

}  // namespace
}  // namespace cox::apiserver
