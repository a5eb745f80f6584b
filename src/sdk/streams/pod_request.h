// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/object_key.h"
#include "net/http.h"

namespace cox::sdk {

// Builds a GET request for a Pod's subresource with query parameters.
class PodRequest {
 public:
  // BadRequest if the name or namespace is missing or not a valid path segment.
  static Result<PodRequest> To(const ObjectKey& pod, std::string_view subresource);

  // Also adds empty values, because commands may have empty arguments.
  PodRequest& Add(std::string_view name, std::string_view value);
  PodRequest& AddFlag(std::string_view name, bool value) {
    return value ? Add(name, "true") : *this;
  }
  PodRequest& AddText(std::string_view name, std::string_view value) {
    return value.empty() ? *this : Add(name, value);
  }
  net::Request Take() &&;

 private:
  explicit PodRequest(std::string path) : target_(std::move(path)) {}

  std::string target_;
  bool first_ = true;
};

}  // namespace cox::sdk
