// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>

#include "api/core/v1.h"
#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/endpoints/streaming/log_options.h"
#include "apiserver/endpoints/streaming/pod_targets.h"
#include "apiserver/endpoints/streaming/proxy_targets.h"
#include "apiserver/endpoints/subresources/subresources.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/request/now.h"
#include "base/strings.h"

// log, exec, attach, portforward: streams to containers. This file parses and admits requests;
// streaming/ forwards them.
namespace cox::apiserver {
namespace {

Result<NodeConnector*> ConnectorOf(const ResourceHandlers& handlers) {
  if (handlers.connector() != nullptr) return handlers.connector();
  return Status::Unavailable("this server has no connection to nodes");
}

// The kubelet of a Node. Like upstream, the error for a missing Node names the requested resource
// (pods).
Result<Backend> KubeletBackend(ResourceHandlers& handlers, Call& call,
                               const ServedResource& resource, const std::string& node) {
  COX_ASSIGN_OR_RETURN(NodeConnector * connector, ConnectorOf(handlers));
  const Result<Object> found =
      handlers.registry().Hub(core::v1::Node::kKind).store().Get(call.ctx(), "", node);
  if (found.status().Is(Reason::kNotFound)) return NotFoundError(resource.resource(), node);
  if (!found.ok()) return found.status();
  Backend backend;
  COX_ASSIGN_OR_RETURN(backend.client,
                       KubeletOf(*found->As<core::v1::Node>(), connector->kubelets()));
  backend.client.allow_address = connector->KubeletAddresses();
  return backend;
}

// The kubelet of the Pod's node. Errors: BadRequest if the Pod is not scheduled.
Result<Backend> KubeletOfPod(ResourceHandlers& handlers, Call& call, const ServedResource& resource,
                             const core::v1::Pod& pod) {
  if (pod.spec.nodeName.empty()) {
    return Status::BadRequest("pod " + pod.metadata.name + " does not have a host assigned");
  }
  return KubeletBackend(handlers, call, resource, pod.spec.nodeName);
}

// Must be called first. Without a connector, the request is rejected later.
Status AuthorizeUpgrade(const ResourceHandlers& handlers, Call& call) {
  return handlers.connector() == nullptr ? Status() : handlers.connector()->AuthorizeUpgrade(call);
}

Result<Object> FindPod(Call& call, const ServedResource& resource) {
  return resource.store().Get(call.ctx(), call.info.namespace_, call.info.name);
}

Status AdmitConnect(ResourceHandlers& handlers, Call& call, const ServedResource& resource,
                    Object& asked) {
  return AdmitSubresource(handlers.admission(), call,
                          {.resource = resource,
                           .subresource = call.info.subresource,
                           .operation = Operation::kConnect},
                          asked);
}

// Parses the stream options of exec and attach.
template <class Options>
Options ReadStreams(const Query& query) {
  Options options;
  options.stdin = query.Flag("stdin");
  // stdout and stderr are enabled by default.
  options.stdout = !query.Has("stdout") || query.Flag("stdout");
  options.stderr = !query.Has("stderr") || query.Flag("stderr");
  options.tty = query.Flag("tty");
  options.container = query.Get("container");
  return options;
}

template <class Options>
StreamOptions StreamsOf(const Options& options) {
  return {.in = options.stdin, .out = options.stdout, .err = options.stderr, .tty = options.tty};
}

Status StartProcess(ResourceHandlers& handlers, Call& call, Backend backend,
                    const StreamOptions& asked) {
  NodeConnector& connector = *handlers.connector();
  // Older protocol versions are handled by the kubelet.
  if (IsStreamCloseRequest(call.request())) {
    return connector.Translate(call, std::move(backend), asked);
  }
  return connector.Upgrade(call, std::move(backend));
}

}  // namespace

Status HandleLog(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const core::v1::PodLogOptions options,
                       ReadLogOptions(call.query, call.info.name));
  COX_ASSIGN_OR_RETURN(const Object found, FindPod(call, resource));
  const auto& pod = *found.As<core::v1::Pod>();
  COX_ASSIGN_OR_RETURN(const std::string container, ContainerOf(pod, options.container));
  if (pod.spec.nodeName.empty()) {
    // The Pod is not scheduled, so it has no log yet.
    call.RespondWith({.status = 204, .headers = {}, .body = {}});
    return {};
  }
  COX_ASSIGN_OR_RETURN(Backend backend,
                       KubeletBackend(handlers, call, resource, pod.spec.nodeName));
  if (options.insecureSkipTLSVerifyBackend) backend.client.tls_options.insecure = true;
  backend.target = LogTarget(pod, container, options);
  return handlers.connector()->Log(call, std::move(backend));
}

Status HandleExec(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_RETURN_IF_ERROR(AuthorizeUpgrade(handlers, call));
  auto read = ReadStreams<core::v1::PodExecOptions>(call.query);
  read.command = call.query.All("command");
  Object asked = Object::Of(std::move(read));
  COX_RETURN_IF_ERROR(AdmitConnect(handlers, call, resource, asked));
  const auto& options = *asked.As<core::v1::PodExecOptions>();
  COX_ASSIGN_OR_RETURN(const Object found, FindPod(call, resource));
  const auto& pod = *found.As<core::v1::Pod>();
  COX_ASSIGN_OR_RETURN(const std::string container, ContainerOf(pod, options.container));
  COX_ASSIGN_OR_RETURN(Backend backend, KubeletOfPod(handlers, call, resource, pod));
  backend.target = ExecTarget(pod, container, options);
  return StartProcess(handlers, call, std::move(backend), StreamsOf(options));
}

Status HandleAttach(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_RETURN_IF_ERROR(AuthorizeUpgrade(handlers, call));
  Object asked = Object::Of(ReadStreams<core::v1::PodAttachOptions>(call.query));
  COX_RETURN_IF_ERROR(AdmitConnect(handlers, call, resource, asked));
  const auto& options = *asked.As<core::v1::PodAttachOptions>();
  COX_ASSIGN_OR_RETURN(const Object found, FindPod(call, resource));
  const auto& pod = *found.As<core::v1::Pod>();
  COX_ASSIGN_OR_RETURN(const std::string container, ContainerOf(pod, options.container));
  COX_ASSIGN_OR_RETURN(Backend backend, KubeletOfPod(handlers, call, resource, pod));
  backend.target = AttachTarget(pod, container, options);
  return StartProcess(handlers, call, std::move(backend), StreamsOf(options));
}

Status HandlePortForward(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_RETURN_IF_ERROR(AuthorizeUpgrade(handlers, call));
  core::v1::PodPortForwardOptions read;
  for (const std::string& ports : call.query.All("ports")) {
    for (const std::string_view text : Split(ports, ',')) {
      int32_t port = 0;
      std::from_chars(text.data(), text.data() + text.size(), port);
      if (port > 0) read.ports.push_back(port);
    }
  }
  Object asked = Object::Of(std::move(read));
  COX_RETURN_IF_ERROR(AdmitConnect(handlers, call, resource, asked));
  COX_ASSIGN_OR_RETURN(const Object found, FindPod(call, resource));
  const auto& pod = *found.As<core::v1::Pod>();
  COX_ASSIGN_OR_RETURN(Backend backend, KubeletOfPod(handlers, call, resource, pod));
  backend.target = PortForwardTarget(pod, *asked.As<core::v1::PodPortForwardOptions>());
  NodeConnector& connector = *handlers.connector();
  if (IsTunnelRequest(call.request())) return connector.Tunnel(call, std::move(backend));
  return connector.Upgrade(call, std::move(backend));
}

}  // namespace cox::apiserver
