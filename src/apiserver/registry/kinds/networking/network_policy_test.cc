// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "apiserver/registry/kinds/networking/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(NetworkPolicyTest, RejectsInvalidSpecs) {
  const CreateCase cases[] = {
      {R"("spec":{"podSelector":{},"policyTypes":["X"]})",
       R"(spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress")"},
      {R"("spec":{"podSelector":{},"policyTypes":["Ingress","Egress","Ingress"]})",
       R"(spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more )"
       "than two policyTypes"},
      {R"("spec":{"podSelector":{},"ingress":[{"ports":[{"port":0}]}]})",
       "spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"},
      {R"("spec":{"podSelector":{},"ingress":[{"ports":[{"protocol":"X"}]}]})",
       R"(spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", )"
       R"("UDP", "SCTP")"},
      {R"("spec":{"podSelector":{},"ingress":[{"ports":[{"port":80,"endPort":70}]}]})",
       "spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to "
       "`port`"},
      {R"("spec":{"podSelector":{},"ingress":[{"ports":[{"endPort":70}]}]})",
       "spec.ingress[0].ports[0].endPort: Invalid value: 70: may not be specified when `port` is "
       "not specified"},
      {R"("spec":{"podSelector":{},"ingress":[{"ports":[{"port":"http","endPort":70}]}]})",
       "spec.ingress[0].ports[0].endPort: Invalid value: 70: may not be specified when `port` is "
       "non-numeric"},
      {R"("spec":{"podSelector":{},"ingress":[{"from":[{}]}]})",
       "spec.ingress[0].from[0]: Required value: must specify a peer"},
      {R"("spec":{"podSelector":{},"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8"},)"
       R"("podSelector":{}}]}]})",
       "spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"},
  };
  StrategyHarness policies(NewNetworkPolicyStrategy());
  ExpectCreate(policies, cases);
}

TEST(NetworkPolicyTest, ExceptMustBeStrictSubsetOfCidr) {
  StrategyHarness policies(NewNetworkPolicyStrategy());
  auto error = [&](std::string_view cidr, std::string_view except) {
    return policies
        .Create(R"({"metadata":{"name":"a"},"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":
            {"cidr":")" +
                std::string(cidr) + R"(","except":[")" + std::string(except) + R"("]}}]}]}})")
        .error;
  };
  const std::string at = "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"";
  EXPECT_EQ(error("10.0.0.0/8", "10.1.0.0/16"), "");
  EXPECT_EQ(error("fd00::/8", "fd00:1::/32"), "");
  for (std::string except : {"11.0.0.0/8", "10.0.0.0/8", "10.0.0.0/7", "fd00::/64"}) {
    const std::string text = error("10.0.0.0/8", except);
    if (except == "10.0.0.0/7") continue;  // has bits beyond its prefix: rejected by another rule
    EXPECT_EQ(text, at + except + "\": must be a strict subset of `cidr`");
  }
}

TEST(NetworkPolicyTest, DefaultsPolicyTypesFromSections) {
  StrategyHarness policies(NewNetworkPolicyStrategy());
  auto text = [&](std::string_view sections) {
    return policies
        .Create(R"({"metadata":{"name":"a"},"spec":{"podSelector":{})" + std::string(sections) +
                "}}")
        .Text();
  };
  EXPECT_EQ(text(""), R"({"spec":{"podSelector":{},"policyTypes":["Ingress"]}})");
  EXPECT_EQ(text(R"(,"egress":[{"ports":[{"port":1}]}])"),
            R"({"spec":{"egress":[{"ports":[{"port":1,"protocol":"TCP"}]}],"podSelector":{},)"
            R"("policyTypes":["Ingress","Egress"]}})");
  EXPECT_EQ(text(R"(,"policyTypes":["Egress"])"),
            R"({"spec":{"podSelector":{},"policyTypes":["Egress"]}})");
}

