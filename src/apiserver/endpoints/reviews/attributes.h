// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/authorization/v1.h"
#include "apiserver/request/request_info.h"
#include "object/type/box.h"
#include "object/validation/field_error.h"

// What an access review asks about: its rules, and the request it stands for. Pure functions.
namespace cox::apiserver {

// What is wrong with the attributes, under "spec".
FieldErrorList CheckAttributes(const Box<authorization::v1::ResourceAttributes>& resource,
                               const Box<authorization::v1::NonResourceAttributes>& other);
// The same with who it is about.
FieldErrorList CheckAccessSpec(const authorization::v1::SubjectAccessReviewSpec& spec);
// The same within one namespace.
FieldErrorList CheckLocalAccessSpec(const authorization::v1::SubjectAccessReviewSpec& spec,
                                    std::string_view ns);

struct Question {
  RequestInfo info;
  std::string field_selector, label_selector;  // those parts that were understood
  std::string error;  // parts of the question that were not understood, and are not considered
};
// REQUIRES: one of them is there.
Question AskFor(const Box<authorization::v1::ResourceAttributes>& resource,
                const Box<authorization::v1::NonResourceAttributes>& other);

}  // namespace cox::apiserver
