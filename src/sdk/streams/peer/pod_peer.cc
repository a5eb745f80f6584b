// SPDX-License-Identifier: Apache-2.0
#include "sdk/streams/peer/pod_peer.h"

#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "sdk/streams/channels.h"

namespace cox::sdk {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string Decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool hex = text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
                     HexDigit(text[i + 2]) >= 0;
    if (hex) {
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

void SendJson(net::Exchange& exchange, int status, std::string body) {
  net::Response response;
  response.status = status;
  response.headers.Add("content-type", "application/json");
  response.body.push_back(Bytes(std::move(body)));
  exchange.Send(std::move(response));
}

void SendFailure(net::Exchange& exchange, int code, std::string_view reason,
                 std::string_view message) {
  SendJson(exchange, code,
           R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)" +
               Quote(message) + R"(,"reason":")" + std::string(reason) + R"(","code":)" +
               std::to_string(code) + "}");
}

std::string PodJson(std::string_view ns, std::string_view name) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + std::string(name) +
         R"(","namespace":")" + std::string(ns) +
         R"(","uid":"6f0c6b1e-0000-4000-8000-000000000001","resourceVersion":"1"},)"
         R"("spec":{"nodeName":"node-1","containers":[{"name":"main","image":"scripted","stdin":true,)"
         R"("ports":[{"containerPort":7,"protocol":"TCP"}]}]},)"
         R"("status":{"phase":"Running","podIP":"10.0.0.7","conditions":[{"type":"Ready",)"
         R"("status":"True"}],"containerStatuses":[{"name":"main","ready":true,"restartCount":0,)"
         R"("image":"scripted","imageID":"","state":{"running":{}}}]}})";
}

constexpr std::string_view kApi = R"({"kind":"APIVersions","versions":["v1"],)"
                                  R"("serverAddressByClientCIDRs":[]})";
constexpr std::string_view kApis = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})";
constexpr std::string_view kVersion =
    R"({"major":"1","minor":"36","gitVersion":"v1.36.0","platform":"linux/amd64"})";
constexpr std::string_view kResources =
    R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[)"
    R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","shortNames":["po"],)"
    R"("verbs":["get","list"]}]})";

// /api/v1/namespaces/NS/pods/NAME[/SUBRESOURCE]
struct PodPath {
  std::string ns;
  std::string name;
  std::string subresource;
};
std::optional<PodPath> ParsePath(std::string_view path) {
  const std::vector<std::string> parts = Split(path, '/').ToStrings();
  if (parts.size() < 7 || parts.size() > 8 || parts[1] != "api" || parts[2] != "v1" ||
      parts[3] != "namespaces" || parts[5] != "pods") {
    return std::nullopt;
  }
  return PodPath{parts[4], parts[6], parts.size() == 8 ? parts[7] : ""};
}

std::optional<size_t> NumberOf(const net::Request& request, std::string_view name) {
  const std::vector<std::string> values = QueryValues(request, name);
  if (values.empty()) return std::nullopt;
  size_t number = 0;
  std::from_chars(values[0].data(), values[0].data() + values[0].size(), number);
  return number;
}

bool FlagOf(const net::Request& request, std::string_view name) {
  const std::vector<std::string> values = QueryValues(request, name);
  return !values.empty() && (values[0] == "true" || values[0] == "1");
}

}  // namespace

std::vector<std::string> QueryValues(const net::Request& request, std::string_view name) {
  std::vector<std::string> values;
  for (const std::string_view pair : Split(request.query(), '&')) {
    const CutResult cut = Cut(pair, '=');
    if (cut.before == name) values.push_back(Decoded(cut.after));
  }
  return values;
}

PodPeer::PodPeer(const Context& ctx, Options options)
    : options_(std::move(options)), scope_(ctx, "pod-peer") {
  net::ServerOptions server = options_.server;
  server.bind_address = "127.0.0.1";
  auto started = net::Server::Start(ctx, std::move(server), handler());
  COX_CHECK_OK(started.status());
  server_ = *std::move(started);
}