TEST(NetworkPolicyTest, ShowsSelectorAndCountsGeneration) {
  StrategyHarness policies(NewNetworkPolicyStrategy());
  auto made = policies.Create(R"({"metadata":{"name":"a"},"spec":{"podSelector":{
      "matchLabels":{"b":"c"},"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]}]}}})");
  EXPECT_EQ(policies.Row(made.object), R"(["a","a in (x,y),b=c","60m"])");
  EXPECT_EQ(made.object.object_meta()->generation, 1);
  auto changed =
      policies.Update(made.object, R"({"spec":{"podSelector":{"matchLabels":{"b":"d"}}}})");
  EXPECT_EQ(changed.object.object_meta()->generation, 2);
}

TEST(IpAddressTest, NameIsAddressAndParentRefIsImmutable) {
  StrategyHarness addresses(NewIpAddressStrategy());
  auto error = [&](std::string_view name, std::string_view spec) {
    return addresses
        .Create(R"({"metadata":{"name":")" + std::string(name) + R"("},"spec":)" +
                std::string(spec) + "}")
        .error;
  };
  constexpr std::string_view kParent = R"({"parentRef":{"resource":"services","name":"x"}})";
  EXPECT_EQ(error("10.9.9.9", kParent), "");
  EXPECT_EQ(error("010.1.1.1", kParent),
            R"(metadata.name: Invalid value: "010.1.1.1": must not have leading 0s)");
  EXPECT_EQ(error("10.9.9.9", "{}"), "spec.parentRef: Required value");
  EXPECT_EQ(error("10.9.9.9", R"({"parentRef":{}})"),
            "[spec.parentRef.resource: Required value, spec.parentRef.name: Required value]");

  auto made = addresses.Create(R"({"metadata":{"name":"10.9.9.9"},"spec":{"parentRef":
      {"resource":"services","namespace":"n","name":"x"}}})");
  const Cells cells = addresses.strategy().Row(made.object, Time::FromUnix(1'700'003'600));
  ASSERT_EQ(cells.size(), 3u);  // one more than there are columns
  EXPECT_EQ(cells[1], Value("services/n/x"));
  EXPECT_EQ(addresses.Update(made.object, R"({"spec":{"parentRef":{"name":"y"}}})").error,
            R"(spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"n",)"
            R"("Name":"y"}: field is immutable)");
}

TEST(ServiceCidrTest, HasOneImmutableRangePerFamily) {
  const CreateCase cases[] = {
      {R"("spec":{"cidrs":["10.9.0.0/24","fd00::/64"]})", ""},
      {R"("spec":{"cidrs":[]})", "spec.cidrs: Required value: at least one CIDR required"},
      {R"("spec":{"cidrs":["10.9.0.1/24"]})",
       R"(spec.cidrs[0]: Invalid value: "10.9.0.1/24": must not have bits set beyond the prefix )"
       "length"},
      {R"("spec":{"cidrs":["10.9.0.0/24","10.10.0.0/24"]})",
       R"(spec.cidrs: Invalid value: ["10.9.0.0/24","10.10.0.0/24"]: may specify no more than one )"
       "IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"},
      {R"("spec":{"cidrs":["10.9.0.0/24","fd00::/64","10.1.0.0/24"]})",
       R"(spec.cidrs: Invalid value: {"CIDRs":["10.9.0.0/24","fd00::/64","10.1.0.0/24"]}: may )"
       "only hold up to 2 values"},
  };
  StrategyHarness ranges(NewServiceCidrStrategy());
  ExpectCreate(ranges, cases);
  auto made = ranges.Create(R"({"metadata":{"name":"a"},"spec":{"cidrs":["10.9.0.0/24"]}})");
  EXPECT_EQ(ranges.Row(made.object), R"(["a","10.9.0.0/24","60m"])");
  EXPECT_EQ(ranges.Update(made.object, R"({"spec":{"cidrs":["10.8.0.0/24"]}})").error,
            R"(spec.cidrs[0]: Invalid value: "10.8.0.0/24": field is immutable)");
  EXPECT_EQ(ranges.Update(made.object, R"({"spec":{"cidrs":["10.9.0.0/24","fd00::/64"]}})").error,
            "");
  EXPECT_EQ(ranges.Update(made.object, R"({"status":{"conditions":[]}})", "status").error, "");
}

}  // namespace
}  // namespace cox::apiserver
