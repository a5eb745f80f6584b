// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpoints/endpoints_controller.h"

#include <gmock/gmock.h>

#include "service_fixture.h"

namespace cox::controllers {
namespace {

using core::v1::Endpoints;
using core::v1::Service;
using testkit::WaitFor;
using testkit::WaitForDeleted;

class EndpointsTest : public ServiceTest {
 protected:
  Endpoints Until(const std::function<bool(const Endpoints&)>& holds) {
    const auto endpoints = WaitFor<Endpoints>(*ctx, client(), {"default", "web"}, holds);
    EXPECT_TRUE(endpoints.ok()) << endpoints.status().ToString();
    return endpoints.ok() ? *endpoints : Endpoints();
  }
  static size_t Ready(const Endpoints& endpoints) {
    size_t count = 0;
    for (const auto& subset : endpoints.subsets) count += subset.addresses.size();
    return count;
  }
  static size_t NotReady(const Endpoints& endpoints) {
    size_t count = 0;
    for (const auto& subset : endpoints.subsets) count += subset.notReadyAddresses.size();
    return count;
  }
};

TEST_F(EndpointsTest, EndpointsFollowPodsAndAreDeletedWithService) {
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  CreatePod("web-1", "10.0.0.2", false);
  Start({AddEndpointsController});
  Endpoints endpoints =
      Until([](const Endpoints& now) { return Ready(now) == 1 && NotReady(now) == 1; });
  ASSERT_EQ(endpoints.subsets.size(), 1u);
  EXPECT_EQ(endpoints.subsets[0].addresses[0].ip, "10.0.0.1");
  EXPECT_EQ(endpoints.subsets[0].ports.at(0).port, 8080);
  EXPECT_EQ(*endpoints.metadata.labels.Get("endpoints.kubernetes.io/managed-by"),
            "endpoint-controller");
  SetReady("web-1", true);
  Until([](const Endpoints& now) { return Ready(now) == 2; });
  // Recreated after a deletion by another client.
  ASSERT_TRUE(client().Delete<Endpoints>(*ctx, {"default", "web"}).ok());
  endpoints = Until([](const Endpoints& now) { return Ready(now) == 2; });
  ASSERT_TRUE(client().Delete<Service>(*ctx, {"default", "web"}).ok());
  EXPECT_TRUE(WaitForDeleted<Endpoints>(*ctx, client(), {"default", "web"}).ok());
}

// Only successful syncs of large Services are followed by a pause that does not grow.
TEST_F(EndpointsTest, FailedWriteForLargeServiceIsRetriedAsAFailure) {
  CreateService("web");
  for (int i = 0; i < 50; ++i) {
    CreatePod("web-" + std::to_string(i), "10.0.0." + std::to_string(i + 1), true);
  }
  clock.emplace();
  late.emplace(client());
  late->FailWith([](const Operation& operation) {
    const bool writes = operation.resource == Resource::Of<Endpoints>() &&
                        operation.verb == Operation::Verb::kCreate;
    return writes ? Status::Forbidden("not now") : Status();
  });
  Start({AddEndpointsController});
  while (late->Count<Endpoints>(Operation::Verb::kCreate) < 4 && !ctx->Done()) {
    clock->Advance(std::chrono::milliseconds(1));
    std::this_thread::yield();
  }
  EXPECT_EQ(Metric("controller_runtime_reconcile_total{", "result=\"requeue_after\""), 0);
  late->FailWith(nullptr);
  while (!client().Get<Endpoints>(*ctx, {"default", "web"}).ok() && !ctx->Done()) {
    clock->Advance(std::chrono::milliseconds(10));
    std::this_thread::yield();
  }
  Until([](const Endpoints& now) { return Ready(now) == 50; });
}

TEST_F(EndpointsTest, EndpointsOfServicesWithoutSelectorAreNotChanged) {
  Service external;
  external.metadata = {.name = "by-hand", .namespace_ = "default"};
  external.spec.ports = {{.name = "http", .protocol = "TCP", .port = 80}};
  Create(external);
  Endpoints mine;
  mine.metadata = {.name = "by-hand", .namespace_ = "default"};
  mine.subsets = {{.addresses = {{.ip = "192.0.2.1"}},
                   .ports = {{.name = "http", .port = 80, .protocol = "TCP"}}}};
  const Endpoints stored = Create(mine);
  CreateService("web");
  Start({AddEndpointsController});
  Until([](const Endpoints& now) { return now.subsets.empty(); });
  const auto after = client().Get<Endpoints>(*ctx, {"default", "by-hand"});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->metadata.resourceVersion, stored.metadata.resourceVersion);
}

}  // namespace
}  // namespace cox::controllers
