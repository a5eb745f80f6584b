// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/cluster_trust_bundle_attest/cluster_trust_bundle_attest.h"

#include "api/certificates/v1beta1.h"
#include "apiserver/admission/plugins/shared/signers.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using certificates::v1beta1::ClusterTrustBundle;

// Requires the `attest` permission for the signer of a ClusterTrustBundle.
class ClusterTrustBundleAttest final : public AdmissionPlugin {
 public:
  explicit ClusterTrustBundleAttest(const Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const override { return "ClusterTrustBundleAttest"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.object == nullptr) return {};
    const auto* bundle = request.object->As<ClusterTrustBundle>();
    if (bundle == nullptr || bundle->spec.signerName.empty()) return {};
    if (MayUseSigner(authorizer_, request.user, "attest", bundle->spec.signerName)) return {};
    return ForbiddenError(
        request.resource.resource(), request.name,
        "user not permitted to attest for signerName " + Quote(bundle->spec.signerName));
  }

 private:
  const Authorizer& authorizer_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewClusterTrustBundleAttest(const AdmissionParts& parts) {
  return std::make_unique<ClusterTrustBundleAttest>(parts.authorizer);
}

}  // namespace cox::apiserver
