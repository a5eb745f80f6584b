// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/certificates/v1.h"
#include "object/validation/field_error.h"

// Validation of certificate signing requests.
namespace cox::apiserver {

// Exemptions for stored requests that newer rules would reject, and permissions of each kind of
// update.
struct CsrValidationOptions {
  bool allow_legacy_signer_name = false;
  bool allow_both_approved_and_denied = false;
  bool allow_empty_condition_type = false;
  bool allow_duplicate_condition_types = false;
  bool allow_duplicate_usages = false;
  bool allow_unknown_usages = false;
  bool allow_arbitrary_certificate = false;
  // True for /approval only.
  bool allow_setting_approval = false;
  // False for /status, which can set the certificate only once.
  bool allow_resetting_certificate = true;
};

// Exempts an update from the rules that `old` already violates.
CsrValidationOptions CsrOptionsFor(const certificates::v1::CertificateSigningRequest& request,
                                   const certificates::v1::CertificateSigningRequest& old);

FieldErrorList ValidateCsr(const certificates::v1::CertificateSigningRequest& request,
                           const CsrValidationOptions& options);
FieldErrorList ValidateCsrUpdate(const certificates::v1::CertificateSigningRequest& request,
                                 const certificates::v1::CertificateSigningRequest& old,
                                 const CsrValidationOptions& options);

}  // namespace cox::apiserver
