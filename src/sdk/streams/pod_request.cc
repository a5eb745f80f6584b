// SPDX-License-Identifier: Apache-2.0
#include "sdk/streams/pod_request.h"

#include <utility>

#include "api/core/v1.h"
#include "coxswain/client.h"
#include "sdk/client/requests.h"

namespace cox::sdk {

Result<PodRequest> PodRequest::To(const ObjectKey& pod, std::string_view subresource) {
  const Resource resource = Resource::Of<core::v1::Pod>();
  Operation operation{.resource = resource};
  operation.key = pod;
  operation.subresource = subresource;
  COX_ASSIGN_OR_RETURN(std::string path, TargetOf(operation));
  return PodRequest(std::move(path));
}

PodRequest& PodRequest::Add(std::string_view name, std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~:";
  target_ += std::exchange(first_, false) ? '?' : '&';
  target_ += name;
  target_ += '=';
  for (const char c : value) {
    const bool letter_or_digit =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter_or_digit || kPlain.find(c) != std::string_view::npos) {
      target_ += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    target_ += '%';
    target_ += kHex[byte >> 4];
    target_ += kHex[byte & 15];
  }
  return *this;
}

net::Request PodRequest::Take() && {
  net::Request request;
  request.method = "GET";
  request.target = std::move(target_);
  return request;
}

}  // namespace cox::sdk
