// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::apiserver {

// The decoded query of a URL. Parameters may repeat; all functions except All return the first
// value.
class Query {
 public:
  Query() = default;
  // Skips pairs that cannot be decoded, as Go's url.ParseQuery does when its error is ignored.
  static Query Parse(std::string_view text);

  // Null if the parameter is absent.
  const std::string* Find(std::string_view name) const;
  std::string Get(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  std::vector<std::string> All(std::string_view name) const;
  // Upstream's rule for boolean options: absent, "false" and "0" are false, all other values are
  // true.
  bool Flag(std::string_view name) const;
  // Parses like Go's strconv.ParseInt; none if absent or empty. Errors: BadRequest with Go's texts.
  Result<std::optional<int64_t>> Int(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// The attributes of a request, from its method, path and query.
//
//   GET /apis/apps/v1/namespaces/default/deployments/web/scale?watch=false
//   verb get, prefix apis, group apps, version v1, namespace default, resource deployments, name
//   web, subresource scale
struct RequestInfo {
  std::string path;  // decoded, without query
  std::string verb;  // "get", "list", "watch", ...; the lower-case method for non-resource paths
  bool is_resource = false;

  std::string prefix;  // "api" or "apis"
  std::string group;
  std::string version;
  std::string namespace_;  // NOLINT(readability-identifier-naming): a keyword without it
  std::string resource;
  std::string subresource;
  std::string name;
  // The decoded path segments after the version.
  std::vector<std::string> parts;
  // The path has more segments than any resource path, so the request is not found.
  bool trailing = false;

  // Watches and container streams, which are exempt from the request timeout.
  bool long_running = false;
};

// Subresources that stream to containers and nodes. Clients request them with GET or POST.
bool IsStreamSubresource(std::string_view subresource);

// Decodes %XX. None for an invalid escape.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

// Errors: BadRequest for a path that cannot be decoded.
Result<RequestInfo> ParseRequestInfo(std::string_view method, std::string_view target,
                                     const Query& query);

}  // namespace cox::apiserver
