// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "apiserver/registry/kinds/core/service/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

// A service with allocated addresses, and with `spec` added to its spec.
std::string With(std::string_view spec) {
  return R"({"metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],)"
         R"("ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack")" +
         std::string(spec) + "}}";
}

TEST(ServiceTest, DefaultsDependOnType) {
  StrategyHarness services(NewServiceStrategy());
  auto text = [&](std::string_view spec) {
    return services.Create(R"({"metadata":{"name":"a"},"spec":)" + std::string(spec) + "}").Text();
  };
  EXPECT_EQ(text(R"({"ports":[{"port":80},{"port":81,"targetPort":"x","protocol":"UDP"}]})"),
            R"({"spec":{"internalTrafficPolicy":"Cluster","ports":[{"port":80,"protocol":"TCP",)"
            R"("targetPort":80},{"port":81,"protocol":"UDP","targetPort":"x"}],)"
            R"("sessionAffinity":"None","type":"ClusterIP"},"status":{"loadBalancer":{}}})");
  EXPECT_EQ(text(R"({"type":"ExternalName","externalName":"a.b"})"),
            R"({"spec":{"externalName":"a.b","sessionAffinity":"None","type":"ExternalName"},)"
            R"("status":{"loadBalancer":{}}})");
  EXPECT_EQ(text(R"({"type":"LoadBalancer","sessionAffinity":"ClientIP"})"),
            R"({"spec":{"allocateLoadBalancerNodePorts":true,"externalTrafficPolicy":"Cluster",)"
            R"("internalTrafficPolicy":"Cluster","sessionAffinity":"ClientIP",)"
            R"("sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10800}},)"
            R"("type":"LoadBalancer"},"status":{"loadBalancer":{}}})");
  EXPECT_EQ(text(R"({"externalIPs":["1.2.3.4"],"sessionAffinityConfig":{"clientIP":{}}})"),
            R"({"spec":{"externalIPs":["1.2.3.4"],"externalTrafficPolicy":"Cluster",)"
            R"("internalTrafficPolicy":"Cluster","sessionAffinity":"None","type":"ClusterIP"},)"
            R"("status":{"loadBalancer":{}}})");
}

TEST(ServiceTest, RejectsInvalidPorts) {
  struct Case {
    std::string_view ports, error;
  };
  const Case cases[] = {
      {R"([{"port":80}])", ""},
      {"[]", "spec.ports: Required value"},
      {R"([{"port":0}])",
       "[spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, "
       "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive]"},
      {R"([{"port":80,"protocol":"X"}])",
       R"(spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP")"},
      {R"([{"port":80},{"port":81}])",
       "[spec.ports[0].name: Required value, spec.ports[1].name: Required value]"},
      {R"([{"name":"a","port":80},{"name":"a","port":81}])",
       R"(spec.ports[1].name: Duplicate value: "a")"},
      {R"([{"name":"a","port":80},{"name":"b","port":80}])",
       R"(spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,)"
       R"("Port":80,"TargetPort":0,"NodePort":0})"},
      {R"([{"name":"a","port":80},{"name":"b","port":80,"protocol":"UDP"}])", ""},
      {R"([{"name":"a.b","port":80}])",
       R"(spec.ports[0].name: Invalid value: "a.b": must not contain dots)"},
      {R"([{"port":80,"targetPort":"waytoolongportname"}])",
       R"(spec.ports[0].targetPort: Invalid value: "waytoolongportname": must be no more than 15 )"
       "characters"},
      {R"([{"port":80,"nodePort":30000}])",
       "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
  };
  StrategyHarness services(NewServiceStrategy());
  for (const Case& c : cases) {
    EXPECT_EQ(services.Create(With(R"(,"ports":)" + std::string(c.ports))).error, c.error)
        << c.ports;
  }
}

TEST(ServiceTest, ValidatesFieldsByType) {
  struct Case {
    std::string_view spec, error;
  };
  const Case cases[] = {
      {R"("type":"X")",
       R"(spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", )"
       R"("LoadBalancer", "NodePort")"},
      {R"("sessionAffinity":"X")",
       R"(spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None")"},
      {R"("sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}})",
       "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater "
       "than 0 and less than 86400"},
      {R"("externalTrafficPolicy":"Local")",
       R"(spec.externalTrafficPolicy: Invalid value: "Local": may only be set for )"
       "externally-accessible services"},
      {R"("internalTrafficPolicy":"X")",
       R"(spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local")"},
      {R"("healthCheckNodePort":31000)",
       "spec.healthCheckNodePort: Invalid value: 31000: may only be set when `type` is "
       "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
      {R"("loadBalancerSourceRanges":["1.2.3.4/24"])",
       "[spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer', "
       R"(spec.LoadBalancerSourceRanges[0]: Invalid value: "1.2.3.4/24": must not have bits set )"
       "beyond the prefix length]"},
      {R"("loadBalancerClass":"example.com/x")",
       "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
      {R"("allocateLoadBalancerNodePorts":true)",
       "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
       "'LoadBalancer'"},
      {R"("trafficDistribution":"X")",
       R"(spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", )"
       R"("PreferSameZone", "PreferSameNode")"},
      {R"("externalIPs":["0.0.0.0"])",
       R"(spec.externalIPs[0]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0))"},
      {R"("type":"LoadBalancer","externalTrafficPolicy":"Local")",
       "spec.healthCheckNodePort: Required value"},
  };
  StrategyHarness services(NewServiceStrategy());
  for (const Case& c : cases) {
    EXPECT_EQ(services.Create(With(R"(,"ports":[{"port":80}],)" + std::string(c.spec))).error,
              c.error)
        << c.spec;
  }
}

