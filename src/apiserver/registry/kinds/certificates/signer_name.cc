// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/certificates/signer_name.h"

#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

constexpr size_t kMaxLabel = 63, kMaxSubdomain = 253;
// The path may contain a label and a subdomain, so that it can refer to an object in a namespace.
constexpr size_t kMaxPath = kMaxSubdomain + 1 + kMaxLabel;
constexpr size_t kMaxSignerName = kMaxSubdomain + 1 + kMaxPath;

// Reports only the first label of `text` that violates `rule`.
void CheckLabels(FieldErrorList& errors, std::string_view text, const FieldPath& path,
                 validation::Messages (*rule)(std::string_view)) {
  for (std::string_view label : Split(text, '.')) {
    validation::Messages messages = rule(label);
    if (messages.empty()) continue;
    for (const std::string& message : messages) {
      errors.push_back(
          FieldError::Invalid(path, text, "validating label " + Quote(label) + ": " + message));
    }
    return;
  }
}

}  // namespace

FieldErrorList ValidateSignerName(std::string_view name, const FieldPath& path) {
  FieldErrorList errors;
  if (name.empty()) return {FieldError::Required(path)};
  CutResult cut = Cut(name, '/');
  if (!cut.found || cut.after.find('/') != std::string_view::npos) {
    return {FieldError::Invalid(
        path, name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'")};
  }
  std::string_view domain = cut.before, rest = cut.after;
  if (domain.size() > kMaxSubdomain) errors.push_back(FieldError::TooLong(path, kMaxSubdomain));
  CheckLabels(errors, domain, path, validation::IsDNS1123Label);
  if (domain.find('.') == std::string_view::npos) {
    errors.push_back(FieldError::Invalid(
        path, domain, "should be a domain with at least two segments separated by dots"));
  }
  CheckLabels(errors, rest, path, validation::IsDNS1123Subdomain);
  if (name.size() > kMaxSignerName) errors.push_back(FieldError::TooLong(path, kMaxSignerName));
  return errors;
}

}  // namespace cox::apiserver