PodPeer::~PodPeer() {
  scope_.Stop();
  server_->Stop();
  scope_.Wait();
}

std::vector<std::string> PodPeer::targets() const {
  MutexLock lock(mu_);
  return targets_;
}

bool PodPeer::RespondWithObject(net::Exchange& exchange) {
  const std::string path(exchange.request().path());
  const std::pair<std::string_view, std::string_view> fixed[] = {
      {"/api", kApi}, {"/apis", kApis}, {"/api/v1", kResources}, {"/version", kVersion}};
  for (const auto& [where, what] : fixed) {
    if (path != where) continue;
    SendJson(exchange, 200, std::string(what));
    return true;
  }
  const auto pod = ParsePath(path);
  if (!pod) {
    SendFailure(exchange, 404, "NotFound", "the server could not find the requested resource");
  } else if (pod->name == "missing") {
    SendFailure(exchange, 404, "NotFound", "pods \"missing\" not found");
  } else if (pod->subresource.empty()) {
    SendJson(exchange, 200, PodJson(pod->ns, pod->name));
  } else {
    return false;
  }
  return true;
}

void PodPeer::Handle(net::ExchangePtr exchange) {
  {
    MutexLock lock(mu_);
    targets_.push_back(exchange->request().target);
  }
  if (RespondWithObject(*exchange)) return;
  const PodPath pod = *ParsePath(exchange->request().path());
  const std::vector<std::string> containers = QueryValues(exchange->request(), "container");
  if (!containers.empty() && containers[0] != "main") {
    return SendFailure(*exchange, 400, "BadRequest",
                       "container " + containers[0] + " is not valid for pod " + pod.name);
  }
  if (pod.subresource == "log") return ServeLog(*exchange);
  // The following handlers block.
  const Status started = scope_.Go(pod.subresource, [this, exchange, pod](Context&) {
    if (pod.subresource == "exec" || pod.subresource == "attach") {
      return ServeProcess(exchange, pod.subresource == "attach");
    }
    if (pod.subresource == "portforward") return ServePort(exchange);
    SendFailure(*exchange, 404, "NotFound", "the server could not find the requested resource");
  });
  if (!started.ok()) SendFailure(*exchange, 503, "ServiceUnavailable", "stopping");
}

void PodPeer::ServeLog(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  auto source = log_->Read({.follow = FlagOf(request, "follow"),
                            .timestamps = FlagOf(request, "timestamps"),
                            .tail_lines = NumberOf(request, "tailLines"),
                            .limit_bytes = NumberOf(request, "limitBytes")});
  log_->AddWaker(exchange.Stream(200, {{"content-type", "text/plain"}}, std::move(source)));
}

void PodPeer::ServeProcess(const net::ExchangePtr& exchange, bool attach) {
  std::vector<std::string> protocols = {std::string(kChannelV4)};
  if (options_.v5) protocols.emplace_back(kChannelV5);
  auto socket = exchange->Upgrade(protocols, {});
  if (!socket.ok()) {
    return SendFailure(*exchange, 400, "BadRequest", socket.status().message());
  }
  RunProcess(exchange->context(), **socket, exchange->request(), attach, &flooded_);
}

void PodPeer::ServePort(const net::ExchangePtr& exchange) {
  const std::optional<size_t> port = NumberOf(exchange->request(), "ports");
  if (!port || *port == 0 || *port > 65'535) {
    return SendFailure(*exchange, 400, "BadRequest", "query parameter \"port\" is required");
  }
  auto socket = exchange->Upgrade({std::string(kChannelV4)}, {});
  if (!socket.ok()) {
    return SendFailure(*exchange, 400, "BadRequest", socket.status().message());
  }
  RunPort(exchange->context(), **socket, static_cast<uint16_t>(*port));
}

}  // namespace cox::sdk
