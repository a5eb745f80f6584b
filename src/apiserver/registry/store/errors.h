// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

// The standard errors of the API, with upstream's texts.
namespace cox::apiserver {

// "pods", "deployments.apps": a resource with its group.
struct Resource {
  std::string_view group;
  std::string_view name;
  std::string Qualified() const {
    return group.empty() ? std::string(name) : std::string(name) + "." + std::string(group);
  }
};

Status NotFoundError(const Resource& resource, std::string_view name);
Status AlreadyExistsError(const Resource& resource, std::string_view name);
Status ConflictError(const Resource& resource, std::string_view name, std::string_view why);
Status ForbiddenError(const Resource& resource, std::string_view name, std::string_view why);
// Another writer has changed the object in between.
Status ModifiedError(const Resource& resource, std::string_view name);
Status MethodNotAllowedError();
Status UnknownResourceError();
// A field selector with `field`, of a kind that can only be selected by name and namespace.
Status UnknownFieldError(std::string_view field);

}  // namespace cox::apiserver
