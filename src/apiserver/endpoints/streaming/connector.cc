// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/connector.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apiserver/endpoints/streaming/piped_body.h"
#include "apiserver/endpoints/streaming/proxy_targets.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "base/strings.h"
#include "net/local_address.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kTunnel = "SPDY/3.1+portforward.k8s.io";
constexpr std::string_view kPortForward = "portforward.k8s.io";
constexpr std::string_view kChannelV4 = "v4.channel.k8s.io";
constexpr std::string_view kChannelV5 = "v5.channel.k8s.io";
constexpr std::string_view kBinaryMessages = "binary.k8s.io";
constexpr std::chrono::seconds kLogCloseTimeout{5};
// The maximum size of a kubelet's error text.
constexpr size_t kMaxWords = 50'000;

bool Offers(const net::Request& request, std::string_view wanted) {
  for (const std::string_view line : request.headers.All("sec-websocket-protocol")) {
    for (const std::string_view protocol : Split(line, ',')) {
      if (TrimSpace(protocol) == wanted) return true;
    }
  }
  return false;
}

// An error on the connection to the backend, without an API reason: 500, with Go's text.
Status Unreached(std::string_view what, const Status& why) {
  if (why.Is(Reason::kBadRequest)) return why;  // the address is not allowed
  return Status(Reason::kUnknown, std::string(what) + why.message());
}

std::string TextOf(const net::Response& response) {
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  return text;
}

// The API reason and message for a status code of another server.
std::pair<Reason, std::string> GenericResponse(int code, const std::string& words) {
  switch (code) {
    case 401:
      return {Reason::kUnauthorized, "the server has asked for the client to provide credentials"};
    case 403:
      return {Reason::kForbidden, words};
    case 404:
      return {Reason::kNotFound, "the server could not find the requested resource"};
    case 429:
      return {Reason::kTooManyRequests,
              "the server has received too many requests and has asked us to try again later"};
    case 503:
      return {Reason::kServiceUnavailable, "the server is currently unable to handle the request"};
    case 504:
      return {Reason::kTimeout,
              "the server was unable to return a response in the time allotted, but may still be "
              "processing the request"};
    default:
      if (code > 500) {
        return {Reason::kInternalError, "an error on the server (" + Quote(words) +
                                            ") has prevented the request from succeeding"};
      }
      return {Reason::kUnknown, "the server responded with the status code " +
                                    std::to_string(code) + " but did not return more information"};
  }
}

// Converts the kubelet's error response for a log to an API error.
Status LogRejection(int code, const std::string& words, const std::string& pod) {
  if (code == 400) return Status::BadRequest(words);
  if (code == 500) {
    return Status(Reason::kInternalError, "Internal error occurred: " + words,
                  StatusDetails{.causes = {{"", words, ""}}});
  }
  auto [reason, message] = GenericResponse(code, words);
  return Status(
      reason, message + " ( pods/log " + pod + ")",
      StatusDetails{
          .name = pod, .kind = "pods/log", .causes = {{"UnexpectedServerResponse", words, ""}}});
}

// Reads an error text of at most kMaxWords bytes.
std::string ReadWords(Context& ctx, net::ClientStream& stream) {
  std::string words;
  while (words.size() < kMaxWords) {
    const Result<Bytes> piece = stream.Read(ctx);
    if (!piece.ok() || piece->empty()) break;
    words.append(piece->view().substr(0, kMaxWords - words.size()));
  }
  return words;
}

}  // namespace

bool IsTunnelRequest(const net::Request& request) {
  return net::IsWebSocketRequest(request) && Offers(request, kTunnel);
}

bool IsStreamCloseRequest(const net::Request& request) {
  return net::IsWebSocketRequest(request) && Offers(request, kChannelV5);
}

bool OwnEndpoints::Contain(const std::string& ip, uint16_t at) const {
  if (port != nullptr && at == port() && net::IsLocalAddress(ip)) return true;
  const std::optional<validation::IpAddress> address = validation::ParseIpSloppy(ip);
  return address &&
         std::any_of(service_ranges.begin(), service_ranges.end(),
                     [&](const validation::Cidr& range) { return range.Contains(*address); });
}

void NodeConnector::Stop() {
  scope_.Stop();
  scope_.Wait();
}

net::AddressFilter NodeConnector::KubeletAddresses() const {
  return [this](const std::string& ip, uint16_t port) { return !own_.Contain(ip, port); };
}

