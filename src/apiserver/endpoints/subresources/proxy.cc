// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "apiserver/admission/stored_objects.h"
#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/endpoints/streaming/pod_targets.h"
#include "apiserver/endpoints/streaming/proxy_targets.h"
#include "apiserver/endpoints/subresources/subresources.h"
#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/registry/store/names.h"
#include "base/random.h"
#include "base/strings.h"

// The proxy subresource of pods, services and nodes: forwards any request to a server in the
// cluster.
namespace cox::apiserver {
namespace {

constexpr std::string_view kServiceName = "kubernetes.io/service-name";

// Parses the name in the path.
Result<ProxyName> NameOf(const Call& call, const ServedResource& resource) {
  std::optional<ProxyName> name = SplitProxyName(call.info.name);
  if (name) return *std::move(name);
  std::string kind(resource.kind().plural);
  kind.pop_back();
  return Status::BadRequest("invalid " + kind + " request " + Quote(call.info.name));
}

// Escapes each segment of the path.
std::string EscapePath(std::string_view path) {
  std::string escaped;
  for (size_t i = 0; const std::string_view part : Split(path, '/')) {
    escaped.append(i++ == 0 ? "" : "/").append(PathEscape(part));
  }
  return escaped;
}

// The path after ".../proxy", still escaped; if it is empty, the `path` query parameter.
std::string SubpathOf(const Call& call) {
  const size_t head = call.info.prefix == "api" ? 2 : 3;
  const size_t in_namespace = call.info.namespace_.empty() ? 0 : 2;
  const std::string_view path = call.request().path();
  std::string subpath(ProxySubpath(path, head + in_namespace + 3));
  return subpath.empty() ? EscapePath(call.query.Get("path")) : subpath;
}

template <class Options>
Result<std::string> AdmitPath(ResourceHandlers& handlers, Call& call,
                              const ServedResource& resource, const std::string& subpath) {
  const std::string shown = PercentDecode(subpath, false).value_or(subpath);
  Object asked = Object::Of(Options{.path = shown});
  COX_RETURN_IF_ERROR(AdmitSubresource(
      handlers.admission(), call,
      {.resource = resource, .subresource = "proxy", .operation = Operation::kConnect}, asked));
  const std::string& wanted = asked.template As<Options>()->path;
  if (wanted == shown) return subpath;
  return EscapePath(wanted);  // admission changed the path
}

Result<std::string> Admitted(ResourceHandlers& handlers, Call& call,
                             const ServedResource& resource) {
  const std::string subpath = SubpathOf(call);
  const std::string_view plural = resource.kind().plural;
  if (plural == "nodes") {
    return AdmitPath<core::v1::NodeProxyOptions>(handlers, call, resource, subpath);
  }
  if (plural == "services") {
    return AdmitPath<core::v1::ServiceProxyOptions>(handlers, call, resource, subpath);
  }
  return AdmitPath<core::v1::PodProxyOptions>(handlers, call, resource, subpath);
}

net::ClientOptions ClientOf(const ProxyTarget& target) {
  net::ClientOptions client;
  client.host = target.host;
  client.port = target.port;
  client.tls = target.tls;
  client.http2 = false;
  // Servers in the cluster use arbitrary certificates, so they are not verified, like upstream.
  client.tls_options.insecure = true;
  return client;
}

Result<net::ClientOptions> NodeClient(ResourceHandlers& handlers, Call& call,
                                      const ServedResource& resource, const ProxyName& name) {
  const Result<Object> found = resource.store().Get(call.ctx(), "", name.name);
  if (found.status().Is(Reason::kNotFound)) return NotFoundError(resource.resource(), name.name);
  if (!found.ok()) return found.status();
  const auto& node = *found->As<core::v1::Node>();
  COX_ASSIGN_OR_RETURN(net::ClientOptions kubelet,
                       KubeletOf(node, handlers.connector()->kubelets()));
  if (name.port.empty() || name.port == std::to_string(kubelet.port)) return kubelet;
  // Another server on the node. Security: it must not receive the kubelet client certificate.
  ProxyTarget target{.tls = name.scheme == "https", .host = kubelet.host};
  COX_ASSIGN_OR_RETURN(target.port, ProxyPort(name.port));
  return ClientOf(target);
}

Result<net::ClientOptions> ServiceClient(ResourceHandlers& handlers, Call& call,
                                         const ServedResource& resource, const ProxyName& name) {
  const std::string& ns = call.info.namespace_;
  COX_ASSIGN_OR_RETURN(const Object found, resource.store().Get(call.ctx(), ns, name.name));
  COX_ASSIGN_OR_RETURN(const std::string port,
                       ServicePortName(*found.As<core::v1::Service>(), name));
  List<discovery::v1::EndpointSlice> slices;
  COX_RETURN_IF_ERROR(
      VisitObjects(call.ctx(), handlers.registry().Hub(discovery::v1::EndpointSlice::kKind).store(),
                   ns, [&](const Object& object) {
                     const auto& slice = *object.As<discovery::v1::EndpointSlice>();
                     const auto label = slice.metadata.labels.find(kServiceName);
                     if (label != slice.metadata.labels.end() && label->second == name.name) {
                       slices.push_back(slice);
                     }
                     return true;
                   }));
  COX_ASSIGN_OR_RETURN(const std::vector<ProxyTarget> targets, ServiceTargets(slices, name, port));
  return ClientOf(targets[RandomBelow(targets.size())]);
}

Result<net::ClientOptions> PodClient(Call& call, const ServedResource& resource,
                                     const ProxyName& name) {
  COX_ASSIGN_OR_RETURN(const Object found,
                       resource.store().Get(call.ctx(), call.info.namespace_, name.name));
  COX_ASSIGN_OR_RETURN(const ProxyTarget target, PodTarget(*found.As<core::v1::Pod>(), name));
  return ClientOf(target);
}

}  // namespace

Status HandleProxy(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  NodeConnector* const connector = handlers.connector();
  if (connector == nullptr) return Status::Unavailable("this server has no connection to nodes");
  COX_RETURN_IF_ERROR(ReadBody(call).status());  // a truncated body must not be forwarded
  COX_ASSIGN_OR_RETURN(const std::string subpath, Admitted(handlers, call, resource));
  COX_ASSIGN_OR_RETURN(const ProxyName name, NameOf(call, resource));
  const std::string_view plural = resource.kind().plural;
  COX_ASSIGN_OR_RETURN(net::ClientOptions client,
                       plural == "nodes"      ? NodeClient(handlers, call, resource, name)
                       : plural == "services" ? ServiceClient(handlers, call, resource, name)
                                              : PodClient(call, resource, name));
  client.allow_address = connector->ProxyAddresses();
  Backend backend{.client = std::move(client), .target = subpath};
  if (!subpath.empty() && !subpath.starts_with('/')) backend.target = "/" + subpath;
  if (!call.request().query().empty()) {
    backend.target.append("?").append(call.request().query());
  }
  const std::string_view path = call.request().path();
  ProxyFront front{.host = std::string(call.Header("host").value_or("")),
                   .prefix = std::string(path)};
  if (front.prefix.ends_with(subpath)) front.prefix.resize(front.prefix.size() - subpath.size());
  return connector->Proxy(call, std::move(backend), std::move(front));
}

}  // namespace cox::apiserver
