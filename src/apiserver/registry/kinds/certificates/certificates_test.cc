// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/certificates/v1.h"
#include "apiserver/registry/kinds/certificates/certificate_pem.h"
#include "apiserver/registry/kinds/certificates/signer_name.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/testing/strategy_harness.h"
#include "apiserver/testing/test_certificates.h"
#include "object/codec/json/text.h"

namespace cox::apiserver {
namespace {

const std::string& Request() {
  static const std::string kPem = test_certificates::RequestPem(test_certificates::NewKey());
  return kPem;
}
const std::string& Certificate() {
  static const std::string kPem = test_certificates::CertificatePem(test_certificates::NewKey());
  return kPem;
}

StrategyPtr NewCsrStrategy() {
  std::vector<StrategyPtr> kinds;
  AddCertificatesKinds(&kinds);
  return std::move(kinds.front());
}

std::string Base64(std::string_view bytes) {
  std::string text;
  json::WriteBase64(bytes, &text);
  return text;
}

// A valid request, with `more` at the beginning of its spec.
std::string Csr(std::string_view more, std::string_view usages = R"(["client auth"])",
                std::string_view signer = "example.com/s") {
  std::string text = R"({"metadata":{"name":"a"},"spec":{)" + std::string(more);
  text.append(R"("request":")").append(Base64(Request())).append(R"(","signerName":")");
  text.append(signer).append(R"(","usages":)").append(usages).append("}}");
  return text;
}

TEST(CertificatePemTest, RequestMustBePkcs10) {
  constexpr std::string_view kNone = "PEM block type must be CERTIFICATE REQUEST";
  EXPECT_EQ(CertificateRequestProblem(Request()), "");
  EXPECT_EQ(CertificateRequestProblem(""), kNone);
  EXPECT_EQ(CertificateRequestProblem(Certificate()), kNone);
  EXPECT_NE(CertificateRequestProblem("-----BEGIN CERTIFICATE REQUEST-----\nAQ==\n"
                                      "-----END CERTIFICATE REQUEST-----\n"),
            "");
}

TEST(CertificatePemTest, ChainMustContainOnlyCertificates) {
  std::string chain = Certificate() + Certificate();
  EXPECT_EQ(CertificateChainProblem(""), "");
  EXPECT_EQ(CertificateChainProblem(chain), "");
  EXPECT_EQ(CertificateChainProblem("x"), "must contain at least one CERTIFICATE PEM block");
  EXPECT_EQ(CertificateChainProblem(chain + Request()),
            "only CERTIFICATE PEM blocks are allowed, found \"CERTIFICATE REQUEST\"");
  EXPECT_EQ(CertificateChainProblem("-----BEGIN CERTIFICATE-----\na: b\n\nAQ==\n"
                                    "-----END CERTIFICATE-----\n"),
            "no PEM block headers are permitted");
}

