// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>

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

// The options of a stream, from the query, as admission sees them. None for a log, which is read.
std::optional<Object> ConnectOptions(const Call& call, const ServedResource& resource) {
  const std::string& subresource = call.info.subresource;
  const Query& query = call.query;
  const auto streams = [&](auto options) {
    options.stdin = query.Flag("stdin");
    // Without a word, what the container writes is sent.
    options.stdout = !query.Has("stdout") || query.Flag("stdout");
    options.stderr = !query.Has("stderr") || query.Flag("stderr");
    options.tty = query.Flag("tty");
    options.container = query.Get("container");
    return options;
  };
  if (subresource == "exec") {
    core::v1::PodExecOptions options = streams(core::v1::PodExecOptions());
    options.command = query.All("command");
    return Object::Of(std::move(options));
  }
  if (subresource == "attach") return Object::Of(streams(core::v1::PodAttachOptions()));
  if (subresource == "portforward") {
    core::v1::PodPortForwardOptions options;
    for (const std::string& ports : query.All("ports")) {
      for (const std::string_view text : Split(ports, ',')) {
        int32_t port = 0;
        std::from_chars(text.data(), text.data() + text.size(), port);
        if (port > 0) options.ports.push_back(port);
      }
    }
    return Object::Of(std::move(options));
  }
  if (subresource != "proxy") return std::nullopt;
  const std::string path = query.Get("path");
  if (resource.kind().plural == "nodes") {
    return Object::Of(core::v1::NodeProxyOptions{.path = path});
  }
  if (resource.kind().plural == "services") {
    return Object::Of(core::v1::ServiceProxyOptions{.path = path});
  }
  return Object::Of(core::v1::PodProxyOptions{.path = path});
}

}  // namespace

Status HandleConnect(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  const std::string& subresource = call.info.subresource;
  if (std::optional<Object> asked = ConnectOptions(call, resource)) {
    COX_RETURN_IF_ERROR(AdmitAsked(
        handlers.admission(), call,
        {.resource = resource, .subresource = subresource, .operation = Operation::kConnect},
        *asked));
  }
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
