// SPDX-License-Identifier: Apache-2.0
#include "api/certificates/v1.h"
#include "api/certificates/v1beta1.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/registry/certificates/certificate_pem.h"
#include "base/strings.h"
#include "object/equal.h"

// Who may speak for a signer of certificates, and what nobody may ask of one.
namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;
using certificates::v1beta1::ClusterTrustBundle;

// Whether the user may do `verb` with the signer: by its name, or by "<domain>/*" for all signers
// of its domain. Signers are no objects; they exist for authorization alone.
bool MayUseSigner(const Authorizer& authorizer, const UserInfo& user, std::string_view verb,
                  std::string_view signer) {
  RequestInfo asked;
  asked.verb = verb;
  asked.is_resource = true;
  asked.prefix = "apis";
  asked.group = "certificates.k8s.io";
  asked.version = "*";
  asked.resource = "signers";
  asked.name = signer;
  if (authorizer.Authorize(user, asked).allowed) return true;
  asked.name = std::string(Cut(signer, '/').before) + "/*";
  return authorizer.Authorize(user, asked).allowed;
}

Status Refused(const AdmissionRequest& request, const std::string& why) {
  return ForbiddenError(request.resource.resource(), request.name, why);
}

// The request for a certificate that is updated on the way `subresource`, or null.
const CertificateSigningRequest* Updated(const AdmissionRequest& request,
                                         std::string_view subresource) {
  if (request.operation != Operation::kUpdate || request.subresource != subresource) return nullptr;
  return request.object->As<CertificateSigningRequest>();
}

class CertificateApproval final : public AdmissionPlugin {
 public:
  explicit CertificateApproval(const Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const override { return "CertificateApproval"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    const CertificateSigningRequest* csr = Updated(request, "approval");
    if (csr == nullptr) return {};
    if (MayUseSigner(authorizer_, request.user, "approve", csr->spec.signerName)) return {};
    return Refused(request, "user not permitted to approve requests with signerName " +
                                Quote(csr->spec.signerName));
  }

 private:
  const Authorizer& authorizer_;
};

class CertificateSigning final : public AdmissionPlugin {
 public:
  explicit CertificateSigning(const Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const override { return "CertificateSigning"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    const CertificateSigningRequest* csr = Updated(request, "status");
    if (csr == nullptr || request.old == nullptr) return {};
    const auto& old = *request.old->As<CertificateSigningRequest>();
    if (DeepEqual(csr->status, old.status)) return {};
    if (MayUseSigner(authorizer_, request.user, "sign", old.spec.signerName)) return {};
    return Refused(request, "user not permitted to sign requests with signerName " +
                                Quote(old.spec.signerName));
  }

 private:
  const Authorizer& authorizer_;
};

// Nobody becomes master of the cluster by a certificate of the cluster's own signer.
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
    if (!groups.ok()) return Refused(request, "failed to parse CSR: " + groups.status().message());
    for (const std::string& group : *groups) {
      if (group == kMastersGroup) {
        return Refused(request, "use of " + std::string(kSigner) + " signer with " + group +
                                    " group is not allowed");
      }
    }
    return {};
  }
};

// Whom workloads should trust on behalf of a signer is for the signer to say.
class ClusterTrustBundleAttest final : public AdmissionPlugin {
 public:
  explicit ClusterTrustBundleAttest(const Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const override { return "ClusterTrustBundleAttest"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.object == nullptr) return {};
    const auto* bundle = request.object->As<ClusterTrustBundle>();
    if (bundle == nullptr || bundle->spec.signerName.empty()) return {};
    if (MayUseSigner(authorizer_, request.user, "attest", bundle->spec.signerName)) return {};
    return Refused(request,
                   "user not permitted to attest for signerName " + Quote(bundle->spec.signerName));
  }

 private:
  const Authorizer& authorizer_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewCertificateApproval(const AdmissionParts& parts) {
  return std::make_unique<CertificateApproval>(parts.authorizer);
}

std::unique_ptr<const AdmissionPlugin> NewCertificateSigning(const AdmissionParts& parts) {
  return std::make_unique<CertificateSigning>(parts.authorizer);
}

std::unique_ptr<const AdmissionPlugin> NewCertificateSubjectRestriction(const AdmissionParts&) {
  return std::make_unique<CertificateSubjectRestriction>();
}

std::unique_ptr<const AdmissionPlugin> NewClusterTrustBundleAttest(const AdmissionParts& parts) {
  return std::make_unique<ClusterTrustBundleAttest>(parts.authorizer);
}

}  // namespace cox::apiserver
