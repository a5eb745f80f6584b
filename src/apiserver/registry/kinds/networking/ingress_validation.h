// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/networking/v1.h"
#include "object/validation/field_error.h"

// Validation of Ingress and IngressClass. Pure functions.
namespace cox::apiserver {

// Exemptions for stored objects from rules that were added later.
struct IngressOptions {
  bool allow_invalid_secret_name = false;
  bool allow_invalid_wildcard_host_rule = false;
};

// The exemptions that `old` needs.
IngressOptions IngressOptionsFor(const networking::v1::Ingress& old);

FieldErrorList ValidateIngressSpec(const networking::v1::IngressSpec& spec, const FieldPath& path,
                                   const IngressOptions& options);
// `old` may be null.
FieldErrorList ValidateIngressStatus(const networking::v1::IngressStatus& status,
                                     const networking::v1::IngressStatus* old,
                                     const FieldPath& path);
FieldErrorList ValidateIngressClassSpec(const networking::v1::IngressClassSpec& spec,
                                        const FieldPath& path);

}  // namespace cox::apiserver
