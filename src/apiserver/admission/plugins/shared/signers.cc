// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/shared/signers.h"

#include "base/strings.h"

namespace cox::apiserver {

using certificates::v1::CertificateSigningRequest;

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

const CertificateSigningRequest* UpdatedSigningRequest(const AdmissionRequest& request,
                                                       std::string_view subresource) {
  if (request.operation != Operation::kUpdate || request.subresource != subresource) return nullptr;
  return request.object->As<CertificateSigningRequest>();
}

}  // namespace cox::apiserver
