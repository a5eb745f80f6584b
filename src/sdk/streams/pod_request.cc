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
  target_ += std::exchange(first_, false) ? '?' : '&';
  target_ += name;
  target_ += '=';
  AppendEscaped(&target_, value);
  return *this;
}

net::Request PodRequest::Take() && {
  net::Request request;
  request.method = "GET";
  request.target = std::move(target_);
  return request;
}

}  // namespace cox::sdk
