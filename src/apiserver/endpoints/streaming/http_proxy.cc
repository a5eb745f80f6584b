// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/endpoints/streaming/html_links.h"
#include "apiserver/endpoints/streaming/piped_body.h"
#include "base/strings.h"

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

net::Headers ProxyResponseHeaders(const net::ClientStream& stream,
                                  const HtmlLinks::Rewrite& rewrite) {
  net::Headers headers = ResponseHeaders(stream.headers());
  if (const auto location = headers.Get("location")) headers.Set("location", rewrite(*location));
  return headers;
}

bool IsHtml(std::string_view content_type) {
  constexpr std::string_view kHtml = "text/html";
  const std::string_view type = TrimSpace(content_type.substr(0, content_type.find(';')));
  return std::equal(type.begin(), type.end(), kHtml.begin(), kHtml.end(),
                    [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a + 32 == b); });
}

// Reports whether the response is a whole HTML page whose links can be rewritten.
bool IsPage(const net::ClientStream& stream) {
  return IsHtml(stream.headers().Get("content-type").value_or("")) &&
         stream.headers().Get("content-encoding").value_or("identity") == "identity" &&
         stream.status() != 206;
}

// Copies the response to the client.
void CopyBody(Context& ctx, net::ClientStream& stream, HtmlLinks* links, PipedBody& body) {
  while (true) {
    Result<Bytes> piece = stream.Read(ctx);
    if (!piece.ok()) return;
    const bool is_last = piece->empty();
    if (links != nullptr) {
      *piece = Bytes(is_last ? links->Finish() : links->Write(piece->view()));
    }
    if (!piece->empty() && !body.Write(ctx, std::move(*piece)).ok()) return;
    if (is_last) return;
  }
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
  // The links of a compressed page could not be rewritten.
  if (call.Header("accept").value_or("").find("text/html") != std::string_view::npos) {
    request.headers.Remove("accept-encoding");
  }
  request.body = std::move(call.request().body);
  auto stream = (*client)->Start(ctx, std::move(request));
  if (stream.status().Is(Reason::kBadRequest)) return call.RespondStatus(stream.status());
  if (!stream.ok()) {
    return call.RespondStatus(
        Status::Unavailable("error trying to reach service: " + stream.status().message()));
  }
  const std::string behind = (backend.client.tls ? "https://" : "http://") +
                             JoinHostPort(backend.client.host, backend.client.port);
  const HtmlLinks::Rewrite rewrite = [&](std::string_view url) {
    return RewriteLocation(url, front, behind);
  };
  HtmlLinks links(rewrite);
  auto body = std::make_shared<PipedBody>();
  body->StopOnReaderClosed(ctx);
  body->set_waker(call.RespondStream((*stream)->status(), ProxyResponseHeaders(**stream, rewrite),
                                     body->MakeSource()));
  CopyBody(ctx, **stream, IsPage(**stream) ? &links : nullptr, *body);
  body->End();
}

}  // namespace cox::apiserver
