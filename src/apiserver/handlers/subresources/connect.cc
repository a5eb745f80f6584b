// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "api/core/v1.h"
#include "apiserver/handlers/subresources/subresources.h"

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
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : " ") + each;
  return Status::BadRequest("a container name must be specified for pod " + pod.metadata.name +
                            ", choose one of: [" + list + "]");
}

Status CheckLogOptions(const Call& call) {
  FieldErrorList errors;
  auto number = [&](std::string_view name) -> std::optional<int64_t> {
    const std::string text = call.query.Get(name);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
    return value;
  };
  if (const auto lines = number("tailLines"); lines && *lines < 0) {
    errors.push_back(
        FieldError::Invalid(FieldPath("tailLines"), *lines, "must be greater than or equal to 0"));
  }
  if (const auto bytes = number("limitBytes"); bytes && *bytes < 1) {
    errors.push_back(
        FieldError::Invalid(FieldPath("limitBytes"), *bytes, "must be greater than 0"));
  }
  if (const auto seconds = number("sinceSeconds"); seconds && *seconds < 1) {
    errors.push_back(
        FieldError::Invalid(FieldPath("sinceSeconds"), *seconds, "must be greater than 0"));
  }
  if (errors.empty()) return {};
  return NewInvalid("", "PodLogOptions", call.info.name, errors);
}

}  // namespace

void HandleConnect(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  const bool log = call.info.subresource == "log";
  Result<Object> found = resource.store().Get(call.ctx(), call.info.namespace_, call.info.name);
  if (!found.ok()) return call.RespondStatus(found.status());
  const auto* pod = found->As<core::v1::Pod>();
  if (pod != nullptr) {
    if (log) {
      Status options = CheckLogOptions(call);
      if (!options.ok()) return call.RespondStatus(options);
    }
    if (log || call.info.subresource == "exec" || call.info.subresource == "attach") {
      Status container = CheckContainer(*pod, call.query.Get("container"));
      if (!container.ok()) return call.RespondStatus(container);
    }
    const ResourceStore& nodes = handlers.registry().Hub(core::v1::Node::kKind).store();
    if (!pod->spec.nodeName.empty() && !nodes.Get(call.ctx(), "", pod->spec.nodeName).ok()) {
      return call.RespondStatus(NotFoundError(resource.resource(), pod->spec.nodeName));
    }
  }
  call.RespondStatus(Status::Unavailable("there is no connection to the node yet"));
}

}  // namespace cox::apiserver
