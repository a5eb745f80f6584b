// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/certificates/v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"

namespace cox::apiserver {

// Whether the user may do `verb` with the signer: by its name, or by "<domain>/*" for all signers
// of its domain. Signers are not objects; they exist only for authorization.
bool MayUseSigner(const Authorizer& authorizer, const UserInfo& user, std::string_view verb,
                  std::string_view signer);

// The CertificateSigningRequest that is updated through `subresource`, or null.
const certificates::v1::CertificateSigningRequest* UpdatedSigningRequest(
    const AdmissionRequest& request, std::string_view subresource);

}  // namespace cox::apiserver
