// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/core/v1.h"
#include "apiserver/handlers/subresources/subresources.h"
#include "base/strings.h"

// log, exec, attach, portforward, proxy: streams to where containers run. Requests are checked
// here; the streams themselves need a kubelet to talk to, which is not built yet.
namespace cox::apiserver {
namespace {

std::vector<std::string> ContainerNames(const core::v1::PodSpec& spec) {
  std::vector<std::string> names;
  for (const core::v1::Container& container : spec.containers) names.push_back(container.name);
  return names;
}

bool HasContainer(const core::v1::PodSpec& spec, std::string_view name) {
  auto named = [&](const auto& container) { return container.name == name; };
  return std::any_of(spec.containers.begin(), spec.containers.end(), named) ||
         std::any_of(spec.initContainers.begin(), spec.initContainers.end(), named) ||
         std::any_of(spec.ephemeralContainers.begin(), spec.ephemeralContainers.end(),
                     [&](const core::v1::EphemeralContainer& container) {
                       return container.ephemeralContainerCommon.name == name;
                     });
}

// The container a request is about must be named where there are several.
Status CheckContainer(const core::v1::Pod& pod, const std::string& name) {
  if (!name.empty()) {
    if (HasContainer(pod.spec, name)) return {};
    return Status::BadRequest("container " + name + " is not valid for pod " + pod.metadata.name);
  }
  const std::vector<std::string> names = ContainerNames(pod.spec);
  if (names.size() <= 1) return {};
  return Status::BadRequest("a container name must be specified for pod " + pod.metadata.name +
                            ", choose one of: [" + Join(names, " ") + "]");
}

Status CheckLogOptions(const Call& call) {
  FieldErrorList errors;
  auto at_least = [&](std::string_view name, int64_t least, std::string_view why) -> Status {
    COX_ASSIGN_OR_RETURN(const std::optional<int64_t> value, call.query.Int(name));
    if (value && *value < least) {
      errors.push_back(FieldError::Invalid(FieldPath(name), *value, std::string(why)));
    }
    return {};
  };
  COX_RETURN_IF_ERROR(at_least("tailLines", 0, "must be greater than or equal to 0"));
  COX_RETURN_IF_ERROR(at_least("limitBytes", 1, "must be greater than 0"));
  COX_RETURN_IF_ERROR(at_least("sinceSeconds", 1, "must be greater than 0"));
  if (errors.empty()) return {};
  return NewInvalid("", "PodLogOptions", call.info.name, errors);
}

}  // namespace

Status HandleConnect(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  const std::string& subresource = call.info.subresource;
  COX_ASSIGN_OR_RETURN(const Object found,
                       resource.store().Get(call.ctx(), call.info.namespace_, call.info.name));
  if (const auto* pod = found.As<core::v1::Pod>()) {
    if (subresource == "log") COX_RETURN_IF_ERROR(CheckLogOptions(call));
    if (subresource == "log" || subresource == "exec" || subresource == "attach") {
      COX_RETURN_IF_ERROR(CheckContainer(*pod, call.query.Get("container")));
    }
    const ResourceStore& nodes = handlers.registry().Hub(core::v1::Node::kKind).store();
    if (!pod->spec.nodeName.empty() && !nodes.Get(call.ctx(), "", pod->spec.nodeName).ok()) {
      return NotFoundError(resource.resource(), pod->spec.nodeName);
    }
  }
  return Status::Unavailable("there is no connection to the node yet");
}

}  // namespace cox::apiserver
