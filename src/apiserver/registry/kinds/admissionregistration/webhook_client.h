// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/validation/field_error.h"

// How a webhook is reached: in admission, and in the conversion of custom resources.
namespace cox::apiserver {

// https://host[:port][/path] and nothing else.
FieldErrorList ValidateWebhookUrl(const std::string& url, const FieldPath& path);

FieldErrorList ValidateWebhookService(const std::string& name, const std::string& namespace_,
                                      const std::optional<std::string>& url_path,
                                      const std::optional<int32_t>& port, const FieldPath& path);

// The versions of the review object that the webhook understands: at least one of `known`, which
// this server can send.
FieldErrorList ValidateReviewVersions(const List<std::string>& versions,
                                      std::initializer_list<std::string_view> known,
                                      const FieldPath& path);

}  // namespace cox::apiserver
