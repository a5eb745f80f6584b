// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/certificates/v1.h"
#include "object/validation/field_error.h"

// The rules of certificate signing requests.
namespace cox::apiserver {

// Rules that were tightened after requests which break them had been stored, and what each way of
// updating may do.
struct CsrValidationOptions {
  bool allow_legacy_signer_name = false;
  bool allow_both_approved_and_denied = false;
  bool allow_empty_condition_type = false;
  bool allow_duplicate_condition_types = false;
  bool allow_duplicate_usages = false;
  bool allow_unknown_usages = false;
  bool allow_arbitrary_certificate = false;
  // /approval only.
  bool allow_setting_approval = false;
  // All but /status, which may issue once and never again.
  bool allow_resetting_certificate = true;
};

// Lets an update off the rules that `old` breaks already.
CsrValidationOptions CsrOptionsFor(const certificates::v1::CertificateSigningRequest& request,
                                   const certificates::v1::CertificateSigningRequest& old);

FieldErrorList ValidateCsr(const certificates::v1::CertificateSigningRequest& request,
                           const CsrValidationOptions& options);
FieldErrorList ValidateCsrUpdate(const certificates::v1::CertificateSigningRequest& request,
                                 const certificates::v1::CertificateSigningRequest& old,
                                 const CsrValidationOptions& options);

}  // namespace cox::apiserver
