// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/shared/signers.h"

#include "base/strings.h"

namespace cox::apiserver {

using certificates::v1::CertificateSigningRequest;

bool MayUseSigner(const Authorizer& authorizer, const UserInfo& user, std::string_view verb,
                  std::string_view signer) {
  RequestInfo attributes;
  attributes.verb = verb;
  attributes.is_resource = true;
  attributes.prefix = "apis";
  attributes.group = "certificates.k8s.io";
  attributes.version = "*";
  attributes.resource = "signers";
  attributes.name = signer;
  if (authorizer.Authorize(user, attributes).allowed) return true;
  attributes.name = std::string(Cut(signer, '/').before) + "/*";
  return authorizer.Authorize(user, attributes).allowed;
}

const CertificateSigningRequest* UpdatedSigningRequest(const AdmissionRequest& request,
                                                       std::string_view subresource) {
  if (request.operation != Operation::kUpdate || request.subresource != subresource) return nullptr;
  return request.object->As<CertificateSigningRequest>();
}

}  // namespace cox::apiserver