net::AddressFilter NodeConnector::ProxyAddresses() const {
  return [this](const std::string& ip, uint16_t port) {
    return (kubelets_.proxyable != nullptr ? kubelets_.proxyable(ip) : IsProxyable(ip)) &&
           !own_.Contain(ip, port);
  };
}

Status NodeConnector::AuthorizeUpgrade(const Call& call) const {
  if (call.info.verb == "create") return {};
  RequestInfo info = call.info;
  info.verb = "create";
  return StatusOf(authorizer_.Authorize(call.user, info), call.user, info);
}

Status NodeConnector::Go(Call& call, Work work) {
  if (running_.fetch_add(1) >= kMaxStreams) {
    running_.fetch_sub(1);
    return Status(Reason::kTooManyRequests, "too many streams, please try again later",
                  StatusDetails{.retry_after_seconds = 1});
  }
  // Release the seat of API Priority and Fairness: streams do not occupy one.
  static_cast<void>(call.TakeHeld());
  Status started = scope_.Go(
      "connect", [this, kept = call.shared_from_this(), work = std::move(work)](Context& ctx) {
        // The work also stops when the client disconnects.
        Context both = ctx.Child();
        const StopHandle on_stop = kept->ctx().OnStop([both]() mutable { both.Stop(); });
        work(both, *kept);
        running_.fetch_sub(1);
      });
  if (!started.ok()) running_.fetch_sub(1);
  return started;
}

Status NodeConnector::Log(Call& call, Backend backend) {
  return Go(call, [backend = std::move(backend)](Context& ctx, Call& kept) {
    RunLog(ctx, kept, backend);
  });
}

Status NodeConnector::Upgrade(Call& call, Backend backend) {
  if (net::UpgradeOf(call.request()).empty()) return Status::BadRequest("Upgrade request required");
  return Go(call, [backend = std::move(backend)](Context& ctx, Call& kept) {
    RunUpgrade(ctx, kept, backend);
  });
}

Status NodeConnector::Tunnel(Call& call, Backend backend) {
  return Go(call, [backend = std::move(backend)](Context& ctx, Call& kept) {
    RunTunnel(ctx, kept, backend);
  });
}

Status NodeConnector::Translate(Call& call, Backend backend, const StreamOptions& options) {
  return Go(call, [backend = std::move(backend), options](Context& ctx, Call& kept) {
    RunTranslated(ctx, kept, backend, options);
  });
}

Status NodeConnector::Proxy(Call& call, Backend backend, ProxyFront front) {
  return Go(call, [backend = std::move(backend), front = std::move(front)](
                      Context& ctx, Call& kept) { RunProxy(ctx, kept, backend, front); });
}

namespace {

// Sends a log as binary messages of a WebSocket.
void SendLogMessages(Context& ctx, Call& call, net::ClientStream& log) {
  std::vector<std::string> protocols;
  if (call.Header("sec-websocket-protocol")) protocols.emplace_back(kBinaryMessages);
  auto client = call.Upgrade(protocols, {});
  if (!client.ok()) return call.RespondStatus(client.status());
  Scope scope(ctx, "log");
  // Messages of the client have no meaning, but a client that disconnects ends the stream.
  const Status started = scope.Go("log-socket", [&](Context& work) {
    while (true) {
      Result<std::optional<Bytes>> message = (*client)->Receive(work);
      if (!message.ok() || !message->has_value()) break;
    }
    scope.Stop();
  });
  if (!started.ok()) return;
  Context work = scope.context();
  // Like upstream, begin with an empty message, which confirms an empty log.
  Status sent = (*client)->Send(work, "");
  while (sent.ok()) {
    Result<Bytes> piece = log.Read(work);
    if (!piece.ok() || piece->empty()) break;
    sent = (*client)->Send(work, piece->view());
  }
  Context closing = ctx.WithTimeout(kLogCloseTimeout);
  static_cast<void>((*client)->Close(closing));
  scope.Stop();
  scope.Wait();
}

}  // namespace

