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

// The query of a URL, decoded. Parameters may repeat; the first counts unless all are asked for.
class Query {
 public:
  Query() = default;
  // Pairs that are not decodable are left out, as Go's lenient parser does.
  static Query Parse(std::string_view text);

  // Null if it is not there.
  const std::string* Find(std::string_view name) const;
  std::string Get(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  std::vector<std::string> All(std::string_view name) const;
  // As upstream reads booleans of options: absent, "false" and "0" are false, all else is true.
  bool Flag(std::string_view name) const;
  // As Go's strconv.ParseInt reads it; none if it is absent or empty. BadRequest with Go's texts.
  Result<std::optional<int64_t>> Int(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// What a request is about, read from its method and path alone.
//
//   GET /apis/apps/v1/namespaces/default/deployments/web/scale?watch=false
//   verb get, prefix apis, group apps, version v1, namespace default, resource deployments, name
//   web, subresource scale
struct RequestInfo {
  std::string path;  // decoded, without query
  std::string verb;  // "get", "list", "watch", ... ; the lower-case method for other paths
  bool is_resource = false;

  std::string prefix;  // "api" or "apis"
  std::string group;
  std::string version;
  std::string namespace_;  // NOLINT(readability-identifier-naming): a keyword without it
  std::string resource;
  std::string subresource;
  std::string name;
  // What follows prefix and version, decoded.
  std::vector<std::string> parts;
  // The path has more parts than any resource: no such thing.
  bool trailing = false;

  // Watches and streams to containers: exempt from the request timeout.
  bool long_running = false;
};

// Subresources that are streams to containers and nodes. Requests for them come by GET and by POST.
bool IsStreamSubresource(std::string_view subresource);

// Decodes %XX. None for a broken escape.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

// BadRequest for a path that is not decodable.
Result<RequestInfo> ParseRequestInfo(std::string_view method, std::string_view target,
                                     const Query& query);

}  // namespace cox::apiserver
