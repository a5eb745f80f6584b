// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/validation/field_error.h"

// Client configuration of webhooks, for admission and for conversion of custom resources.
namespace cox::apiserver {

// Must be https://host[:port][/path], without other parts.
FieldErrorList ValidateWebhookUrl(const std::string& url, const FieldPath& path);

FieldErrorList ValidateWebhookService(const std::string& name, const std::string& namespace_,
                                      const std::optional<std::string>& url_path,
                                      const std::optional<int32_t>& port, const FieldPath& path);

// Validates the review versions that a webhook accepts: at least one must be in `known`, the
// versions that this server can send.
FieldErrorList ValidateReviewVersions(const List<std::string>& versions,
                                      std::initializer_list<std::string_view> known,
                                      const FieldPath& path);

}  // namespace cox::apiserver
