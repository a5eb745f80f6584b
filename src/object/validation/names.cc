// SPDX-License-Identifier: Apache-2.0
#include "object/validation/names.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"

namespace cox::validation {
namespace {

constexpr size_t kLabelMax = 63;
constexpr size_t kSubdomainMax = 253;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerAlnum(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlpha(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsAlnum(char c) { return IsAlpha(c) || IsDigit(c); }

// Whether `text` consists of letters, digits and characters of `extra`.
bool Consists(std::string_view text, bool (*letters)(char), std::string_view extra) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letters(c) || extra.find(c) != std::string_view::npos; });
}

// The same, but not empty, and with a letter or digit at both ends.
bool ConsistsWithin(std::string_view text, bool (*letters)(char), std::string_view extra) {
  return !text.empty() && letters(text.front()) && letters(text.back()) &&
         Consists(text, letters, extra);
}

bool MatchesDnsLabel(std::string_view text) { return ConsistsWithin(text, IsLowerAlnum, "-"); }

bool MatchesSubdomain(std::string_view text) {
  for (std::string_view label : Split(text, '.')) {
    if (!MatchesDnsLabel(label)) return false;
  }
  return true;
}

bool MatchesSubdomainWithUnderscore(std::string_view text) {
  for (std::string_view label : Split(text, '.')) {
    if (label.starts_with('_')) label.remove_prefix(1);
    if (!ConsistsWithin(label, IsLowerAlnum, "-_")) return false;
  }
  return true;
}

bool MatchesQualifiedPart(std::string_view text) { return ConsistsWithin(text, IsAlnum, "-_."); }

std::string TooLong(size_t max, std::string_view unit) {
  return "must be no more than " + std::to_string(max) + " " + std::string(unit);
}

constexpr std::string_view kQualifiedRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

// Security: a ConfigMap key or variable name must not escape its directory.
void CheckDots(std::string_view value, Messages& out) {
  if (value == ".") {
    out.emplace_back("must not be '.'");
  } else if (value == "..") {
    out.emplace_back("must not be '..'");
  } else if (value.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
}

}  // namespace

Messages IsQualifiedName(std::string_view value) {
  Messages out;
  std::string_view name = value;
  if (CutResult cut = Cut(value, '/'); cut.found) {
    if (cut.after.find('/') != std::string_view::npos) {
      out.push_back("a valid label key " + std::string(kQualifiedRule) +
                    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
      return out;
    }
    if (cut.before.empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      if (cut.before.size() > kSubdomainMax) {
        out.push_back("prefix part " + TooLong(kSubdomainMax, "bytes"));
      }
      if (!MatchesSubdomain(cut.before))
        out.push_back("prefix part " + std::string(kSubdomainRule));
    }
    name = cut.after;
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabelMax) {
    out.push_back("name part " + TooLong(kLabelMax, "bytes"));
  }
  if (!MatchesQualifiedPart(name)) out.push_back("name part " + std::string(kQualifiedRule));
  return out;
}

Messages IsValidLabelValue(std::string_view value) {
  Messages out;
  if (value.size() > kLabelMax) out.push_back(TooLong(kLabelMax, "bytes"));
  if (!value.empty() && !MatchesQualifiedPart(value)) {
    out.emplace_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  }
  return out;
}

Messages IsDNS1123Label(std::string_view value) {
  Messages out;
  if (value.size() > kLabelMax) out.push_back(TooLong(kLabelMax, "characters"));
  if (!MatchesDnsLabel(value)) {
    if (MatchesSubdomain(value)) {
      // A specific message for the most common mistake.
      out.emplace_back("must not contain dots");
    } else {
      out.emplace_back(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
          "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
          "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
    }
  }
  return out;
}

Messages IsDNS1123Subdomain(std::string_view value) {
  Messages out;
  if (value.size() > kSubdomainMax) out.push_back(TooLong(kSubdomainMax, "characters"));
  if (!MatchesSubdomain(value)) out.emplace_back(kSubdomainRule);
  return out;
}

Messages IsDNS1123SubdomainWithUnderscore(std::string_view value) {
  Messages out;
  if (value.size() > kSubdomainMax) out.push_back(TooLong(kSubdomainMax, "characters"));
  if (!MatchesSubdomainWithUnderscore(value)) {
    out.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
        "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is "
        "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')");
  }
  return out;
}

Messages IsDNS1035Label(std::string_view value) {
  Messages out;
  if (value.size() > kLabelMax) out.push_back(TooLong(kLabelMax, "characters"));
  if (!MatchesDnsLabel(value) || !IsLower(value.front())) {
    out.emplace_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
        "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  }
  return out;
}

Messages IsWildcardDNS1123Subdomain(std::string_view value) {
  Messages out;
  if (value.size() > kSubdomainMax) out.push_back(TooLong(kSubdomainMax, "characters"));
  if (!value.starts_with("*.") || !MatchesSubdomain(value.substr(2))) {
    out.emplace_back(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character (e.g. '*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return out;
}

Messages IsCIdentifier(std::string_view value) {
  if (!value.empty() && !IsDigit(value[0]) && Consists(value, IsAlnum, "_")) return {};
  return {
      "a valid C identifier must start with alphabetic character or '_', followed by a string of "
      "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
      "validation is '[A-Za-z_][A-Za-z0-9_]*')"};
}

Messages IsHTTPHeaderName(std::string_view value) {
  if (!value.empty() && Consists(value, IsAlnum, "-")) return {};
  return {
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
      "regex used for validation is '[-A-Za-z0-9]+')"};
}

Messages IsEnvVarName(std::string_view value) {
  Messages out;
  if (value.empty() || IsDigit(value[0]) || !Consists(value, IsAlnum, "-._")) {
    out.emplace_back(
        "a valid environment variable name must consist of alphabetic characters, digits, '_', "
        "'-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
        "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')");
  }
  CheckDots(value, out);
  return out;
}

Messages IsRelaxedEnvVarName(std::string_view value) {
  if (value.empty()) return {"environment variable name must be non-empty"};
  if (std::all_of(value.begin(), value.end(),
                  [](char c) { return c >= ' ' && c <= '~' && c != '='; })) {
    return {};
  }
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

Messages IsConfigMapKey(std::string_view value) {
  Messages out;
  if (value.size() > kSubdomainMax) out.push_back(TooLong(kSubdomainMax, "characters"));
  if (value.empty() || !Consists(value, IsAlnum, "-._")) {
    out.emplace_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')");
  }
  CheckDots(value, out);
  return out;
}

Messages IsValidPercent(std::string_view value) {
  if (value.size() > 1 && value.back() == '%' &&
      Consists(value.substr(0, value.size() - 1), IsDigit, "")) {
    return {};
  }
  return {
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
      "'93%', regex used for validation is '[0-9]+%')"};
}

Messages IsInRange(int64_t value, int64_t min, int64_t max) {
  if (value >= min && value <= max) return {};
  return {"must be between " + std::to_string(min) + " and " + std::to_string(max) + ", inclusive"};
}

Messages IsValidPortNum(int64_t port) { return IsInRange(port, 1, 65535); }
Messages IsValidUserID(int64_t id) { return IsInRange(id, 0, 2147483647); }
Messages IsValidGroupID(int64_t id) { return IsInRange(id, 0, 2147483647); }

Messages IsValidPortName(std::string_view value) {
  Messages out;
  if (value.size() > 15) out.push_back(TooLong(15, "characters"));
  if (value.empty() || !Consists(value, IsLowerAlnum, "-")) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(value.begin(), value.end(), IsLower)) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (value.find("--") != std::string_view::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (value.starts_with('-') || value.ends_with('-')) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

Messages IsValidPathSegmentName(std::string_view value) {
  if (value == "." || value == "..") return {"may not be '" + std::string(value) + "'"};
  return IsValidPathSegmentPrefix(value);
}

Messages IsValidPathSegmentPrefix(std::string_view value) {
  Messages out;
  for (char c : {'/', '%'}) {
    if (value.find(c) != std::string_view::npos) {
      out.push_back("may not contain '" + std::string(1, c) + "'");
    }
  }
  return out;
}

}  // namespace cox::validation
