// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

#include "base/file_watch.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "cmd/component/certificate_files.h"
#include "coxswain/config.h"
#include "net/certificate.h"
#include "net/endpoint.h"

namespace cox::cmd {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

constexpr hours kDay{24};

// The certificate that a TLS server sends, as PEM; "" if the handshake fails.
std::string ServedCertificate(uint16_t port) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection(BIO_new_ssl_connect(context.get()),
                                                                 BIO_free_all);
  BIO_set_conn_hostname(connection.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  SSL* ssl = nullptr;
  BIO_get_ssl(connection.get(), &ssl);
  if (BIO_do_handshake(connection.get()) != 1) return "";
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> out(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509(out.get(), SSL_get0_peer_certificate(ssl));
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<size_t>(size)};
}

class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() {
    char pattern[] = "/tmp/cox-credentials-XXXXXX";
    dir_ = ::mkdtemp(pattern);
    options_.paths = UpPaths(dir_);
    options_.kubeconfig = dir_ / "admin.conf";
    options_.node_name = "n";
    options_.node_ip = options_.advertise_address = "192.0.2.7";
    options_.api_service_ip = "10.96.0.1";
    options_.cluster_domain = "cluster.local";
    options_.ports.api = 6443;
    EXPECT_TRUE(EnsureCredentials(options_, clock_.Now()).ok());
  }
  ~CredentialsTest() override {
    scope_.Stop();
    scope_.Wait();
    fs::remove_all(dir_);
  }

  void Keep() {
    EXPECT_TRUE(
        scope_.Go("credentials", [this](Context& ctx) { KeepCredentials(ctx, options_); }).ok());
    clock_.WaitForWaiters(1);
  }
  // Returns when the check at that time has ended; there is none before it.
  void AdvanceDays(int days) {
    clock_.SetWallTime(clock_.Now() + (days - 1) * kDay);
    Advance(kDay);
  }
  void Advance(Clock::Duration time) {
    clock_.Advance(time);
    clock_.WaitForWaiters(1);
  }
  std::string Read(const fs::path& path) { return ReadBoundedFile(path).value_or(""); }
  // The certificates of the cluster that expire, as PEM.
  std::map<std::string, std::string> Certificates() {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir_)) {
      const std::string name = fs::relative(entry.path(), dir_);
      if (entry.path().extension() == ".conf") {
        const auto config = ParseKubeconfig(Read(entry.path()), dir_);
        all[name] = config.ok() ? config->certificate_pem : "";
      } else if (entry.path().extension() == ".crt" && !name.ends_with("ca.crt")) {
        all[name] = Read(entry.path());
      }
    }
    return all;
  }
  std::map<std::string, std::string> Permanent() {
    std::map<std::string, std::string> all;
    for (const char* name : {"ca", "front-proxy-ca", "etcd/ca"}) {
      for (const char* type : {".crt", ".key"}) {
        all[name] += Read(options_.paths.pki() / (std::string(name) + type));
      }
    }
    all["sa"] = Read(options_.paths.pki() / "sa.key") + Read(options_.paths.pki() / "sa.pub");
    return all;
  }

  TestClock clock_;
  fs::path dir_;
  UpOptions options_;
  Context ctx_{clock_};
  Scope scope_{ctx_, "test"};
};

TEST_F(CredentialsTest, AllCertificatesAreRenewedWhileTheClusterRuns) {
  const auto permanent = Permanent();
  auto before = Certificates();
  EXPECT_EQ(before.size(), 12U);
  Keep();
  // Less than a third of the validity is left after 244 days. Three renewals.
  for (int i = 0; i < 3; ++i) {
    AdvanceDays(243);
    EXPECT_EQ(Certificates(), before);
    AdvanceDays(1);
    const auto after = Certificates();
    ASSERT_EQ(after.size(), before.size());
    for (const auto& [name, pem] : after) {
      EXPECT_NE(pem, before[name]) << name;
      const auto info = net::ReadCertificate(pem);
      ASSERT_TRUE(info.ok()) << name;
      EXPECT_TRUE(info->ValidAt(clock_.Now())) << name;
      EXPECT_TRUE(info->ValidAt(clock_.Now() + 364 * kDay)) << name;
    }
    before = after;
  }
  EXPECT_EQ(Permanent(), permanent);
}

TEST_F(CredentialsTest, FailedRenewalIsRetried) {
  const auto before = Certificates();
  const fs::path key = options_.paths.pki() / "ca.key";
  fs::rename(key, dir_ / "elsewhere");
  Keep();
  AdvanceDays(250);
  EXPECT_EQ(Certificates(), before);
  fs::rename(dir_ / "elsewhere", key);
  Advance(hours(1));
  EXPECT_NE(Certificates(), before);
}

TEST_F(CredentialsTest, OneKubeconfigDoesNotPreventRenewalOfOthers) {
  std::ofstream(options_.kubeconfig) << "clusters:\n- name: other\n";
  const auto before = Certificates();
  const auto result = EnsureCredentials(options_, clock_.Now() + 250 * kDay);
  EXPECT_TRUE(result.status().Is(Reason::kConflict)) << result.status().ToString();
  for (const auto& [name, pem] : Certificates()) {
    if (name == "admin.conf") continue;
    EXPECT_NE(pem, before.at(name)) << name;
  }
}

// The server is set up like the API server's.
TEST_F(CredentialsTest, NewConnectionsGetRenewedCertificate) {
  RealClock real;
  const Context serving(real);
  const CertificateFiles files{options_.paths.pki() / "apiserver.crt",
                               options_.paths.pki() / "apiserver.key"};
  const auto tls =
      net::ServerTls::Create({.certificate = {Read(files.certificate), Read(files.key)}});
  ASSERT_TRUE(tls.ok()) << tls.status().ToString();
  const auto followed = FollowCertificateFiles(serving, files, *tls);
  ASSERT_TRUE(followed.ok()) << followed.status().ToString();
  const auto endpoint = net::Endpoint::Start(
      serving, "test", {"127.0.0.1", 0},
      [](Context&, const net::Request&) { return net::Response{.status = 200}; }, *tls);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status().ToString();
  const std::string first = Read(files.certificate);
  EXPECT_EQ(ServedCertificate((*endpoint)->port()), first);
  Keep();
  AdvanceDays(250);
  const std::string second = Read(files.certificate);
  EXPECT_NE(second, first);
  // The change of the file is reported by the kernel.
  const Context limit = serving.WithTimeout(std::chrono::seconds(30));
  while (ServedCertificate((*endpoint)->port()) != second && !limit.Done()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(ServedCertificate((*endpoint)->port()), second);
}

}  // namespace
}  // namespace cox::cmd