TEST(ServiceTest, ExternalNameHasNoClusterIP) {
  StrategyHarness services(NewServiceStrategy());
  auto error = [&](std::string_view more) {
    return services
        .Create(R"({"metadata":{"name":"a"},"spec":{"type":"ExternalName")" + std::string(more) +
                "}}")
        .error;
  };
  EXPECT_EQ(error(R"(,"externalName":"a.example.com.")"), "");
  EXPECT_EQ(error(""), "spec.externalName: Required value");
  EXPECT_EQ(error(R"(,"externalName":"a","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"])"),
            "[spec.clusterIPs: Forbidden: may not be set for ExternalName services, "
            "spec.ipFamilies: Forbidden: may not be set for ExternalName services]");
}

TEST(ServiceTest, NameMayStartWithDigit) {
  StrategyHarness services(NewServiceStrategy());
  EXPECT_EQ(services.strategy().name_rule()("1abc", false).size(), 0u);
  EXPECT_EQ(services.strategy().name_rule()("a.b", false),
            validation::Messages{"must not contain dots"});
}

TEST(ServiceTest, PrimaryClusterIPIsImmutable) {
  StrategyHarness services(NewServiceStrategy());
  const Object made = services.Create(With(R"(,"ports":[{"port":80}])")).object;
  auto error = [&](std::string_view spec) {
    return services.Update(made, R"({"spec":)" + std::string(spec) + "}").error;
  };
  EXPECT_EQ(error(R"({"clusterIP":"10.0.0.2","clusterIPs":["10.0.0.2"]})"),
            R"(spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set)");
  EXPECT_EQ(error(R"({"clusterIPs":["10.0.0.2"]})"),
            R"([spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set, )"
            R"(spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`])");
  EXPECT_EQ(error(R"({"clusterIP":"","clusterIPs":null})"),
            "spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset");
  EXPECT_EQ(error(R"({"ports":[{"port":81}]})"), "");
}

TEST(ServiceTest, ChangeOfTypeClearsUnchangedFieldsOfOldType) {
  StrategyHarness services(NewServiceStrategy());
  const Object made = services
                          .Create(With(R"(,"type":"LoadBalancer","externalTrafficPolicy":"Local",
      "healthCheckNodePort":31000,"loadBalancerClass":"e.com/x","ports":[{"port":80,"nodePort":30000}])"))
                          .object;
  auto cluster = services.Update(made, R"({"spec":{"type":"ClusterIP"}})");
  EXPECT_EQ(cluster.error, "");
  EXPECT_EQ(cluster.Text(),
            R"({"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],)"
            R"("internalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],)"
            R"("ipFamilyPolicy":"SingleStack","ports":[{"port":80,"protocol":"TCP",)"
            R"("targetPort":80}],"sessionAffinity":"None","type":"ClusterIP"},)"
            R"("status":{"loadBalancer":{}}})");
  auto name = services.Update(made, R"({"spec":{"type":"ExternalName","externalName":"a.b"}})");
  EXPECT_EQ(name.error, "");
  EXPECT_EQ(name.Text(), R"({"spec":{"externalName":"a.b","ports":[{"port":80,"protocol":"TCP",)"
                         R"("targetPort":80}],"sessionAffinity":"None","type":"ExternalName"},)"
                         R"("status":{"loadBalancer":{}}})");
  EXPECT_EQ(
      services.Update(made, R"({"spec":{"type":"ClusterIP","healthCheckNodePort":31001}})").error,
      "spec.healthCheckNodePort: Invalid value: 31001: may only be set when `type` is "
      "'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  EXPECT_EQ(services.Update(made, R"({"spec":{"loadBalancerClass":"e.com/y"}})").error,
            R"(spec.loadBalancerClass: Invalid value: "e.com/y": may not change once set)");
}

