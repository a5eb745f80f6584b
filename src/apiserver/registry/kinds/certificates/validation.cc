// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/certificates/validation.h"

#include <algorithm>
#include <set>
#include <string>

#include "apiserver/registry/kinds/certificates/certificate_pem.h"
#include "apiserver/registry/kinds/certificates/signer_name.h"
#include "base/strings.h"
#include "object/codec/json/text.h"

namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;
using Condition = certificates::v1::CertificateSigningRequestCondition;

constexpr std::string_view kLegacySigner = "kubernetes.io/legacy-unknown";
constexpr int32_t kMinExpirationSeconds = 600;
constexpr std::string_view kApproved = "Approved", kDenied = "Denied", kFailed = "Failed";

constexpr std::string_view kUsages[] = {
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
};

bool IsKnownUsage(std::string_view usage) {
  return std::find(std::begin(kUsages), std::end(kUsages), usage) != std::end(kUsages);
}

// Errors contain bytes in base64, as in JSON.
FieldValue BytesValue(std::string_view bytes) {
  std::string text;
  json::WriteBase64(bytes, &text);
  return FieldValue(text);
}

void CheckUsages(FieldErrorList& errors, const CertificateSigningRequest& request,
                 const CsrValidationOptions& options, const FieldPath& path) {
  const List<std::string>& usages = request.spec.usages;
  if (usages.empty()) errors.push_back(FieldError::Required(path));
  for (size_t i = 0; i < usages.size() && !options.allow_unknown_usages; ++i) {
    if (!IsKnownUsage(usages[i])) {
      errors.push_back(FieldError::NotSupported(path.Index(i), usages[i], kUsages));
    }
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < usages.size() && !options.allow_duplicate_usages; ++i) {
    if (!seen.insert(usages[i]).second) {
      errors.push_back(FieldError::Duplicate(path.Index(i), usages[i]));
    }
  }
}

void CheckConditions(FieldErrorList& errors, const CertificateSigningRequest& request,
                     const CsrValidationOptions& options) {
  FieldPath path = FieldPath("status").Child("conditions");
  bool approved = false, denied = false;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < request.status.conditions.size(); ++i) {
    const Condition& condition = request.status.conditions[i];
    FieldPath type = path.Index(i).Child("type"), status = path.Index(i).Child("status");
    if (condition.type.empty() && !options.allow_empty_condition_type) {
      errors.push_back(FieldError::Required(type));
    }
    // Approved, Denied and Failed can only be True.
    bool verdict =
        condition.type == kApproved || condition.type == kDenied || condition.type == kFailed;
    if (condition.status.empty()) {
      errors.push_back(FieldError::Required(status));
    } else if (verdict && condition.status != "True") {
      errors.push_back(FieldError::NotSupported(status, condition.status, {"True"}));
    } else if (condition.status != "True" && condition.status != "False" &&
               condition.status != "Unknown") {
      errors.push_back(
          FieldError::NotSupported(status, condition.status, {"False", "True", "Unknown"}));
    }
    approved = approved || condition.type == kApproved;
    denied = denied || condition.type == kDenied;
    bool is_either = condition.type == kApproved || condition.type == kDenied;
    if (is_either && approved && denied && !options.allow_both_approved_and_denied) {
      errors.push_back(FieldError::Invalid(
          type, condition.type, "Approved and Denied conditions are mutually exclusive"));
    }
    if (!seen.insert(condition.type).second && !options.allow_duplicate_condition_types) {
      errors.push_back(FieldError::Duplicate(type, condition.type));
    }
  }
}

List<Condition> Find(const CertificateSigningRequest& request, std::string_view type) {
  List<Condition> found;
  for (const Condition& condition : request.status.conditions) {
    if (condition.type == type) found.push_back(condition);
  }
  return found;
}

