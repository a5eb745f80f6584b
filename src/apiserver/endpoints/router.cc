// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/router.h"

#include <chrono>

#include "apiserver/endpoints/resources.h"
#include "apiserver/filters/fairness/fairness.h"
#include "apiserver/registry/store/errors.h"
#include "apiserver/request/negotiation.h"
#include "apiserver/request/now.h"
#include "base/strings.h"
#include "object/codec.h"

namespace cox::apiserver {
namespace {

// Upstream serves /apis for every method, the other documents only for GET and HEAD.
bool IsRead(const Call& call) {
  return call.request().method == "GET" || call.request().method == "HEAD";
}

// Paths that `/` lists in addition to those of discovery and health.
constexpr std::string_view kFixedPaths[] = {
    "/.well-known/openid-configuration",
    "/flagz",
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/statusz",
    "/version",
};

void RespondNotFoundPage(Call& call) { call.RespondText(404, "404 page not found\n"); }

Status RespondDocument(Call& call, const Object& document) {
  COX_ASSIGN_OR_RETURN(const DiscoveryForm form,
                       NegotiateDiscovery(call.Header("accept"), /*aggregated=*/false));
  std::string text;
  EncodeObject(document, form.format, &text);
  call.Respond(200, form.content_type, {Bytes(std::move(text))});
  return {};
}

void RespondAggregated(Call& call, const DiscoveryDocuments::Aggregated& document,
                       const DiscoveryForm& form) {
  call.AddHeader("etag", document.etag);
  call.AddHeader("vary", "Accept");
  if (call.Header("if-none-match") == document.etag)
    return call.Respond(304, form.content_type, {});
  if (form.format == Format::kJson) return call.Respond(200, form.content_type, {document.json});
  std::string text;
  EncodeObject(document.object, form.format, &text);
  call.Respond(200, form.content_type, {Bytes(std::move(text))});
}

}  // namespace

void Router::Handle(const std::shared_ptr<Call>& call) const {
  const Status status = Dispatch(call);
  if (!status.ok()) call->RespondStatus(status);
}

Status Router::Dispatch(const std::shared_ptr<Call>& call) const {
  if (parts_.health.Handle(*call)) return {};
  if (std::optional<Status> done = HandleFixed(*call)) return *done;
  if (std::optional<Status> done = HandleDiscovery(*call)) return *done;
  // A path in a group that is not served is an unknown page, not an unknown resource.
  const RequestInfo& info = call->info;
  if (info.is_resource && (info.prefix == "api" || IsServed(info.group))) {
    if (parts_.reviews.Handle(*call) || parts_.components.Handle(*call)) return {};
    HandleResource(parts_.resources, call);
  } else {
    RespondNotFoundPage(*call);
  }
  return {};
}

bool Router::IsServed(std::string_view group) const {
  return parts_.resources.registry().served()->groups().contains(group);
}

std::optional<Status> Router::HandleFixed(Call& call) const {
  const std::string& path = call.info.path;
  if (path == "/version" || path == "/version/") {
    if (!IsRead(call)) return MethodNotAllowedError();
    call.Respond(200, "application/json", {Bytes(VersionDocument(parts_.version))});
    return Status();
  }
  if (path.starts_with("/openapi/")) {
    call.RespondWith(parts_.openapi.Handle(call.request()));
    return Status();
  }
  if (parts_.issuer.Handle(call)) return Status();
  if (path == "/metrics" || path == "/metrics/slis") {
    std::string text = path == "/metrics" ? parts_.metrics.Render() : parts_.health.Slis();
    call.Respond(200, MetricsRegistry::kContentType, {Bytes(std::move(text))});
    return Status();
  }
  if (parts_.fairness != nullptr && parts_.fairness->HandleDebug(call)) return Status();
  if (path == "/statusz") return RespondStatusPage(call), Status();
  if (path == "/flagz") return RespondFlags(call), Status();
  if (path == "/" || path == "/index.html") return RespondPaths(call), Status();
  return std::nullopt;
}

void Router::RespondPaths(Call& call) const {
  std::vector<std::string> paths = parts_.discovery.documents()->paths();
  for (std::string& health : parts_.health.paths()) paths.push_back(std::move(health));
  paths.insert(paths.end(), std::begin(kFixedPaths), std::end(kFixedPaths));
  call.Respond(200, "application/json", {Bytes(PathsDocument(std::move(paths)))});
}

void Router::RespondStatusPage(Call& call) const {
  const Clock& clock = call.ctx().clock();
  const auto up = std::chrono::floor<std::chrono::seconds>(clock.Now() - parts_.started);
  call.RespondText(200,
                   "kube-apiserver statusz\nThis page is for humans; its format may change.\n\n"
                   "Started: " +
                       Time::FromUnix(NowOf(clock).unix_seconds() - up.count()).ToString() +
                       "\nUp: " + Duration::Seconds(up.count()).ToString() +
                       "\nBinary version: " + parts_.version.git_version +
                       "\nPlatform: " + parts_.version.platform + "\n");
}

void Router::RespondFlags(Call& call) const {
  std::string text = "kube-apiserver flags\nThis page is for humans; its format may change.\n\n";
  for (const auto& [name, value] : parts_.flags)
    text.append(name).append("=").append(value) += '\n';
  call.RespondText(200, text);
}

Status Router::HandleRoot(Call& call, bool core, const DiscoveryDocuments& documents) const {
  if (core && !IsRead(call)) return MethodNotAllowedError();
  COX_ASSIGN_OR_RETURN(const DiscoveryForm form,
                       NegotiateDiscovery(call.Header("accept"), /*aggregated=*/true));
  if (form.aggregated) {
    RespondAggregated(call, core ? documents.AggregatedCore() : documents.AggregatedGroups(), form);
    return {};
  }
  return RespondDocument(call,
                         core ? documents.ApiVersions(parts_.server_address) : documents.Groups());
}

std::optional<Status> Router::HandleDiscovery(Call& call) const {
  std::string_view path = call.info.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const bool core = path == "/api" || path.starts_with("/api/");
  const bool grouped = path == "/apis" || path.starts_with("/apis/");
  if (!core && !grouped) return std::nullopt;
  std::vector<std::string_view> parts;
  for (std::string_view part : Split(path.substr(1), '/')) parts.push_back(part);
  if (parts.size() > (core ? 2u : 3u)) return std::nullopt;
  const std::shared_ptr<const DiscoveryDocuments> documents = parts_.discovery.documents();
  if (parts.size() == 1) return HandleRoot(call, core, *documents);
  const bool group_itself = grouped && parts.size() == 2;
  const Object* document = group_itself ? documents->Group(parts[1])
                           : core       ? documents->Resources("", parts[1])
                                        : documents->Resources(parts[1], parts[2]);
  if (document != nullptr) {
    if (!IsRead(call)) return MethodNotAllowedError();
    return RespondDocument(call, *document);
  }
  if (core || documents->Group(parts[1]) != nullptr) return UnknownResourceError();
  RespondNotFoundPage(call);
  return Status();
}

}  // namespace cox::apiserver
