// SPDX-License-Identifier: Apache-2.0
#include "net/server/response_head.h"

#include <boost/beast/http/status.hpp>

namespace cox::net {
namespace {

bool MayHaveBody(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

bool WantsClose(const Headers& headers) { return headers.Get("connection") == "close"; }

bool HasBody(const Answer& answer, bool head_request) {
  if (head_request || !MayHaveBody(answer.status)) return false;
  if (answer.source != nullptr) return true;
  for (const Bytes& piece : answer.body) {
    if (!piece.empty()) return true;
  }
  return false;
}

std::string ContentLength(const Answer& answer) {
  if (answer.source != nullptr || !MayHaveBody(answer.status) ||
      answer.headers.Get("content-length")) {
    return {};
  }
  size_t size = 0;
  for (const Bytes& piece : answer.body) size += piece.size();
  return std::to_string(size);
}

std::string ReasonPhrase(int status) {
  const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
  if (known == boost::beast::http::status::unknown) return "status code " + std::to_string(status);
  return std::string(boost::beast::http::obsolete_reason(known));
}

}  // namespace cox::net
