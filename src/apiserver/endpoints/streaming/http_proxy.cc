// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/endpoints/streaming/piped_body.h"

namespace cox::apiserver {
namespace {

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

// Redirects to the root path with a trailing slash; without it, relative links of the page would
// not work.
bool RedirectToRoot(Call& call, const Backend& backend) {
  const std::string& method = call.request().method;
  if (!PathOf(backend.target).empty() || (method != "GET" && method != "HEAD")) return false;
  const std::string_view query = call.request().query();
  std::string location = std::string(call.request().path()) + "/";
  if (!query.empty()) location.append("?").append(query);
  net::Response response{.status = 301};
  response.headers.Add("location", std::move(location));
  call.RespondWith(std::move(response));
  return true;
}

net::Headers ProxyResponseHeaders(const net::ClientStream& stream, const Backend& backend,
                                  const ProxyFront& front) {
  net::Headers headers = ResponseHeaders(stream.headers());
  if (const auto location = headers.Get("location")) {
    const std::string behind = (backend.client.tls ? "https://" : "http://") +
                               JoinHostPort(backend.client.host, backend.client.port);
    headers.Set("location", RewriteLocation(*location, front, behind));
  }
  return headers;
}

}  // namespace

void RunProxy(Context& ctx, Call& call, const Backend& to, const ProxyFront& front) {
  const bool upgrade = !net::UpgradeOf(call.request()).empty();
  if (!upgrade && RedirectToRoot(call, to)) return;
  Backend backend = to;
  if (!backend.target.starts_with('/')) backend.target.insert(0, "/");
  if (upgrade) return RunUpgrade(ctx, call, backend);
  auto client = net::Client::Create(ctx, backend.client);
  if (!client.ok()) return call.RespondStatus(client.status());
  net::Request request{.method = call.request().method, .target = backend.target};
  request.headers = ForwardedHeaders(call.request());
  AddFrontHeaders(front, PathOf(backend.target), &request.headers);
  request.body = std::move(call.request().body);
  auto stream = (*client)->Start(ctx, std::move(request));
  if (stream.status().Is(Reason::kBadRequest)) return call.RespondStatus(stream.status());
  if (!stream.ok()) {
    return call.RespondStatus(
        Status::Unavailable("error trying to reach service: " + stream.status().message()));
  }
  auto body = std::make_shared<PipedBody>();
  body->StopOnReaderClosed(ctx);
  body->set_waker(call.RespondStream(
      (*stream)->status(), ProxyResponseHeaders(**stream, backend, front), body->MakeSource()));
  while (true) {
    Result<Bytes> piece = (*stream)->Read(ctx);
    if (!piece.ok() || piece->empty() || !body->Write(ctx, std::move(*piece)).ok()) break;
  }
  body->End();
}

}  // namespace cox::apiserver
