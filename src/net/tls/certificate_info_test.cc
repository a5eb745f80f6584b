// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>

#include "base/check.h"
#include "base/clock.h"
#include "net/certificate.h"
#include "net/many_clients.h"
#include "net/tls.h"
#include "net/tls/client_identity.h"

namespace cox::net {
namespace {

CertificatePair Made(const CertificateRequest& request, const CertificatePair* issuer = nullptr) {
  auto made = MakeCertificate(request, issuer);
  COX_CHECK_OK(made.status());
  return *std::move(made);
}

Clock::WallTime Now() { return RealClock().Now(); }

TEST(ReadCertificateTest, ReturnsNamesValidityAndCaFlag) {
  const CertificatePair ca = Made({.common_name = "the-ca", .days = 10, .is_ca = true});
  const CertificatePair leaf = Made({.common_name = "leaf",
                                     .dns_names = {"a.svc", "b.svc"},
                                     .ip_addresses = {"127.0.0.1", "::1"},
                                     .days = 2},
                                    &ca);
  const auto info = ReadCertificate(leaf.certificate_pem + ca.certificate_pem);
  ASSERT_TRUE(info.ok()) << info.status().ToString();
  EXPECT_EQ(info->common_name, "leaf");
  EXPECT_EQ(info->dns_names, (std::vector<std::string>{"a.svc", "b.svc"}));
  EXPECT_EQ(info->ip_addresses, (std::vector<std::string>{"127.0.0.1", "::1"}));
  EXPECT_FALSE(info->is_ca);
  EXPECT_TRUE(info->ValidAt(Now()));
  EXPECT_FALSE(info->ValidAt(Now() + std::chrono::hours(49)));
  EXPECT_FALSE(info->ValidAt(Now() - std::chrono::hours(2)));

  const auto of_ca = ReadCertificate(ca.certificate_pem);
  ASSERT_TRUE(of_ca.ok());
  EXPECT_TRUE(of_ca->is_ca);

  for (const char* bad : {"", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"}) {
    EXPECT_TRUE(ReadCertificate(bad).status().Is(Reason::kBadRequest)) << bad;
  }
}

TEST(SplitCertificatesTest, KeepsTheOrderOfTheText) {
  const CertificatePair a = Made({.common_name = "a"});
  const CertificatePair b = Made({.common_name = "b"});
  const auto split = SplitCertificates("# two\n" + a.certificate_pem + "\n" + b.certificate_pem);
  ASSERT_TRUE(split.ok()) << split.status().ToString();
  EXPECT_EQ(*split, (std::vector<std::string>{a.certificate_pem, b.certificate_pem}));
}

TEST(TrustedCasTest, RejectInvalidCertificates) {
  const CertificatePair ca = Made({.common_name = "ca", .is_ca = true});
  const auto cas = TrustedCas::Parse(ca.certificate_pem);
  ASSERT_TRUE(cas.ok());
  EXPECT_TRUE(TrustedCas::Parse("nothing").status().Is(Reason::kBadRequest));
  const auto refused = [&](const std::vector<std::string>& chain, Clock::WallTime now) {
    return (*cas)->VerifyClient(chain, now).Is(Reason::kUnauthorized);
  };
  EXPECT_TRUE(refused({}, Now()));
  EXPECT_TRUE(refused({"no certificate"}, Now()));
}

TEST(CertificateIssuerTest, SignsClientCertificates) {
  const CertificatePair ca = Made({.common_name = "ca", .is_ca = true});
  const auto issuer = CertificateIssuer::Create(ca);
  ASSERT_TRUE(issuer.ok()) << issuer.status().ToString();
  CertificateRequest request;
  request.common_name = "system:node:sim-1";
  request.organizations = {"system:nodes"};
  request.days = 1;
  request.client_auth = true;
  const Clock::WallTime now = Now();
  const auto issued = (*issuer)->Issue(request, now);
  ASSERT_TRUE(issued.ok()) << issued.status().ToString();
  const auto& identity = static_cast<const ParsedIdentity&>(**issued);
  unsigned char* der = nullptr;
  const int size = i2d_X509(identity.certificate(), &der);
  ASSERT_GT(size, 0);
  const std::vector<std::string> chain = {
      std::string(reinterpret_cast<char*>(der), static_cast<size_t>(size))};
  OPENSSL_free(der);
  const auto trusted = TrustedCas::Parse(ca.certificate_pem);
  ASSERT_TRUE(trusted.ok());
  EXPECT_TRUE((*trusted)->VerifyClient(chain, now).ok());
  EXPECT_TRUE((*trusted)->VerifyClient(chain, now + std::chrono::hours(23)).ok());
  EXPECT_FALSE((*trusted)->VerifyClient(chain, now + std::chrono::hours(25)).ok());
}

TEST(CertificateIssuerTest, RejectsCertificateThatIsNoCa) {
  const CertificatePair leaf = Made({.common_name = "leaf"});
  EXPECT_TRUE(CertificateIssuer::Create(leaf).status().Is(Reason::kBadRequest));
  EXPECT_TRUE(CertificateIssuer::Create({.certificate_pem = "x", .key_pem = "y"})
                  .status()
                  .Is(Reason::kBadRequest));
}

}  // namespace
}  // namespace cox::net
