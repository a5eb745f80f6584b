// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/networking/v1.h"
#include "object/validation/field_error.h"

// What Ingress and IngressClass may hold. Pure functions.
namespace cox::apiserver {

// Faults that stored objects may keep, because they were let in before the rule existed.
struct IngressOptions {
  bool allow_invalid_secret_name = false;
  bool allow_invalid_wildcard_host_rule = false;
};

// What `old` has already.
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
