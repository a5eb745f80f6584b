// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/certificate_subject_restriction/certificate_subject_restriction.h"

#include "api/certificates/v1.h"
#include "apiserver/registry/kinds/certificates/certificate_pem.h"

namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;

// Rejects client CSRs for system:masters.
class CertificateSubjectRestriction final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "CertificateSubjectRestriction"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
    const auto* csr = request.object->As<CertificateSigningRequest>();
    constexpr std::string_view kSigner = "kubernetes.io/kube-apiserver-client";
    if (csr == nullptr || csr->spec.signerName != kSigner) return {};
    const Result<std::vector<std::string>> groups =
        CertificateRequestOrganizations(csr->spec.request);
    if (!groups.ok())
      return ForbiddenError(request.resource.resource(), request.name,
                            "failed to parse CSR: " + groups.status().message());
    for (const std::string& group : *groups) {
      if (group == kMastersGroup) {
        return ForbiddenError(
            request.resource.resource(), request.name,
            "use of " + std::string(kSigner) + " signer with " + group + " group is not allowed");
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewCertificateSubjectRestriction(const AdmissionParts&) {
  return std::make_unique<CertificateSubjectRestriction>();
}

}  // namespace cox::apiserver
