// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/cluster_trust.h"

#include <unistd.h>

#include <fstream>

#include "api/core/v1.h"
#include "apiserver/testing/write_harness.h"
#include "net/tls.h"

namespace cox::apiserver {
namespace {

using core::v1::ConfigMap;

class ClusterTrustTest : public ::testing::Test, protected WriteHarness {
 protected:
  ClusterTrustTest() {
    core::v1::Namespace ns;
    ns.metadata.name = "kube-system";
    Create(Object::Of(ns));
    clients_ = Ca("clients");
    proxies_ = Ca("proxies");
  }
  static std::string Ca(const std::string& name) {
    // Valid in the test clock's year too.
    return net::MakeCertificate({.common_name = name, .days = 10'000, .is_ca = true}, nullptr)
        ->certificate_pem;
  }
  static std::string File(const std::string& name, const std::string& text) {
    // Tests run concurrently in separate processes.
    std::string path = testing::TempDir() + "/trust_" + std::to_string(getpid()) + "_" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // Reconciles once with these options.
  void Reconcile(AuthenticationOptions options) {
    MetricsRegistry metrics;
    auto authentication =
        Authentication::Open(ctx(), std::move(options), *ServiceAccountTokens::Create({}), metrics);
    ASSERT_TRUE(authentication.ok()) << authentication.status().message();
    SyncAll();
    const Status status = ClusterTrustLoop(registry(), **authentication).reconcile(ctx());
    ASSERT_TRUE(status.ok()) << status.message();
    SyncAll();
  }
  std::string Data(std::string_view key) {
    const auto map = Read<ConfigMap>("extension-apiserver-authentication", "kube-system");
    const std::string* value = map.data.Get(key);
    return value == nullptr ? "none" : *value;
  }

  std::string clients_, proxies_;
};

TEST_F(ClusterTrustTest, PublishesTrustedCasAndHeaders) {
  const AuthenticationOptions options = {
      .client_ca_file = File("clients", clients_),
      .front_proxy = {.client_ca_file = File("proxies", proxies_),
                      .allowed_names = {"front-proxy-client"},
                      .username_headers = {"X-Remote-User"},
                      .group_headers = {"X-Remote-Group"},
                      .extra_prefixes = {"X-Remote-Extra-"}}};
  Reconcile(options);
  EXPECT_EQ(Data("client-ca-file"), clients_);
  EXPECT_EQ(Data("requestheader-client-ca-file"), proxies_);
  EXPECT_EQ(Data("requestheader-allowed-names"), R"(["front-proxy-client"])");
  EXPECT_EQ(Data("requestheader-username-headers"), R"(["X-Remote-User"])");
  EXPECT_EQ(Data("requestheader-uid-headers"), "[]");
  EXPECT_EQ(Data("requestheader-group-headers"), R"(["X-Remote-Group"])");
  EXPECT_EQ(Data("requestheader-extra-headers-prefix"), R"(["X-Remote-Extra-"])");
  const storage::Revision before = Revision();
  Reconcile(options);
  EXPECT_EQ(Revision(), before) << "there was nothing to do";
}

TEST_F(ClusterTrustTest, DataOfOtherServersIsKept) {
  Reconcile({.client_ca_file = File("clients", clients_)});
  EXPECT_EQ(Data("requestheader-client-ca-file"), "none");
  const std::string next = Ca("next");
  Reconcile({.client_ca_file = File("clients", next)});
  EXPECT_EQ(Data("client-ca-file"), clients_ + next);
}

TEST_F(ClusterTrustTest, WithoutCasNothingIsPublished) {
  const storage::Revision before = Revision();
  Reconcile({});
  EXPECT_EQ(Revision(), before);
}

}  // namespace
}  // namespace cox::apiserver
