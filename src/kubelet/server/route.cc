// SPDX-License-Identifier: Apache-2.0
#include "kubelet/server/route.h"

#include <vector>

#include "base/strings.h"
#include "kubelet/logs/query.h"

namespace cox::kubelet {
namespace {

using To = Route::To;

struct Endpoint {
  std::string_view path;
  std::string_view name;
  To to;
};
constexpr Endpoint kEndpoints[] = {
    {"/healthz", "healthz", To::kHealthz},
    {"/healthz/ping", "healthz", To::kHealthz},
    {"/healthz/log", "healthz", To::kHealthz},
    {"/healthz/syncloop", "healthz", To::kHealthz},
    {"/pods", "pods", To::kPods},
    {"/runningpods", "runningpods", To::kRunningPods},
    {"/metrics", "metrics", To::kMetrics},
    {"/metrics/cadvisor", "metrics/cadvisor", To::kCadvisorMetrics},
    {"/metrics/resource", "metrics/resource", To::kResourceMetrics},
    {"/metrics/probes", "metrics/probes", To::kProbeMetrics},
    {"/stats/summary", "stats", To::kStatsSummary},
    {"/configz", "configz", To::kConfigz},
};

// /<name>/<namespace>/<pod>[/<uid>][/<container>]
struct PodEndpoint {
  std::string_view name;
  To to;
  bool container;  // the last path segment
  bool uid;        // an optional segment before it
  bool get;
  bool post;
};
constexpr PodEndpoint kPodEndpoints[] = {
    {"containerLogs", To::kContainerLogs, true, false, true, false},
    {"exec", To::kExec, true, true, true, true},
    {"attach", To::kAttach, true, true, true, true},
    {"portForward", To::kPortForward, false, true, true, true},
    {"run", To::kRun, true, true, false, true},
};

Status WrongMethod(std::string_view method) {
  return {Reason::kMethodNotAllowed, "405: Method Not Allowed (" + std::string(method) + ")"};
}

Result<Route> PodRoute(const PodEndpoint& endpoint, std::string_view method,
                       std::vector<std::string> parts) {
  const size_t least = endpoint.container ? 3 : 2;
  if (parts.size() < least || parts.size() > least + (endpoint.uid ? 1 : 0)) {
    return Status::NotFound("404 page not found");
  }
  for (std::string& part : parts) {
    part = Unescape(part, false);
    if (part.empty()) return Status::NotFound("404 page not found");
  }
  if (!(endpoint.get && method == "GET") && !(endpoint.post && method == "POST")) {
    return WrongMethod(method);
  }
  Route route{.to = endpoint.to, .name = endpoint.name, .pod = {parts[0], parts[1]}};
  if (parts.size() > least) route.uid = parts[2];
  if (endpoint.container) route.container = parts.back();
  return route;
}

}  // namespace

bool IsDebugging(To to) {
  return to == To::kRunningPods || to == To::kContainerLogs || to == To::kExec ||
         to == To::kAttach || to == To::kPortForward || to == To::kRun || to == To::kConfigz;
}

Result<Route> FindRoute(std::string_view method, std::string_view path) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  for (const Endpoint& endpoint : kEndpoints) {
    if (path != endpoint.path) continue;
    if (method != "GET" && method != "HEAD") return WrongMethod(method);
    return Route{.to = endpoint.to, .name = endpoint.name};
  }
  if (!path.starts_with('/')) return Status::NotFound("404 page not found");
  const CutResult cut = Cut(path.substr(1), '/');
  for (const PodEndpoint& endpoint : kPodEndpoints) {
    if (cut.before != endpoint.name) continue;
    return PodRoute(endpoint, method, Split(cut.after, '/').ToStrings());
  }
  return Status::NotFound("404 page not found");
}

}  // namespace cox::kubelet
