// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/tls_pair.h"

#include <gtest/gtest.h>

#include "apiserver/testing/test_certificates.h"

namespace cox::apiserver {
namespace {

using namespace test_certificates;  // NOLINT: helpers of this test

TEST(TlsPairTest, ReportsProblems) {
  Key key = NewKey(), other_key = NewKey();
  const std::string certificate = CertificatePem(key), good = KeyPem(key), odd = KeyPem(other_key);
  const std::string other = "-----BEGIN X-----\nAQ==\n-----END X-----\n";
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAQ==\n-----END CERTIFICATE-----\n";
  const std::string rsa = KeyPem(Key(EVP_RSA_gen(2048)));
  struct Case {
    std::string certificate, key;
    std::string_view problem;
  } cases[] = {
      {certificate, good, ""},
      {other + certificate + certificate, other + good, ""},
      {"", good, "tls: failed to find any PEM data in certificate input"},
      {good, certificate,
       "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
       "PEM inputs may have been switched"},
      {other, good,
       "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM "
       "blocks of the following types: [X]"},
      {broken, good, "x509: malformed certificate"},
      {certificate, "", "tls: failed to find any PEM data in key input"},
      {certificate, certificate,
       "tls: found a certificate rather than a key in the PEM for the private key"},
      {certificate, other + other,
       "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after "
       "skipping PEM blocks of the following types: [X X]"},
      {certificate, odd, "tls: private key does not match public key"},
      {certificate, rsa, "tls: private key type does not match public key type"},
  };
  for (const Case& c : cases) EXPECT_EQ(TlsPairProblem(c.certificate, c.key), c.problem);
}

}  // namespace
}  // namespace cox::apiserver
