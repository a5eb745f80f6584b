// SPDX-License-Identifier: Apache-2.0
#include "cmd/pki/pki.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/file_watch.h"
#include "coxswain/config.h"
#include "net/certificate.h"

namespace cox::cmd {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class PkiTest : public ::testing::Test {
 protected:
  PkiTest() {
    char pattern[] = "/tmp/cox-pki-XXXXXX";
    dir_ = ::mkdtemp(pattern);
    options_.dir = dir_ / "pki";
    options_.apiserver_addresses = {"10.96.0.1", "192.0.2.7"};
    options_.node_name = "node-1";
    options_.node_addresses = {"192.0.2.7"};
  }
  ~PkiTest() override { fs::remove_all(dir_); }

  std::vector<std::string> Ensure(Clock::WallTime now) {
    auto made = EnsurePki(options_, now);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *made : std::vector<std::string>();
  }
  net::CertificateInfo Read(const std::string& name) {
    const auto text = ReadBoundedFile(options_.dir / (name + ".crt"));
    EXPECT_TRUE(text.ok()) << name;
    const auto info = net::ReadCertificate(*text);
    EXPECT_TRUE(info.ok()) << name;
    return *info;
  }

  fs::path dir_;
  PkiOptions options_;
  const Clock::WallTime now_ = RealClock().Now();
};

TEST_F(PkiTest, CreatesFilesOfKubeadmWithPrivateKeyModes) {
  Ensure(now_);
  for (const char* name :
       {"ca", "apiserver", "apiserver-kubelet-client", "front-proxy-ca", "front-proxy-client",
        "etcd/ca", "etcd/server", "etcd/peer", "apiserver-etcd-client", "kubelet"}) {
    EXPECT_TRUE(fs::exists(options_.dir / (std::string(name) + ".crt"))) << name;
    const auto mode = fs::status(options_.dir / (std::string(name) + ".key")).permissions();
    EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write) << name;
  }
  EXPECT_EQ(fs::status(options_.dir / "sa.key").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(ReadBoundedFile(options_.dir / "sa.pub")->starts_with("-----BEGIN PUBLIC KEY"));
  const net::CertificateInfo apiserver = Read("apiserver");
  EXPECT_THAT(apiserver.ip_addresses, Contains("10.96.0.1"));
  EXPECT_THAT(apiserver.dns_names, Contains("kubernetes.default.svc.cluster.local"));
  EXPECT_EQ(Read("kubelet").common_name, "system:node:node-1");
}

TEST_F(PkiTest, CreatedOnceAndRenewedBeforeExpiry) {
  Ensure(now_);
  EXPECT_THAT(Ensure(now_ + std::chrono::hours(24)), IsEmpty());
  const auto later = Ensure(now_ + std::chrono::hours(24 * 340));
  EXPECT_THAT(later, Contains("apiserver"));
  EXPECT_THAT(later, Not(Contains("ca")));
  EXPECT_THAT(later, Not(Contains("sa.key")));
}

TEST_F(PkiTest, RenewsIfNameIsMissingOrCaIsNew) {
  Ensure(now_);
  options_.apiserver_addresses.emplace_back("198.51.100.3");
  EXPECT_THAT(Ensure(now_), ElementsAre("apiserver"));
  fs::remove(options_.dir / "etcd/ca.crt");
  EXPECT_THAT(Ensure(now_),
              ElementsAre("etcd/ca", "etcd/server", "etcd/peer", "apiserver-etcd-client"));
}

TEST_F(PkiTest, RenewsIfKeyDoesNotMatch) {
  Ensure(now_);
  fs::copy_file(options_.dir / "kubelet.key", options_.dir / "apiserver.key",
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(Ensure(now_), ElementsAre("apiserver"));
  EXPECT_THAT(Ensure(now_), IsEmpty());
}

TEST_F(PkiTest, KubeconfigOfOtherClustersIsNotReplaced) {
  Ensure(now_);
  const fs::path path = dir_ / "config";
  constexpr std::string_view kOthers =
      "apiVersion: v1\nkind: Config\nclusters:\n- name: work\n  cluster: {server: https://w}\n";
  std::ofstream(path) << kOthers;
  const KubeconfigUser user{"config", "kubernetes-admin", {"system:masters"}};
  const KubeconfigOptions options{.pki = options_.dir, .server = "https://192.0.2.7:6443"};
  const auto refused = EnsureKubeconfig(path, user, options, now_);
  EXPECT_TRUE(refused.status().Is(Reason::kConflict)) << refused.status().ToString();
  EXPECT_EQ(*ReadBoundedFile(path), kOthers);
  std::ofstream(path) << "";
  EXPECT_TRUE(EnsureKubeconfig(path, user, options, now_).ok()) << "an empty one is nobody's";
}

TEST_F(PkiTest, KubeconfigIsKeptWhileValid) {
  Ensure(now_);
  const KubeconfigUser user{"admin.conf", "kubernetes-admin", {"system:masters"}};
  KubeconfigOptions options{.pki = options_.dir, .server = "https://192.0.2.7:6443"};
  const fs::path path = dir_ / "admin.conf";
  EXPECT_TRUE(*EnsureKubeconfig(path, user, options, now_));
  EXPECT_FALSE(*EnsureKubeconfig(path, user, options, now_));
  const auto config = ParseKubeconfig(*ReadBoundedFile(path), dir_);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server, "https://192.0.2.7:6443");
  EXPECT_EQ(net::ReadCertificate(config->certificate_pem)->common_name, "kubernetes-admin");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);

  options.server = "https://192.0.2.7:7443";
  EXPECT_TRUE(*EnsureKubeconfig(path, user, options, now_));
  EXPECT_TRUE(*EnsureKubeconfig(path, user, options, now_ + std::chrono::hours(24 * 340)));
}

}  // namespace
}  // namespace cox::cmd
