// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/authorization/v1.h"
#include "apiserver/request/request_info.h"
#include "object/type/box.h"
#include "object/validation/field_error.h"

// Validation of access reviews, and their conversion to authorizer attributes. Pure functions.
namespace cox::apiserver {

// Validates the attributes. Error paths are below "spec".
FieldErrorList CheckAttributes(const Box<authorization::v1::ResourceAttributes>& resource,
                               const Box<authorization::v1::NonResourceAttributes>& other);
// Also validates the subject.
FieldErrorList CheckAccessSpec(const authorization::v1::SubjectAccessReviewSpec& spec);
// Also checks that the attributes match the namespace.
FieldErrorList CheckLocalAccessSpec(const authorization::v1::SubjectAccessReviewSpec& spec,
                                    std::string_view ns);

struct AccessAttributes {
  RequestInfo info;
  std::string field_selector, label_selector;  // the requirements that could be parsed
  std::string error;  // lists the selectors that could not be parsed and are ignored
};
// REQUIRES: one of them is set.
AccessAttributes AttributesFor(const Box<authorization::v1::ResourceAttributes>& resource,
                               const Box<authorization::v1::NonResourceAttributes>& other);

}  // namespace cox::apiserver
