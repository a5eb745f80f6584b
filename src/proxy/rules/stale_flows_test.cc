// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/stale_flows.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace cox::proxy {
namespace {

const Address kVip = *Address::Parse("10.96.0.10");
const Address kNode = *Address::Parse("192.168.7.1");
const Address kOther = *Address::Parse("8.8.8.8");
const Address kOne = *Address::Parse("10.0.0.1");
const Address kTwo = *Address::Parse("10.0.0.2");

ServicePort Dns(uint8_t protocol, const std::vector<Address>& endpoints) {
  ServicePort port;
  port.protocol = protocol;
  port.cluster_ip = kVip;
  port.port = 53;
  port.node_port = 30053;
  for (const Address& address : endpoints) port.cluster_endpoints.push_back({address, 5353, false});
  return port;
}

TEST(StaleFlowsTest, FindsFlowsWithoutValidEndpoint) {
  const ObjectKey key{"kube-system", "dns"};
  const ServicePorts both = {{key, {Dns(IPPROTO_UDP, {kOne, kTwo})}}};
  const ServicePorts one = {{key, {Dns(IPPROTO_UDP, {kOne})}}};
  const ServicePorts tcp = {{key, {Dns(IPPROTO_TCP, {kOne})}}};
  const ServicePorts gone = {{key, {}}};
  const ServicePorts none;
  const struct {
    const char* name;
    const ServicePorts& before;
    const ServicePorts& now;
    nft::Flow flow;
    bool stale;
  } kCases[] = {
      {"its endpoint is there", both, one, {17, kVip, 53, kOne, 5353}, false},
      {"its endpoint went", both, one, {17, kVip, 53, kTwo, 5353}, true},
      {"its endpoint has another port", both, one, {17, kVip, 53, kOne, 53}, true},
      {"begun before there was a Service", none, one, {17, kVip, 53, kVip, 53}, true},
      {"another port of the address", both, one, {17, kVip, 54, kTwo, 5353}, false},
      {"at the node port", both, one, {17, kNode, 30053, kTwo, 5353}, true},
      {"the node port of somebody else", both, one, {17, kOther, 30053, kOther, 30053}, false},
      {"the Service went", both, gone, {17, kVip, 53, kOne, 5353}, true},
      {"TCP ends by itself", tcp, tcp, {6, kVip, 53, kTwo, 5353}, false},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(StaleFlows(test.before, test.now, {kNode}).Contains(test.flow), test.stale);
  }
  EXPECT_TRUE(StaleFlows(tcp, tcp, {kNode}).empty());
  EXPECT_TRUE(OnlyUdp(tcp).empty());
  EXPECT_EQ(OnlyUdp(both), both);
}

}  // namespace
}  // namespace cox::proxy
