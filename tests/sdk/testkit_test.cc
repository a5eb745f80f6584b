// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "testkit/test_cluster.h"

namespace cox::testkit {
namespace {

using testing::HasSubstr;
using Time = TestClusterOptions::Time;

std::unique_ptr<TestCluster> StartCluster(TestClusterOptions options = {}) {
  Result<std::unique_ptr<TestCluster>> cluster = TestCluster::Start(std::move(options));
  EXPECT_TRUE(cluster.ok()) << cluster.status().ToString();
  return cluster.ok() ? *std::move(cluster) : nullptr;
}

std::string TextOf(const net::Response& response) {
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  return text;
}

// The answer's code and body; the error's text where there is none.
struct Answer {
  int code = 0;
  std::string text;
};
Answer Ask(Context& ctx, Transport& transport, std::string method, std::string target,
           std::string body = {}) {
  Result<net::Response> response =
      transport.Do(ctx, {.method = std::move(method),
                         .target = std::move(target),
                         .headers = {{"content-type", "application/json"}},
                         .body = std::move(body),
                         .peer = nullptr});
  if (!response.ok()) return {0, response.status().message()};
  return {response->status, TextOf(*response)};
}

std::string ConfigMapNamed(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})";
}
constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";

TEST(TestClusterTest, IsThereInAnInstant) {
  RealClock clock;
  const Clock::SteadyTime begin = clock.Monotonic();
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  const Answer answer =
      Ask(cluster->context(), *cluster->transport(), "GET", "/api/v1/namespaces/default");
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(clock.Monotonic() - begin);
  EXPECT_EQ(answer.code, 200) << answer.text;
  std::printf("from nothing to the first answer: %.1f ms\n", static_cast<double>(took.count()) / 1e3);
  RecordProperty("start_us", static_cast<int>(took.count()));
  EXPECT_LT(took, std::chrono::seconds(10));
}

}  // namespace
}  // namespace cox::testkit
