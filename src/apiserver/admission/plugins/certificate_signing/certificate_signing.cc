// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/certificate_signing/certificate_signing.h"

#include "apiserver/admission/plugins/shared/signers.h"
#include "base/strings.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;

class CertificateSigning final : public AdmissionPlugin {
 public:
  explicit CertificateSigning(const Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const override { return "CertificateSigning"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    const CertificateSigningRequest* csr = UpdatedSigningRequest(request, "status");
    if (csr == nullptr || request.old == nullptr) return {};
    const auto& old = *request.old->As<CertificateSigningRequest>();
    if (DeepEqual(csr->status, old.status)) return {};
    if (MayUseSigner(authorizer_, request.user, "sign", old.spec.signerName)) return {};
    return ForbiddenError(
        request.resource.resource(), request.name,
        "user not permitted to sign requests with signerName " + Quote(old.spec.signerName));
  }

 private:
  const Authorizer& authorizer_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewCertificateSigning(const AdmissionParts& parts) {
  return std::make_unique<CertificateSigning>(parts.authorizer);
}

}  // namespace cox::apiserver