// Approved, Denied and Failed cannot be removed; only /approval can add the first two.
void CheckApprovalConditions(FieldErrorList& errors, const CertificateSigningRequest& request,
                             const CertificateSigningRequest& old, bool may_approve) {
  FieldPath path = FieldPath("status").Child("conditions");
  auto forbid = [&](const char* what, std::string_view type) {
    errors.push_back(FieldError::Forbidden(
        path, std::string("updates may not ") + what + " a condition of type " + Quote(type)));
  };
  for (std::string_view type : {kApproved, kDenied, kFailed}) {
    if (Find(request, type).size() < Find(old, type).size()) forbid("remove", type);
  }
  if (may_approve) return;
  for (std::string_view type : {kApproved, kDenied}) {
    List<Condition> now = Find(request, type), before = Find(old, type);
    if (now.size() < before.size()) continue;
    if (now.size() > before.size()) {
      forbid("add", type);
    } else if (now != before) {
      forbid("modify", type);
    }
  }
}

bool HasDuplicateTypes(const CertificateSigningRequest& request) {
  std::set<std::string_view> seen;
  return std::any_of(request.status.conditions.begin(), request.status.conditions.end(),
                     [&seen](const Condition& c) { return !seen.insert(c.type).second; });
}

}  // namespace

CsrValidationOptions CsrOptionsFor(const CertificateSigningRequest& request,
                                   const CertificateSigningRequest& old) {
  const List<std::string>& usages = old.spec.usages;
  CsrValidationOptions options;
  options.allow_legacy_signer_name = old.spec.signerName == kLegacySigner;
  options.allow_both_approved_and_denied =
      !Find(old, kApproved).empty() && !Find(old, kDenied).empty();
  options.allow_empty_condition_type = !Find(old, "").empty();
  options.allow_duplicate_condition_types = HasDuplicateTypes(old);
  options.allow_duplicate_usages =
      std::set<std::string_view>(usages.begin(), usages.end()).size() != usages.size();
  options.allow_unknown_usages = !std::all_of(usages.begin(), usages.end(), IsKnownUsage);
  options.allow_arbitrary_certificate = request.status.certificate == old.status.certificate ||
                                        !CertificateChainProblem(old.status.certificate).empty();
  return options;
}

FieldErrorList ValidateCsr(const CertificateSigningRequest& request,
                           const CsrValidationOptions& options) {
  FieldErrorList errors;
  FieldPath spec("spec");
  std::string problem = CertificateRequestProblem(request.spec.request);
  if (!problem.empty()) {
    errors.push_back(FieldError::Invalid(spec.Child("request"), BytesValue(request.spec.request),
                                         std::move(problem)));
  }
  CheckUsages(errors, request, options, spec.Child("usages"));
  FieldPath signer = spec.Child("signerName");
  if (!options.allow_legacy_signer_name && request.spec.signerName == kLegacySigner) {
    errors.push_back(
        FieldError::Invalid(signer, request.spec.signerName,
                            "the legacy signerName is not allowed via this API version"));
  } else {
    Append(errors, ValidateSignerName(request.spec.signerName, signer));
  }
  if (request.spec.expirationSeconds && *request.spec.expirationSeconds < kMinExpirationSeconds) {
    errors.push_back(
        FieldError::Invalid(spec.Child("expirationSeconds"), *request.spec.expirationSeconds,
                            "may not specify a duration less than 600 seconds (10 minutes)"));
  }
  CheckConditions(errors, request, options);
  if (!options.allow_arbitrary_certificate) {
    problem = CertificateChainProblem(request.status.certificate);
    if (!problem.empty()) {
      errors.push_back(FieldError::Invalid(FieldPath("status").Child("certificate"),
                                           "<certificate data>", std::move(problem)));
    }
  }
  return errors;
}

FieldErrorList ValidateCsrUpdate(const CertificateSigningRequest& request,
                                 const CertificateSigningRequest& old,
                                 const CsrValidationOptions& options) {
  FieldErrorList errors = ValidateCsr(request, options);
  CheckApprovalConditions(errors, request, old, options.allow_setting_approval);
  if (!options.allow_resetting_certificate && !old.status.certificate.empty() &&
      request.status.certificate != old.status.certificate) {
    errors.push_back(FieldError::Forbidden(FieldPath("status").Child("certificate"),
                                           "updates may not modify existing certificate content"));
  }
  return errors;
}

}  // namespace cox::apiserver
