// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/certificate_approval/certificate_approval.h"

#include "apiserver/admission/plugins/shared/signers.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;

class CertificateApproval final : public AdmissionPlugin {
 public:
  explicit CertificateApproval(const Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const override { return "CertificateApproval"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    const CertificateSigningRequest* csr = UpdatedSigningRequest(request, "approval");
    if (csr == nullptr) return {};
    if (MayUseSigner(authorizer_, request.user, "approve", csr->spec.signerName)) return {};
    return ForbiddenError(
        request.resource.resource(), request.name,
        "user not permitted to approve requests with signerName " + Quote(csr->spec.signerName));
  }

 private:
  const Authorizer& authorizer_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewCertificateApproval(const AdmissionParts& parts) {
  return std::make_unique<CertificateApproval>(parts.authorizer);
}

}  // namespace cox::apiserver