void RunLog(Context& ctx, Call& call, const Backend& backend) {
  auto client = net::Client::Create(ctx, backend.client);
  if (!client.ok()) return call.RespondStatus(Unreached("", client.status()));
  auto stream = (*client)->Start(ctx, {.method = "GET", .target = backend.target});
  if (!stream.ok()) {
    return call.RespondStatus(Unreached("Get " + Quote(backend.Url()) + ": ", stream.status()));
  }
  if ((*stream)->status() < 200 || (*stream)->status() > 206) {
    return call.RespondStatus(
        LogRejection((*stream)->status(), ReadWords(ctx, **stream), call.info.name));
  }
  if (net::IsWebSocketRequest(call.request())) return SendLogMessages(ctx, call, **stream);
  auto body = std::make_shared<PipedBody>();
  body->StopOnReaderClosed(ctx);
  body->set_waker(call.RespondStream("text/plain", body->MakeSource()));
  while (true) {
    Result<Bytes> piece = (*stream)->Read(ctx);
    if (!piece.ok() || piece->empty() || !body->Write(ctx, std::move(*piece)).ok()) break;
  }
  body->End();
}

net::Request UpgradeRequest(const Call& call, const Backend& backend) {
  net::Request request{.method = call.request().method, .target = backend.target};
  request.headers = ForwardedHeaders(call.request());
  request.headers.Set("upgrade", std::string(net::UpgradeOf(call.request())));
  return request;
}

std::unique_ptr<net::ByteStream> DialUpgrade(Context& ctx, Call& call, const Backend& backend,
                                             net::Request request, net::Headers* answer) {
  Result<net::Upgraded> upgraded = net::ConnectUpgrade(ctx, backend.client, std::move(request));
  if (!upgraded.ok()) {
    call.RespondStatus(Unreached("error dialing backend: ", upgraded.status()));
    return nullptr;
  }
  if (upgraded->stream == nullptr && upgraded->answer.status < 400) {
    // In particular, a redirect must not be forwarded: the client would follow it with its
    // credentials (CVE-2020-8559).
    call.RespondStatus(Status(Reason::kUnknown, "invalid upgrade response: status code " +
                                                    std::to_string(upgraded->answer.status)));
    return nullptr;
  }
  if (upgraded->stream == nullptr) {
    upgraded->answer.headers = ResponseHeaders(upgraded->answer.headers);
    call.RespondWith(std::move(upgraded->answer));
    return nullptr;
  }
  *answer = std::move(upgraded->answer.headers);
  return std::move(upgraded->stream);
}

void RunUpgrade(Context& ctx, Call& call, const Backend& backend) {
  net::Headers answer;
  auto node = DialUpgrade(ctx, call, backend, UpgradeRequest(call, backend), &answer);
  if (node == nullptr) return;
  auto client = call.SwitchProtocols(std::move(answer));
  if (!client.ok()) return call.RespondStatus(client.status());
  static_cast<void>(net::Pipe(ctx, **client, *node));
}

void RunTunnel(Context& ctx, Call& call, const Backend& backend) {
  net::Request request = UpgradeRequest(call, backend);
  for (const char* name : {"sec-websocket-protocol", "sec-websocket-key", "sec-websocket-version",
                           "sec-websocket-extensions"}) {
    request.headers.Remove(name);
  }
  request.headers.Set("upgrade", "SPDY/3.1");
  request.headers.Set("x-stream-protocol-version", std::string(kPortForward));
  net::Headers answer;
  auto node = DialUpgrade(ctx, call, backend, std::move(request), &answer);
  if (node == nullptr) return;
  auto client = call.Upgrade({std::string(kTunnel)}, {});
  if (!client.ok()) return call.RespondStatus(client.status());
  static_cast<void>(TunnelBytes(ctx, **client, *node));
}

void RunTranslated(Context& ctx, Call& call, const Backend& backend, const StreamOptions& options) {
  // Upgrade the client first: v5 has an error channel for errors of the node's connection.
  auto client = call.Upgrade({std::string(kChannelV5)}, {});
  if (!client.ok()) return call.RespondStatus(client.status());
  net::Request request{.method = "POST", .target = backend.target};
  request.headers.Set("upgrade", "SPDY/3.1");
  request.headers.Set("x-stream-protocol-version", std::string(kChannelV4));
  Result<net::Upgraded> node = net::ConnectUpgrade(ctx, backend.client, std::move(request));
  if (!node.ok()) {
    return SendFailure(ctx, **client,
                       Status::Internal("Internal error occurred: error dialing backend: " +
                                        node.status().message()));
  }
  if (node->stream == nullptr) {
    return SendFailure(ctx, **client,
                       Status::Internal("Internal error occurred: unable to upgrade connection: " +
                                        TextOf(node->answer)));
  }
  if (const Status status = TranslateStreams(ctx, **client, *node->stream, options); !status.ok()) {
    SendFailure(ctx, **client, Status::Internal("Internal error occurred: " + status.message()));
  }
}

}  // namespace cox::apiserver
