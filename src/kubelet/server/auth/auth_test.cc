// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_clock.h"
#include "kubelet/server/auth/authentication.h"
#include "kubelet/server/auth/authorization.h"
#include "net/certificate.h"

namespace cox::kubelet {
namespace {

using testing::ElementsAre;

TEST(AttributesTest, MapsRequestsToVerbAndNodeSubresource) {
  struct Case {
    const char* method;
    const char* path;
    const char* verb;
    std::vector<std::string> subresources;
  };
  const Case cases[] = {
      {"GET", "/stats/summary", "get", {"stats"}},
      {"GET", "/metrics", "get", {"metrics"}},
      {"GET", "/metrics/cadvisor", "get", {"metrics"}},
      {"GET", "/metricsfoo", "get", {"proxy"}},
      {"GET", "/logs/syslog", "get", {"log"}},
      {"GET", "/pods", "get", {"pods", "proxy"}},
      {"GET", "/runningpods/", "get", {"pods", "proxy"}},
      {"GET", "/healthz", "get", {"healthz", "proxy"}},
      {"GET", "/configz", "get", {"configz", "proxy"}},
      {"GET", "/containerLogs/a/b/c", "get", {"proxy"}},
      {"POST", "/exec/a/b/c", "create", {"proxy"}},
      {"GET", "/exec/a/b/c", "get", {"proxy"}},
      {"DELETE", "/x", "delete", {"proxy"}},
  };
  for (const Case& c : cases) {
    const Attributes attributes = AttributesOf(c.method, c.path);
    EXPECT_EQ(attributes.verb, c.verb) << c.path;
    EXPECT_EQ(attributes.subresources, c.subresources) << c.path;
  }
}

class AuthenticationTest : public testing::Test {
 protected:
  static std::string Der(const std::string& pem) {
    const size_t begin = pem.find('\n') + 1;
    const std::string base64 = pem.substr(begin, pem.find("-----END") - begin);
    std::string out;
    uint32_t bits = 0;
    int count = 0;
    for (const char c : base64) {
      constexpr std::string_view kDigits =
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      const size_t digit = kDigits.find(c);
      if (digit == std::string_view::npos) continue;
      bits = bits << 6 | static_cast<uint32_t>(digit);
      count += 6;
      if (count >= 8) out.push_back(static_cast<char>(bits >> (count -= 8) & 0xff));
    }
    return out;
  }
  net::Request From(const net::CertificatePair& certificate) {
    auto peer = std::make_shared<net::Peer>();
    peer->certificates = {Der(certificate.certificate_pem)};
    net::Request request;
    request.peer = std::move(peer);
    return request;
  }

  TestClock clock_;
  Context ctx_{clock_};
  const net::CertificatePair ca_ =
      *net::MakeCertificateAt({.common_name = "ca", .is_ca = true}, nullptr, clock_.Now());
  const std::string file_ = testing::TempDir() + "kubelet-auth-ca.crt";
};

TEST_F(AuthenticationTest, ClientCertificateProvidesUserAndGroups) {
  std::ofstream(file_) << ca_.certificate_pem;
  auto auth = Authentication::Create(ctx_, {.webhook = false, .client_ca_file = file_}, nullptr);
  ASSERT_TRUE(auth.ok()) << auth.status().ToString();
  const net::CertificateRequest admin{
      .common_name = "admin", .organizations = {"system:masters"}, .client_auth = true};
  const auto user =
      (*auth)->Authenticate(ctx_, From(*net::MakeCertificateAt(admin, &ca_, clock_.Now())));
  ASSERT_TRUE(user.ok()) << user.status().ToString();
  EXPECT_EQ(user->username, "admin");
  EXPECT_THAT(user->groups, ElementsAre("system:masters", "system:authenticated"));
  // A certificate of another CA, and no certificate.
  const auto other =
      *net::MakeCertificateAt({.common_name = "ca", .is_ca = true}, nullptr, clock_.Now());
  EXPECT_TRUE((*auth)
                  ->Authenticate(ctx_, From(*net::MakeCertificateAt(admin, &other, clock_.Now())))
                  .status()
                  .Is(Reason::kUnauthorized));
  EXPECT_TRUE((*auth)->Authenticate(ctx_, {}).status().Is(Reason::kUnauthorized));
  std::filesystem::remove(file_);
}

TEST_F(AuthenticationTest, AnonymousRequestsRequireOption) {
  auto auth = Authentication::Create(ctx_, {.anonymous = true, .webhook = false}, nullptr);
  ASSERT_TRUE(auth.ok());
  EXPECT_EQ((*auth)->Authenticate(ctx_, {})->username, "system:anonymous");
  net::Request request;
  request.headers = {{"authorization", "Bearer x"}};
  EXPECT_TRUE((*auth)->Authenticate(ctx_, request).status().Is(Reason::kUnauthorized));
  EXPECT_FALSE(Authentication::Create(ctx_, {.client_ca_file = "/not/there"}, nullptr).ok());
}

}  // namespace
}  // namespace cox::kubelet
