// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::validation {
namespace {

// Replaces a trailing dash of a generateName by a letter, as a placeholder for the random suffix.
std::string Completed(std::string_view name, bool prefix) {
  if (prefix && name.size() > 1 && name.ends_with('-')) {
    return std::string(name.substr(0, name.size() - 2)) + "a";
  }
  return std::string(name);
}

bool IsUrlPathCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/-._~%!$&'()*+,;=:").find(c) != std::string_view::npos;
}

// Checks the rules of a subdomain, and for at least `segments` segments.
FieldErrorList HasSegments(const FieldPath& path, std::string_view name, std::ptrdiff_t segments,
                           std::string_view in_words) {
  if (Messages messages = IsDNS1123Subdomain(name); !messages.empty()) {
    return {FieldError::Invalid(path, name, Join(messages, ","))};
  }
  if (std::count(name.begin(), name.end(), '.') + 1 < segments) {
    return {FieldError::Invalid(path, name,
                                "should be a domain with at least " + std::string(in_words) +
                                    " segments separated by dots")};
  }
  return {};
}

}  // namespace

Messages NameIsDNSSubdomain(std::string_view name, bool prefix) {
  return IsDNS1123Subdomain(Completed(name, prefix));
}
Messages NameIsDNSLabel(std::string_view name, bool prefix) {
  return IsDNS1123Label(Completed(name, prefix));
}
Messages NameIsDNS1035Label(std::string_view name, bool prefix) {
  return IsDNS1035Label(Completed(name, prefix));
}
Messages NameIsPathSegment(std::string_view name, bool prefix) {
  return prefix ? IsValidPathSegmentPrefix(name) : IsValidPathSegmentName(name);
}

FieldErrorList IsFullyQualifiedName(const FieldPath& path, std::string_view name) {
  if (name.empty()) return {FieldError::Required(path)};
  return HasSegments(path, name, 3, "three");
}

FieldErrorList IsFullyQualifiedDomainName(const FieldPath& path, std::string_view name) {
  if (name.empty()) return {FieldError::Required(path)};
  if (name.ends_with('.')) name.remove_suffix(1);
  return HasSegments(path, name, 2, "two");
}

FieldErrorList IsDomainPrefixedPath(const FieldPath& path, std::string_view value) {
  if (value.empty()) return {FieldError::Required(path)};
  const CutResult cut = Cut(value, '/');
  if (cut.before.empty() || cut.after.empty()) {
    return {FieldError::Invalid(path, value,
                                "must be a domain-prefixed path (such as \"acme.io/foo\")")};
  }
  FieldErrorList out;
  for (std::string& message : IsDNS1123Subdomain(cut.before)) {
    out.push_back(FieldError::Invalid(path, cut.before, std::move(message)));
  }
  if (!std::all_of(cut.after.begin(), cut.after.end(), IsUrlPathCharacter)) {
    out.push_back(FieldError::Invalid(
        path, cut.after,
        "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"));
  }
  return out;
}

FieldErrorList IsDomainPrefixedKey(const FieldPath& path, std::string_view value) {
  if (value.empty()) return {FieldError::Required(path)};
  FieldErrorList out;
  for (std::string& message : IsQualifiedName(value)) {
    out.push_back(FieldError::Invalid(path, value, std::move(message)));
  }
  if (out.empty() && !Cut(value, '/').found) {
    out.push_back(FieldError::Invalid(path, value,
                                      "must be a domain-prefixed key (such as \"acme.io/foo\")"));
  }
  return out;
}

}  // namespace cox::validation
