// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "object/validation/field_error.h"

// The rules for names, keys, numbers and similar values that fields of many kinds share.
//
// Pure functions with linear cost. They return upstream's error messages, one for each violated
// rule, and none if the value is valid; callers convert a message to a FieldError.
namespace cox::validation {

using Messages = std::vector<std::string>;

// [prefix/]name, for keys of labels and annotations and names of finalizers: the prefix is a DNS
// subdomain, the name up to 63 of [A-Za-z0-9._-], beginning and ending with a letter or digit.
Messages IsQualifiedName(std::string_view value);
inline Messages IsLabelKey(std::string_view value) { return IsQualifiedName(value); }
Messages IsValidLabelValue(std::string_view value);

// DNS. Labels have up to 63 characters, subdomains up to 253.
Messages IsDNS1123Label(std::string_view value);
Messages IsDNS1123Subdomain(std::string_view value);
Messages IsDNS1123SubdomainWithUnderscore(
    std::string_view value);                      // SRV records: _http._tcp.example.com
Messages IsDNS1035Label(std::string_view value);  // begins with a letter: names of Services
Messages IsWildcardDNS1123Subdomain(std::string_view value);  // *.example.com

// Identifiers of programs and configuration.
Messages IsCIdentifier(std::string_view value);
Messages IsHTTPHeaderName(std::string_view value);
Messages IsEnvVarName(std::string_view value);
Messages IsRelaxedEnvVarName(std::string_view value);  // any printable ASCII but '='
Messages IsConfigMapKey(std::string_view value);       // also for Secrets: becomes a file name
Messages IsValidPercent(std::string_view value);       // "25%"

// Numbers.
Messages IsInRange(int64_t value, int64_t min, int64_t max);  // both ends inclusive
Messages IsValidPortNum(int64_t port);
Messages IsValidPortName(std::string_view value);
Messages IsValidUserID(int64_t id);
Messages IsValidGroupID(int64_t id);

// A segment of a URL path.
Messages IsValidPathSegmentName(std::string_view value);
Messages IsValidPathSegmentPrefix(std::string_view value);

// A rule for metadata.name. With `prefix` the name is a generateName, which gets a suffix, so a
// trailing dash is permitted.
using NameRule = Messages (*)(std::string_view name, bool prefix);
Messages NameIsDNSSubdomain(std::string_view name, bool prefix);
Messages NameIsDNSLabel(std::string_view name, bool prefix);
Messages NameIsDNS1035Label(std::string_view name, bool prefix);
Messages NameIsPathSegment(std::string_view name, bool prefix);

// Rules whose invalid value is a part of the input; they return complete errors for `path`. An
// empty name is Required.
FieldErrorList IsFullyQualifiedName(const FieldPath& path,
                                    std::string_view name);  // at least three segments
FieldErrorList IsFullyQualifiedDomainName(const FieldPath& path,
                                          std::string_view name);  // two; may end with a dot
FieldErrorList IsDomainPrefixedPath(const FieldPath& path,
                                    std::string_view value);  // acme.io/foo/bar
FieldErrorList IsDomainPrefixedKey(const FieldPath& path, std::string_view value);  // acme.io/foo

}  // namespace cox::validation
