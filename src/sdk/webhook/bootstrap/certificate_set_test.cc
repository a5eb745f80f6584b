// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/bootstrap/certificate_set.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/testing/test_clock.h"
#include "net/certificate.h"

namespace cox::sdk {
namespace {

using std::chrono::hours;
constexpr Clock::WallTime kNow = TestClock::kStart;
constexpr hours kDay(24);

SelfSigned Options() {
  return {.secret = {"system", "hook-cert"},
          .names = {"hook.system.svc", "127.0.0.1"},
          .days = 90,
          .ca_days = 900};
}

CertificateSet Made(Renewal renewal = Renewal::kAll, const CertificateSet& from = {},
                    Clock::WallTime now = kNow) {
  Result<CertificateSet> made = Renewed(from, Options(), renewal, now);
  COX_CHECK_OK(made.status());
  return *std::move(made);
}

TEST(CertificateSetTest, IsStoredInATlsSecret) {
  const CertificateSet certificates = Made();
  core::v1::Secret secret;
  secret.data["other"] = "stays";
  ToSecret(certificates, secret);
  EXPECT_EQ(secret.type, "kubernetes.io/tls");
  EXPECT_EQ(secret.data["other"], "stays");
  EXPECT_EQ(FromSecret(secret), certificates);
}

TEST(CertificateSetTest, HasTheRequestedNamesAndValidity) {
  const CertificateSet certificates = Made();
  const auto serving = net::ReadCertificate(certificates.serving.certificate_pem);
  ASSERT_TRUE(serving.ok());
  EXPECT_EQ(serving->dns_names, std::vector<std::string>{"hook.system.svc"});
  EXPECT_EQ(serving->ip_addresses, std::vector<std::string>{"127.0.0.1"});
  EXPECT_TRUE(serving->ValidAt(kNow + 89 * kDay));
  EXPECT_FALSE(serving->ValidAt(kNow + 91 * kDay));
  const auto ca = net::ReadCertificate(certificates.ca_bundle);
  ASSERT_TRUE(ca.ok());
  EXPECT_TRUE(ca->is_ca);
  EXPECT_TRUE(ca->ValidAt(kNow + 899 * kDay));
}

TEST(NeededRenewalTest, NormalizesIpAddresses) {
  SelfSigned options = Options();
  options.names = {"0:0:0:0:0:0:0:1", "2001:DB8::00ff", "[fd00:0::5]", "::ffff:10.0.0.1"};
  const Result<CertificateSet> made = Renewed({}, options, Renewal::kAll, kNow);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const auto serving = net::ReadCertificate(made->serving.certificate_pem);
  ASSERT_TRUE(serving.ok());
  EXPECT_EQ(serving->ip_addresses,
            (std::vector<std::string>{"::1", "2001:db8::ff", "fd00::5", "::ffff:10.0.0.1"}));
  EXPECT_TRUE(serving->dns_names.empty());
  EXPECT_EQ(NeededRenewal(*made, options, kNow), Renewal::kNothing);
  options.names.push_back("::2");
  EXPECT_EQ(NeededRenewal(*made, options, kNow), Renewal::kServing);
}

TEST(NeededRenewalTest, ReturnsTheNecessaryRenewal) {
  const CertificateSet good = Made();
  const auto with = [&good](auto change) {
    CertificateSet changed = good;
    change(changed);
    return changed;
  };
  SelfSigned other_names = Options();
  other_names.names.push_back("more.system.svc");
  struct Case {
    const char* name;
    CertificateSet certificates;
    SelfSigned options;
    Clock::WallTime now;
    Renewal wanted;
  };
  const Case cases[] = {
      {"good", good, Options(), kNow, Renewal::kNothing},
      {"two thirds of its time", good, Options(), kNow + 59 * kDay, Renewal::kNothing},
      {"the last third", good, Options(), kNow + 61 * kDay, Renewal::kServing},
      {"expired", good, Options(), kNow + 100 * kDay, Renewal::kServing},
      {"the CA's last third", good, Options(), kNow + 601 * kDay, Renewal::kAll},
      {"before its time", good, Options(), kNow - 2 * kDay, Renewal::kAll},
      {"another name", good, other_names, kNow, Renewal::kServing},
      {"nothing", {}, Options(), kNow, Renewal::kAll},
      {"no serving certificate", with([](CertificateSet& m) { m.serving = {}; }), Options(), kNow,
       Renewal::kServing},
      {"another key", with([](CertificateSet& m) { m.serving.key_pem = Made().serving.key_pem; }),
       Options(), kNow, Renewal::kServing},
      {"a CA key that is another's", with([](CertificateSet& m) { m.ca_key = Made().ca_key; }),
       Options(), kNow, Renewal::kAll},
      {"a CA that is none",
       with([](CertificateSet& m) { m.ca_bundle = m.serving.certificate_pem; }), Options(), kNow,
       Renewal::kAll},
      {"garbage", with([](CertificateSet& m) { m.ca_bundle = "garbage"; }), Options(), kNow,
       Renewal::kAll},
  };
  for (const Case& test : cases) {
    EXPECT_EQ(NeededRenewal(test.certificates, test.options, test.now), test.wanted) << test.name;
  }
  const Clock::WallTime due = RenewalDue(good, Options());
  EXPECT_EQ(NeededRenewal(good, Options(), due - hours(1)), Renewal::kNothing);
  EXPECT_EQ(NeededRenewal(good, Options(), due + hours(1)), Renewal::kServing);
}

TEST(RenewedTest, KeepsTheCaWhenOnlyTheServingCertificateIsRenewed) {
  const CertificateSet before = Made();
  const CertificateSet after = Made(Renewal::kServing, before, kNow + 61 * kDay);
  EXPECT_EQ(after.ca_bundle, before.ca_bundle);
  EXPECT_EQ(after.ca_key, before.ca_key);
  EXPECT_NE(after.serving.certificate_pem, before.serving.certificate_pem);
  EXPECT_EQ(NeededRenewal(after, Options(), kNow + 61 * kDay), Renewal::kNothing);
}

TEST(RenewedTest, AddsANewCaBeforeTheValidOnes) {
  const CertificateSet first = Made();
  const CertificateSet second = Made(Renewal::kAll, first, kNow + 601 * kDay);
  EXPECT_TRUE(second.ca_bundle.ends_with(first.ca_bundle));
  EXPECT_GT(second.ca_bundle.size(), first.ca_bundle.size());
  EXPECT_EQ(NeededRenewal(second, Options(), kNow + 601 * kDay), Renewal::kNothing);
  // The first has expired by then, and the number of CAs is limited.
  CertificateSet next = Made(Renewal::kAll, second, kNow + 1000 * kDay);
  EXPECT_EQ(next.ca_bundle.find(first.ca_bundle), std::string::npos);
  for (int i = 0; i < 5; ++i) next = Made(Renewal::kAll, next, kNow + 1000 * kDay);
  EXPECT_EQ(net::SplitCertificates(next.ca_bundle)->size(), 3U);
}

}  // namespace
}  // namespace cox::sdk
