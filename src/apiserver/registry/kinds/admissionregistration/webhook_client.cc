// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/admissionregistration/webhook_client.h"

#include <algorithm>
#include <set>

#include "apiserver/registry/validation/field_messages.h"
#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kForm = "; desired format: https://host[/path]";

struct Url {
  std::string scheme;
  std::string_view user, host, query, fragment;
  bool has_user = false;
};

bool IsSchemeCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.';
}

// Parses the parts of RFC 3986 that the rules below need. Returns an error text, empty for a valid
// URL.
std::string ParseUrl(std::string_view text, Url* url) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return "net/url: invalid control character in URL";
    }
  }
  CutResult cut = Cut(text, '#');
  if (cut.found) url->fragment = cut.after;
  std::string_view rest = cut.before;
  const size_t colon = rest.find(':');
  if (colon == 0) return "missing protocol scheme";
  const bool letter = !rest.empty() && IsSchemeCharacter(rest[0]) &&
                      !(rest[0] >= '0' && rest[0] <= '9') && rest[0] != '+' && rest[0] != '-' &&
                      rest[0] != '.';
  if (colon != std::string_view::npos && letter &&
      std::all_of(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(colon), IsSchemeCharacter)) {
    url->scheme = rest.substr(0, colon);
    for (char& c : url->scheme) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    rest.remove_prefix(colon + 1);
  } else if (colon != std::string_view::npos && colon < rest.find('/')) {
    return "first path segment in URL cannot contain colon";
  }
  cut = Cut(rest, '?');
  if (cut.found) url->query = cut.after;
  rest = cut.before;
  if (!rest.starts_with("//")) return {};
  rest.remove_prefix(2);
  std::string_view authority = rest.substr(0, rest.find('/'));
  const size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    url->has_user = true;
    url->user = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  if (authority.find(' ') != std::string_view::npos) {
    return "invalid character \" \" in host name";
  }
  url->host = authority;
  return {};
}

}  // namespace

FieldErrorList ValidateWebhookUrl(const std::string& text, const FieldPath& path) {
  FieldErrorList errors;
  Url url;
  const std::string problem = ParseUrl(text, &url);
  if (!problem.empty()) {
    errors.push_back(FieldError::Required(path, "url must be a valid URL: parse " + Quote(text) +
                                                    ": " + problem + std::string(kForm)));
    return errors;
  }
  if (url.scheme != "https") {
    errors.push_back(FieldError::Invalid(
        path, url.scheme, "'https' is the only allowed URL scheme" + std::string(kForm)));
  }
  if (url.host.empty()) {
    errors.push_back(
        FieldError::Invalid(path, url.host, "host must be specified" + std::string(kForm)));
  }
  if (url.has_user) {
    errors.push_back(
        FieldError::Invalid(path, url.user, "user information is not permitted in the URL"));
  }
  if (!url.fragment.empty()) {
    errors.push_back(
        FieldError::Invalid(path, url.fragment, "fragments are not permitted in the URL"));
  }
  if (!url.query.empty()) {
    errors.push_back(
        FieldError::Invalid(path, url.query, "query parameters are not permitted in the URL"));
  }
  return errors;
}

FieldErrorList ValidateWebhookService(const std::string& name, const std::string& namespace_,
                                      const std::optional<std::string>& url_path,
                                      const std::optional<int32_t>& port, const FieldPath& path) {
  FieldErrorList errors;
  if (name.empty()) errors.push_back(FieldError::Required(path.Child("name")));
  if (namespace_.empty()) errors.push_back(FieldError::Required(path.Child("namespace")));
  if (port) {
    for (const std::string& message : validation::IsValidPortNum(*port)) {
      errors.push_back(
          FieldError::Invalid(path.Child("port"), *port, "port is not valid: " + message));
    }
  }
  if (!url_path || url_path->empty() || *url_path == "/") return errors;
  const FieldPath at = path.Child("path");
  if (*url_path == "//") {
    errors.push_back(FieldError::Invalid(at, *url_path, "segment[0] may not be empty"));
    return errors;
  }
  if (!url_path->starts_with('/')) {
    errors.push_back(FieldError::Invalid(at, *url_path, "must start with a '/'"));
  }
  std::string_view rest = std::string_view(*url_path).substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  size_t number = 0;
  for (const std::string_view segment : Split(rest, '/')) {
    const std::string where = "segment[" + std::to_string(number++) + "]";
    if (segment.empty()) {
      errors.push_back(FieldError::Invalid(at, *url_path, where + " may not be empty"));
      continue;
    }
    for (const std::string& message : validation::IsDNS1123Subdomain(segment)) {
      errors.push_back(FieldError::Invalid(at, *url_path, where + ": " + message));
    }
  }
  return errors;
}

FieldErrorList ValidateReviewVersions(const List<std::string>& versions,
                                      std::initializer_list<std::string_view> known,
                                      const FieldPath& path) {
  std::string names;
  for (const std::string_view name : known) {
    names.append(names.empty() ? "" : ", ").append(name);
  }
  FieldErrorList errors;
  if (versions.empty()) {
    errors.push_back(FieldError::Required(path, "must specify one of " + names));
    return errors;
  }
  std::set<std::string_view> seen;
  bool has_known = false;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string& version = versions[i];
    if (!seen.insert(version).second) {
      errors.push_back(FieldError::Invalid(path.Index(i), version, "duplicate version"));
      continue;
    }
    AppendInvalid(errors, path.Index(i), version, validation::IsDNS1035Label(version));
    if (std::find(known.begin(), known.end(), version) != known.end()) has_known = true;
  }
  if (errors.empty() && !has_known) {
    errors.push_back(FieldError::Invalid(path, versions, "must include at least one of " + names));
  }
  return errors;
}

}  // namespace cox::apiserver
