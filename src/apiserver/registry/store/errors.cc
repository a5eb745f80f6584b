// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/errors.h"

#include "base/strings.h"

namespace cox::apiserver {
namespace {

StatusDetails About(const Resource& resource, std::string_view name) {
  return {.name = std::string(name),
          .group = std::string(resource.group),
          .kind = std::string(resource.name)};
}

}  // namespace

Status NotFoundError(const Resource& resource, std::string_view name) {
  return {Reason::kNotFound, resource.Qualified() + " " + Quote(name) + " not found",
          About(resource, name)};
}

Status AlreadyExistsError(const Resource& resource, std::string_view name) {
  return {Reason::kAlreadyExists, resource.Qualified() + " " + Quote(name) + " already exists",
          About(resource, name)};
}

Status ConflictError(const Resource& resource, std::string_view name, std::string_view why) {
  return {Reason::kConflict,
          "Operation cannot be fulfilled on " + resource.Qualified() + " " + Quote(name) + ": " +
              std::string(why),
          About(resource, name)};
}

Status ForbiddenError(const Resource& resource, std::string_view name, std::string_view why) {
  std::string message = resource.Qualified();
  if (!name.empty()) message += " " + Quote(name);
  return {Reason::kForbidden, message + " is forbidden: " + std::string(why),
          About(resource, name)};
}

Status ModifiedError(const Resource& resource, std::string_view name) {
  return ConflictError(resource, name,
                       "the object has been modified; please apply your changes to the latest "
                       "version and try again");
}

Status MethodNotAllowedError() {
  return {Reason::kMethodNotAllowed,
          "the server does not allow this method on the requested resource"};
}

Status UnknownResourceError() {
  return Status::NotFound("the server could not find the requested resource");
}

Status UnknownFieldError(std::string_view field) {
  return Status::BadRequest(Quote(field) +
                            " is not a known field selector: only \"metadata.name\", "
                            "\"metadata.namespace\"");
}

}  // namespace cox::apiserver
