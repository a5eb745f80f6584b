// SPDX-License-Identifier: Apache-2.0
#include "api/certificates/v1.h"
#include "api/certificates/v1beta1.h"
#include "apiserver/admission/plugins/certificate_approval/certificate_approval.h"
#include "apiserver/admission/plugins/certificate_signing/certificate_signing.h"
#include "apiserver/admission/plugins/certificate_subject_restriction/certificate_subject_restriction.h"
#include "apiserver/admission/plugins/cluster_trust_bundle_attest/cluster_trust_bundle_attest.h"
#include "apiserver/testing/admission_harness.h"
#include "apiserver/testing/test_certificates.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;
using certificates::v1beta1::ClusterTrustBundle;

class SignersTest : public PluginTest {
 protected:
  static Object Csr(const std::string& signer, const std::string& status = "{}") {
    return Of<CertificateSigningRequest>(R"({"metadata":{"name":"r"},"spec":{"signerName":")" +
                                         signer + R"("},"status":)" + status + "}");
  }
  static constexpr const char* kApproved =
      R"({"conditions":[{"type":"Approved","status":"True","reason":"r"}]})";
};

TEST_F(SignersTest, ApprovalRequiresPermissionForTheSignerOrItsDomain) {
  auto plugin = NewCertificateApproval(parts_);
  const Object old = Csr("example.com/a/b");
  Object now = Csr("example.com/a/b", kApproved);
  EXPECT_EQ(OnUpdate(*plugin, now, old, "approval"),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted "
            "to approve requests with signerName \"example.com/a/b\"");
  EXPECT_EQ(authorizer_.authorized, (std::vector<std::string>{"approve signers example.com/a/b",
                                                              "approve signers example.com/*"}));
  for (const char* allowed : {"approve signers example.com/a/b", "approve signers example.com/*"}) {
    authorizer_.allowed = {allowed};
    EXPECT_EQ(OnUpdate(*plugin, now, old, "approval"), "") << allowed;
  }
  authorizer_.allowed = {"sign signers example.com/*"};
  EXPECT_NE(OnUpdate(*plugin, now, old, "approval"), "");
  EXPECT_EQ(OnUpdate(*plugin, now, old, "status"), "");  // checked by CertificateSigning
  EXPECT_EQ(OnUpdate(*plugin, now, old), "");
}

TEST_F(SignersTest, SigningRequiresPermissionForTheSignerIfTheStatusChanges) {
  auto plugin = NewCertificateSigning(parts_);
  const Object old = Csr("example.com/a", kApproved);
  Object same = Csr("example.com/a", kApproved);
  EXPECT_EQ(OnUpdate(*plugin, same, old, "status"), "");
  for (const char* status :
       {R"({"conditions":[{"type":"Approved","status":"True","reason":"r"}],"certificate":"eA=="})",
        "{}"}) {
    Object now = Csr("example.com/a", status);
    authorizer_.allowed.clear();
    EXPECT_EQ(OnUpdate(*plugin, now, old, "status"),
              "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not "
              "permitted to sign requests with signerName \"example.com/a\"");
    authorizer_.allowed = {"sign signers example.com/a"};
    EXPECT_EQ(OnUpdate(*plugin, now, old, "status"), "");
  }
}

TEST_F(SignersTest, ClientCsrForSystemMastersIsRejected) {
  auto plugin = NewCertificateSubjectRestriction(parts_);
  const test_certificates::Key key = test_certificates::NewKey();
  const auto csr = [&](const std::string& signer, const std::vector<std::string>& groups) {
    Object object = Csr(signer);
    object.As<CertificateSigningRequest>()->spec.request =
        test_certificates::RequestPem(key, "jane", groups);
    return object;
  };
  Object master = csr("kubernetes.io/kube-apiserver-client", {"dev", "system:masters"});
  EXPECT_EQ(OnCreate(*plugin, master),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: use of "
            "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
  Object elsewhere = csr("example.com/a", {"system:masters"});
  EXPECT_EQ(OnCreate(*plugin, elsewhere), "");
  Object harmless = csr("kubernetes.io/kube-apiserver-client", {"dev", "system:mastersx"});
  EXPECT_EQ(OnCreate(*plugin, harmless), "");
  Object broken = Csr("kubernetes.io/kube-apiserver-client");
  EXPECT_EQ(OnCreate(*plugin, broken),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: failed to parse "
            "CSR: PEM block type must be CERTIFICATE REQUEST");
}

TEST_F(SignersTest, TrustBundleRequiresAttestPermissionForTheSigner) {
  auto plugin = NewClusterTrustBundleAttest(parts_);
  const auto bundle = [](const std::string& signer) {
    return Of<ClusterTrustBundle>(R"({"metadata":{"name":"b"},"spec":{"signerName":")" + signer +
                                  R"(","trustBundle":""}})");
  };
  // ClusterTrustBundles are not served; any other resource can be used in the request.
  const auto judge = [&](const Object& object) {
    const Object csr = Csr("x");
    AdmissionRequest request = Request(Operation::kCreate, csr);
    request.object = &object;
    return plugin->Validate(api_.ctx(), request).message();
  };
  EXPECT_EQ(judge(bundle("")), "");
  EXPECT_TRUE(judge(bundle("example.com/a"))
                  .ends_with("user not permitted to attest for signerName \"example.com/a\""));
  authorizer_.allowed = {"attest signers example.com/*"};
  EXPECT_EQ(judge(bundle("example.com/a")), "");
}

}  // namespace
}  // namespace cox::apiserver
