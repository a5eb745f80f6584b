// SPDX-License-Identifier: Apache-2.0
// Parses any method and target: the result refers to exactly one place in the API.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apiserver/request/request_info.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool IsSegment(const std::string& text) { return text.find('/') == std::string::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t blank = text.find(' ');
  const std::string_view method = text.substr(0, blank);
  const std::string_view target = blank == text.npos ? "/" : text.substr(blank + 1);
  const size_t mark = target.find('?');
  const auto query = cox::apiserver::Query::Parse(mark == target.npos ? std::string_view()
                                                                      : target.substr(mark + 1));
  const auto info = cox::apiserver::ParseRequestInfo(method, target, query);
  if (!info.ok()) {
    Require(!info.status().message().empty());
    return 0;
  }
  // A slash in a name would give the key of another object.
  Require(IsSegment(info->namespace_) && IsSegment(info->name) && IsSegment(info->resource));
  Require(IsSegment(info->subresource) && IsSegment(info->group) && IsSegment(info->version));
  for (const std::string& part : info->parts) Require(IsSegment(part));
  Require(!info->long_running || info->is_resource);
  // Parsing is deterministic.
  const auto again = cox::apiserver::ParseRequestInfo(method, target, query);
  Require(again.ok() && again->verb == info->verb && again->name == info->name);
  return 0;
}
