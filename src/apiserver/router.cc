// SPDX-License-Identifier: Apache-2.0
#include "apiserver/router.h"

#include "apiserver/discovery/negotiate.h"
#include "apiserver/registry/errors.h"
#include "base/strings.h"
#include "object/codec.h"

namespace cox::apiserver {
namespace {

Status NothingAccepted() {
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}

// Methods on documents: /apis has answered to all of them since ever, the others only to GET.
bool IsRead(const Call& call) {
  return call.request().method == "GET" || call.request().method == "HEAD";
}

}  // namespace

void Router::Handle(const std::shared_ptr<Call>& call) const {
  if (parts_.health.Handle(*call)) return;
  if (HandleFixed(*call)) return;
  if (HandleDiscovery(*call)) return;
  if (call->info.is_resource) {
    // A group nobody knows is a page nobody knows.
    const std::shared_ptr<const DiscoveryDocuments> documents = parts_.discovery.documents();
    const bool known_group =
        call->info.prefix == "api" || documents->Group(call->info.group) != nullptr;
    if (known_group && parts_.reviews.Handle(*call)) return;
    if (known_group) return parts_.resources.Handle(call);
  }
  call->RespondText(404, "404 page not found\n");
}

bool Router::HandleFixed(Call& call) const {
  const std::string& path = call.info.path;
  if (path == "/version" || path == "/version/") {
    if (!IsRead(call)) {
      call.RespondStatus(MethodNotAllowedError());
    } else {
      call.Respond(200, "application/json", {Bytes(VersionDocument(parts_.version))});
    }
    return true;
  }
  if (path.starts_with("/openapi/")) {
    call.RespondWith(parts_.openapi.Handle(call.request()));
    return true;
  }
  if (parts_.issuer.Handle(call)) return true;
  if (path == "/metrics") {
    call.Respond(200, MetricsRegistry::kContentType, {Bytes(parts_.metrics.Render())});
    return true;
  }
  if (path == "/" || path == "/index.html") {
    std::vector<std::string> paths = parts_.discovery.documents()->paths();
    for (std::string& health : parts_.health.paths()) paths.push_back(std::move(health));
    call.Respond(200, "application/json", {Bytes(PathsDocument(std::move(paths)))});
    return true;
  }
  return false;
}

void Router::RespondDocument(Call& call, const Object& document) const {
  const std::optional<DiscoveryForm> form =
      NegotiateDiscovery(call.Header("accept").value_or(""), /*aggregated=*/false);
  if (!form) return call.RespondStatus(NothingAccepted());
  std::string text;
  EncodeObject(document, form->format, &text);
  call.Respond(200, form->content_type, {Bytes(std::move(text))});
}

void Router::RespondAggregated(Call& call, const DiscoveryDocuments::Aggregated& document) const {
  const std::optional<DiscoveryForm> form =
      NegotiateDiscovery(call.Header("accept").value_or(""), /*aggregated=*/true);
  call.AddHeader("etag", document.etag);
  call.AddHeader("vary", "Accept");
  if (call.Header("if-none-match") == document.etag) {
    return call.Respond(304, form->content_type, {});
  }
  if (form->format == Format::kJson) return call.Respond(200, form->content_type, {document.json});
  std::string text;
  EncodeObject(document.object, form->format, &text);
  call.Respond(200, form->content_type, {Bytes(std::move(text))});
}

bool Router::HandleDiscovery(Call& call) const {
  std::string_view path = call.info.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const bool core = path == "/api" || path.starts_with("/api/");
  const bool grouped = path == "/apis" || path.starts_with("/apis/");
  if (!core && !grouped) return false;
  const std::shared_ptr<const DiscoveryDocuments> documents = parts_.discovery.documents();
  if (path == "/api" || path == "/apis") {
    if (path == "/api" && !IsRead(call)) {
      call.RespondStatus(MethodNotAllowedError());
      return true;
    }
    const std::optional<DiscoveryForm> form =
        NegotiateDiscovery(call.Header("accept").value_or(""), /*aggregated=*/true);
    if (!form) {
      call.RespondStatus(NothingAccepted());
    } else if (form->aggregated) {
      RespondAggregated(
          call, path == "/api" ? documents->AggregatedCore() : documents->AggregatedGroups());
    } else if (path == "/api") {
      RespondDocument(call, documents->ApiVersions(parts_.server_address));
    } else {
      RespondDocument(call, documents->Groups());
    }
    return true;
  }
  std::vector<std::string_view> parts;
  for (std::string_view part : Split(path.substr(1), '/')) parts.push_back(part);
  const Object* document = nullptr;
  if (core && parts.size() == 2) document = documents->Resources("", parts[1]);
  if (grouped && parts.size() == 2) document = documents->Group(parts[1]);
  if (grouped && parts.size() == 3) document = documents->Resources(parts[1], parts[2]);
  if (parts.size() > (core ? 2u : 3u)) return false;
  if (document == nullptr) {
    const bool known = core || documents->Group(parts[1]) != nullptr;
    if (known) {
      call.RespondStatus(UnknownResourceError());
    } else {
      call.RespondText(404, "404 page not found\n");
    }
    return true;
  }
  if (!IsRead(call)) {
    call.RespondStatus(MethodNotAllowedError());
  } else {
    RespondDocument(call, *document);
  }
  return true;
}

}  // namespace cox::apiserver