TEST(SignerNameTest, MustBeDomainAndPath) {
  struct Case {
    std::string_view name, error;
  } cases[] = {
      {"example.com/my.signer", ""},
      {"", "p: Required value"},
      {"nodomain",
       "p: Invalid value: \"nodomain\": must be a fully qualified domain and path of the form "
       "'example.com/signer-name'"},
      {"a/b/c",
       "p: Invalid value: \"a/b/c\": must be a fully qualified domain and path of the form "
       "'example.com/signer-name'"},
      {"a/b",
       "p: Invalid value: \"a\": should be a domain with at least two segments separated by dots"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(AggregateText(ValidateSignerName(c.name, FieldPath("p"))), c.error);
  }
}

TEST(CsrTest, CreateSetsIdentityFromAuthenticatedUser) {
  StrategyHarness csrs(NewCsrStrategy());
  csrs.user() = {.name = "jane", .uid = "7", .groups = {"dev"}, .extra = {{"k", {"v"}}}};
  auto made = csrs.Create(Csr(R"("username":"fake","groups":["fake"],"expirationSeconds":3600,)"));
  EXPECT_EQ(made.error, "");
  const auto& spec = made.object.As<certificates::v1::CertificateSigningRequest>()->spec;
  EXPECT_EQ(spec.username, "jane");
  EXPECT_EQ(spec.uid, "7");
  EXPECT_EQ(spec.groups, std::vector<std::string>{"dev"});
  ASSERT_NE(spec.extra.Get("k"), nullptr);
  EXPECT_EQ(csrs.Row(made.object), R"(["a","60m","example.com/s","jane","60m","Pending"])");
}

TEST(CsrTest, ValidatesSpec) {
  StrategyHarness csrs(NewCsrStrategy());
  EXPECT_EQ(csrs.Create(Csr("", "[]")).error, "spec.usages: Required value");
  EXPECT_EQ(csrs.Create(Csr("", R"(["client auth","client auth"])")).error,
            "spec.usages[1]: Duplicate value: \"client auth\"");
  EXPECT_TRUE(csrs.Create(Csr("", R"(["X"])"))
                  .error.starts_with("spec.usages[0]: Unsupported value: \"X\": supported values: "
                                     "\"any\", \"cert sign\", \"client auth\""));
  EXPECT_EQ(csrs.Create(Csr(R"("expirationSeconds":5,)")).error,
            "spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 "
            "seconds (10 minutes)");
  EXPECT_EQ(csrs.Create(Csr("", R"(["client auth"])", "kubernetes.io/legacy-unknown")).error,
            "spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy "
            "signerName is not allowed via this API version");
  EXPECT_EQ(csrs.Create(R"({"metadata":{"name":"a"},"spec":{"request":"AA==",
                            "signerName":"example.com/s","usages":["client auth"]}})")
                .error,
            "spec.request: Invalid value: \"AA==\": PEM block type must be CERTIFICATE REQUEST");
}

TEST(CsrTest, OnlyApprovalCanAddApproved) {
  StrategyHarness csrs(NewCsrStrategy());
  Object old = csrs.Create(Csr("")).object;
  constexpr std::string_view kApprove =
      R"({"status":{"conditions":[{"type":"Approved","status":"True"}]},
          "spec":{"signerName":"example.com/changed"}})";
  EXPECT_EQ(csrs.Update(old, kApprove, "status").error,
            "status.conditions: Forbidden: updates may not add a condition of type \"Approved\"");
  auto approved = csrs.Update(old, kApprove, "approval");
  EXPECT_EQ(approved.error, "");
  const auto& csr = *approved.object.As<certificates::v1::CertificateSigningRequest>();
  EXPECT_EQ(csr.spec.signerName, "example.com/s");
  ASSERT_EQ(csr.status.conditions.size(), 1u);
  EXPECT_FALSE(csr.status.conditions[0].lastUpdateTime.IsZero());
  EXPECT_FALSE(csr.status.conditions[0].lastTransitionTime.IsZero());

  EXPECT_EQ(
      csrs.Update(approved.object,
                  R"({"status":{"conditions":[{"type":"Denied","status":"True"}]}})", "approval")
          .error,
      "status.conditions: Forbidden: updates may not remove a condition of type "
      "\"Approved\"");
  EXPECT_EQ(csrs.Update(old, R"({"status":{"conditions":[{"type":"Approved","status":"False"}]}})",
                        "approval")
                .error,
            "status.conditions[0].status: Unsupported value: \"False\": supported values: "
            "\"True\"");
}

TEST(CsrTest, StatusCanSetCertificateOnlyOnce) {
  StrategyHarness csrs(NewCsrStrategy());
  Object old = csrs.Create(Csr("")).object;
  EXPECT_EQ(csrs.Update(old, R"({"status":{"certificate":"AA=="}})", "status").error,
            "status.certificate: Invalid value: \"<certificate data>\": must contain at least one "
            "CERTIFICATE PEM block");
  auto issued =
      csrs.Update(old, R"({"status":{"certificate":")" + Base64(Certificate()) + "\"}}", "status");
  EXPECT_EQ(issued.error, "");
  EXPECT_EQ(csrs.Update(issued.object, R"({"status":{"certificate":null}})", "status").error,
            "status.certificate: Forbidden: updates may not modify existing certificate content");
  EXPECT_EQ(
      csrs.Update(issued.object, R"({"spec":{"usages":[]},"status":{"certificate":null}})").Text(),
      issued.Text());
}

}  // namespace
}  // namespace cox::apiserver
