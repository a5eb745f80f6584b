// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/discovery.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "coxswain/client.h"
#include "sdk/testing/fake_transport.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kGroups =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
    R"({"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[)"
    R"({"resource":"backups","responseKind":{"group":"","version":"","kind":"Backup"},)"
    R"("scope":"Namespaced","verbs":["get"]},)"
    R"({"resource":"zones","responseKind":{"kind":"Zone"},"scope":"Cluster","verbs":["get"]},)"
    R"({"resource":"onlysub","scope":"Cluster"}]}]}]})";
constexpr std::string_view kResources =
    R"({"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[)"
    R"({"name":"backups","namespaced":true,"kind":"Backup","verbs":[]},)"
    R"({"name":"backups/status","namespaced":true,"kind":"Backup","verbs":[]}]})";

class DiscoveryTest : public testing::Test {
 protected:
  void Over(FakeTransport::Answer answer) {
    transport_ = std::make_shared<FakeTransport>(std::move(answer));
    client_ = MakeClient(transport_);
  }
  size_t requests() const { return transport_->requests().size(); }

  TestClock clock_;
  Context ctx_{clock_};
  std::shared_ptr<FakeTransport> transport_;
  std::unique_ptr<Client> client_;
};

TEST_F(DiscoveryTest, AggregatedDiscoveryUsesOneRequest) {
  Over([](const net::Request&) { return FakeResponse::Json(std::string(kGroups)); });
  const Result<Resource> backups = client_->Discover(ctx_, {"example.com", "v1", "Backup"});
  ASSERT_TRUE(backups.ok()) << backups.status().ToString();
  EXPECT_EQ(backups->plural, "backups");
  EXPECT_TRUE(backups->namespaced);
  EXPECT_EQ(backups->info, nullptr);
  const Result<Resource> zones = client_->Discover(ctx_, {"example.com", "v1", "Zone"});
  ASSERT_TRUE(zones.ok());
  EXPECT_FALSE(zones->namespaced);
  EXPECT_EQ(requests(), 1u);
  EXPECT_EQ(transport_->last().target, "/apis");
}

TEST_F(DiscoveryTest, FallsBackToTheGroupVersion) {
  for (const bool refuses : {true, false}) {
    Over([&](const net::Request& request) {
      if (request.target == "/apis/example.com/v1") {
        return FakeResponse::Json(std::string(kResources));
      }
      if (request.target == "/apis") {
        return refuses ? FakeResponse::Json("", 406)
                       : FakeResponse::Json(R"({"kind":"APIGroupList","apiVersion":"v1"})");
      }
      return FakeResponse::Json("", 404);
    });
    const Result<Resource> backups = client_->Discover(ctx_, {"example.com", "v1", "Backup"});
    ASSERT_TRUE(backups.ok()) << backups.status().ToString();
    EXPECT_EQ(backups->plural, "backups");
    EXPECT_TRUE(
        client_->Discover(ctx_, {"example.com", "v9", "Backup"}).status().Is(Reason::kNotFound));
  }
}

TEST_F(DiscoveryTest, UnknownKindsAreLookedUpAgainAfterADelay) {
  bool installed = false;
  Over([&](const net::Request&) {
    return FakeResponse::Json(installed ? std::string(kGroups)
                                        : R"({"kind":"APIGroupDiscoveryList","items":[]})");
  });
  const GroupVersionKind backup{"example.com", "v1", "Backup"};
  const Status status = client_->Discover(ctx_, backup).status();
  EXPECT_TRUE(status.Is(Reason::kNotFound));
  EXPECT_EQ(status.message(), R"(no matches for kind "Backup" in version "example.com/v1")");
  installed = true;
  EXPECT_FALSE(client_->Discover(ctx_, backup).ok());
  EXPECT_EQ(requests(), 1u) << "not at once";
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_TRUE(client_->Discover(ctx_, backup).ok());
  EXPECT_EQ(requests(), 2u);
}

TEST_F(DiscoveryTest, FailuresAreReturnedAndNotCached) {
  int code = 403;
  Over([&](const net::Request&) { return FakeResponse::Json(std::string(kGroups), code); });
  const GroupVersionKind backup{"example.com", "v1", "Backup"};
  EXPECT_TRUE(client_->Discover(ctx_, backup).status().Is(Reason::kForbidden));
  code = 200;
  EXPECT_TRUE(client_->Discover(ctx_, backup).ok());
  Over([&](const net::Request&) { return FakeResponse::Json("{\"kind\""); });
  EXPECT_TRUE(client_->Discover(ctx_, backup).status().Is(Reason::kInternalError));
}

}  // namespace
}  // namespace cox::sdk
