// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/clock.h"
#include "proxy/rules/table_state.h"
#include "tests/proxy/namespaces.h"

// Measures the cost of one change with ten thousand Services. The figures are printed; the test
// asserts that the cost does not depend on unchanged Services.
namespace cox::proxy {
namespace {

constexpr int kServices = 10'000;

ServicePort MakeService(int number, int endpoints) {
  ServicePort port;
  port.ns = "default";
  port.service = "web-" + std::to_string(number);
  port.port_name = "http";
  port.port = 80;
  const std::string tail = std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
  port.cluster_ip = *Address::Parse("10.96." + tail);
  for (int i = 0; i < endpoints; ++i) {
    port.cluster_endpoints.push_back(
        {*Address::Parse("10." + std::to_string(100 + i) + "." + tail), 8080, false});
  }
  port.any_endpoints = endpoints > 0;
  return port;
}

ObjectKey KeyOfService(const ServicePort& port) { return {port.ns, port.service}; }

TEST(ProxyScaleTest, OneChangeWithTenThousandServices) {
  const Namespace node;
  if (geteuid() != 0 || !node.ok()) GTEST_SKIP() << "network namespaces need root";
  Result<std::unique_ptr<nft::Socket>> opened = Status::Internal("not opened");
  node.Do([&] { opened = nft::Socket::Open(); });
  if (!opened.ok()) GTEST_SKIP() << opened.status().ToString();
  nft::Socket& kernel = **opened;

  RealClock clock;
  TableState table(Family::kIpv4, {}, {.cluster_cidr = Prefix::Parse("10.100.0.0/14")});
  ServicePorts all;
  for (int i = 0; i < kServices; ++i) {
    const ServicePort port = MakeService(i, 2);
    all[KeyOfService(port)] = {port};
  }
  auto start = clock.Monotonic();
  const Status replaced = table.Replace(kernel, all);
  ASSERT_TRUE(replaced.ok()) << replaced.ToString();
  const std::chrono::duration<double, std::milli> full = clock.Monotonic() - start;

  std::vector<double> milliseconds;
  size_t messages = 0;
  for (int round = 0; round < 21; ++round) {
    const ServicePort port = MakeService(round * 100, 2 + round % 2);
    start = clock.Monotonic();
    const Status applied = table.Apply(kernel, {{KeyOfService(port), {port}}});
    const std::chrono::duration<double, std::milli> took = clock.Monotonic() - start;
    ASSERT_TRUE(applied.ok()) << applied.ToString();
    if (table.last_messages() == 0) continue;  // nothing changed
    milliseconds.push_back(took.count());
    messages = table.last_messages();
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  ASSERT_FALSE(milliseconds.empty());
  const double median = milliseconds[milliseconds.size() / 2];
  GTEST_LOG_(INFO) << kServices << " services with 2 endpoints: whole table " << full.count()
                   << " ms; one endpoint more: median " << median << " ms, most "
                   << milliseconds.back() << " ms, " << messages << " messages";
  EXPECT_LE(messages, 10);
  EXPECT_LT(median, full.count() / 10);
}

}  // namespace
}  // namespace cox::proxy