TEST(ServiceTest, OnlyLoadBalancersHaveStatus) {
  StrategyHarness services(NewServiceStrategy());
  auto balancer = services.Create(With(R"(,"type":"LoadBalancer","ports":[{"port":80}])"));
  auto status = services.Update(balancer.object, R"({"spec":null,
      "status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"h.example.com"}]}}})",
                                "status");
  // The defaults depend on the type, so there are none if the client omits it.
  EXPECT_EQ(status.error,
            "status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` "
            "is set");
  status = services.Update(balancer.object, R"({"status":{"loadBalancer":{"ingress":
      [{"ip":"1.2.3.4"},{"hostname":"h.example.com"}]}}})",
                           "status");
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(services.Row(status.object),
            R"(["a","LoadBalancer","10.0.0.1","1.2.3.4,h.example.com","80/TCP","60m",)"
            R"("\u003cnone\u003e"])");
  auto plain = services.Create(With(R"(,"ports":[{"port":80}])"));
  EXPECT_EQ(services
                .Update(plain.object,
                        R"({"status":{"loadBalancer":{"ingress":[{"hostname":"h"}]}}})", "status")
                .error,
            "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "
            "LoadBalancer");
}

TEST(ServiceTest, ShowsAddressesAndPortsInTable) {
  StrategyHarness services(NewServiceStrategy());
  auto row = [&](std::string_view spec) {
    return services.Row(services.Create(With("," + std::string(spec))).object);
  };
  EXPECT_EQ(row(R"("selector":{"x":"y","a":"b"},"externalIPs":["1.2.3.4"],"ports":[{"port":80}])"),
            R"(["a","ClusterIP","10.0.0.1","1.2.3.4","80/TCP","60m","a=b,x=y"])");
  EXPECT_EQ(row(R"("type":"NodePort","ports":[{"name":"a","port":53,"nodePort":30001},
      {"name":"b","port":53,"protocol":"UDP","nodePort":30001}])"),
            R"(["a","NodePort","10.0.0.1","\u003cnone\u003e","53:30001/TCP,53:30001/UDP","60m",)"
            R"("\u003cnone\u003e"])");
  EXPECT_EQ(row(R"("type":"LoadBalancer")"),
            R"(["a","LoadBalancer","10.0.0.1","\u003cpending\u003e","\u003cnone\u003e","60m",)"
            R"("\u003cnone\u003e"])");
}

TEST(ServiceTest, WarnsAboutFieldsWithoutEffect) {
  StrategyHarness services(NewServiceStrategy());
  auto warnings = [&](std::string_view spec) {
    return services.Create(With(R"(,"ports":[{"port":80}],)" + std::string(spec))).warnings;
  };
  EXPECT_EQ(warnings(R"("externalName":"a.b")"),
            Warnings{"spec.externalName is ignored when spec.type is not \"ExternalName\""});
  EXPECT_EQ(warnings(R"("trafficDistribution":"PreferClose")"),
            Warnings{"spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                     "\"PreferSameZone\""});
  EXPECT_EQ(warnings(R"("externalIPs":["1.2.3.4"])"),
            Warnings{"spec.externalIPs is deprecated and may no longer be implemented in some "
                     "clusters"});
}

TEST(EndpointsTest, ValidatesAddressesAndPorts) {
  const CreateCase cases[] = {
      {R"("subsets":[{"addresses":[{"ip":"10.0.0.1"}]}])", ""},
      {R"("subsets":[{}])",
       "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
      {R"("subsets":[{"addresses":[{"ip":"x"}]}])",
       R"([subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. )"
       R"(10.9.8.7 or 2001:db8::ffff), subsets[0].addresses[0].ip: Invalid value: "x": must be a )"
       "valid IP address]"},
      {R"("subsets":[{"notReadyAddresses":[{"ip":"224.0.0.1"}]}])",
       R"(subsets[0].notReadyAddresses[0].ip: Invalid value: "224.0.0.1": may not be in the )"
       "link-local multicast range (224.0.0.0/24, ff02::/10)"},
      {R"("subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":0},{"port":1}]}])",
       "[subsets[0].ports[0].name: Required value, subsets[0].ports[0].port: Invalid value: 0: "
       "must be between 1 and 65535, inclusive, subsets[0].ports[1].name: Required value]"},
  };
  StrategyHarness endpoints(NewEndpointsStrategy());
  ExpectCreate(endpoints, cases);
}

TEST(EndpointsTest, ShowsFirstThreeAddresses) {
  StrategyHarness endpoints(NewEndpointsStrategy());
  auto row = [&](std::string_view subsets) {
    return endpoints.Row(
        endpoints.Create(R"({"metadata":{"name":"a"},"subsets":)" + std::string(subsets) + "}")
            .object);
  };
  EXPECT_EQ(row("[]"), R"(["a","\u003cnone\u003e","60m"])");
  EXPECT_EQ(row(R"([{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],
      "ports":[{"name":"x","port":80},{"name":"y","port":81}]}])"),
            R"(["a","10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...","60m"])");
  EXPECT_EQ(row(R"([{"addresses":[{"ip":"10.0.0.1"}]}])"), R"(["a","10.0.0.1","60m"])");
}

}  // namespace
}  // namespace cox::apiserver
