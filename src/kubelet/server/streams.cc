// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "base/strings.h"
#include "kubelet/server/handlers.h"
#include "net/byte_stream.h"
#include "net/client.h"
#include "net/url.h"

namespace cox::kubelet {
namespace {

using To = Route::To;

// Request headers that are forwarded to the runtime's streaming server.
constexpr std::string_view kPassedOn[] = {"upgrade",
                                          "connection",
                                          "x-stream-protocol-version",
                                          "sec-websocket-key",
                                          "sec-websocket-version",
                                          "sec-websocket-protocol",
                                          "sec-websocket-extensions",
                                          "origin"};
// Longer than the pause between the two halves of a client's close.
constexpr std::chrono::minutes kLinger{5};

bool IsRequested(const Query& query, std::string_view node_name, std::string_view api_name) {
  return query.GetBool(node_name) || query.GetBool(api_name);
}

Result<runtime::StreamOptions> StreamsOf(const Query& query) {
  runtime::StreamOptions streams{.in = IsRequested(query, "input", "stdin"),
                                 .out = IsRequested(query, "output", "stdout"),
                                 .err = IsRequested(query, "error", "stderr"),
                                 .tty = query.GetBool("tty")};
  if (!streams.in && !streams.out && !streams.err) {
    return Status::BadRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  // With a TTY, stderr is part of stdout.
  if (streams.tty) streams.err = false;
  return streams;
}

Result<std::vector<int32_t>> PortsOf(const Query& query) {
  std::vector<int32_t> ports;
  for (const std::string& value : query.All("port")) {
    for (const std::string_view text : Split(value, ',')) {
      int32_t port = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
      if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
        return Status::BadRequest("unable to parse " + Quote(text) + " as a port");
      }
      ports.push_back(port);
    }
  }
  return ports;
}

// The URL of the stream in the runtime's streaming server.
Result<std::string> UrlOf(Context& ctx, const HandlerParts& parts, const NodeCall& call) {
  const Route& route = call.route;
  if (route.to == To::kPortForward) {
    COX_ASSIGN_OR_RETURN(const auto ports, PortsOf(call.query));
    COX_ASSIGN_OR_RETURN(const std::string sandbox,
                         parts.pods.SandboxOf(ctx, route.pod, route.uid));
    return parts.runtime.PortForwardUrl(ctx, sandbox, ports);
  }
  COX_ASSIGN_OR_RETURN(const runtime::StreamOptions streams, StreamsOf(call.query));
  const std::vector<std::string> command = call.query.All("command");
  if (route.to == To::kExec && command.empty()) {
    return Status::BadRequest("you must specify a command");
  }
  COX_ASSIGN_OR_RETURN(const ContainerRef container,
                       parts.pods.FindContainer(ctx, route.pod, route.uid, route.container));
  if (!container.running) {
    return Status::NotFound("container not found (" + Quote(route.container) + ")");
  }
  return route.to == To::kExec ? parts.runtime.ExecUrl(ctx, container.id, command, streams)
                               : parts.runtime.AttachUrl(ctx, container.id, streams);
}

net::Request RequestFor(const net::Request& from, const net::Url& url) {
  net::Request to;
  to.method = from.method;
  to.target = url.path.empty() ? "/" : url.path;
  for (const std::string_view name : kPassedOn) {
    for (const std::string_view value : from.headers.All(name)) {
      to.headers.Add(std::string(name), std::string(value));
    }
  }
  return to;
}

Result<net::Upgraded> Connect(Context& ctx, const HandlerParts& parts, const NodeCall& call) {
  const net::Request& request = call.exchange->request();
  if (net::UpgradeOf(request).empty()) return Status::BadRequest("Upgrade request required");
  COX_ASSIGN_OR_RETURN(const std::string text, UrlOf(ctx, parts, call));
  COX_ASSIGN_OR_RETURN(const net::Url url, net::ParseUrl(text));
  net::ClientOptions options;
  options.host = url.host;
  options.tls = url.scheme == "https";
  options.port = url.port != 0 ? url.port : (options.tls ? 443 : 80);
  options.tls_options.insecure = true;  // the runtime's loopback certificate is self-signed
  options.http2 = false;
  return net::ConnectUpgrade(ctx, std::move(options), RequestFor(request, url));
}

net::Headers ResponseHeaders(const net::Headers& from) {
  net::Headers to;
  for (const auto& [name, value] : from) {
    if (name != "connection" && name != "date" && name != "content-length") to.Add(name, value);
  }
  return to;
}

}  // namespace

void ServeStream(Context& ctx, const HandlerParts& parts, const NodeCall& call) {
  net::Exchange& exchange = *call.exchange;
  // Uses the request's context, so that a client disconnect before the upgrade cancels the connect.
  Result<net::Upgraded> runtime = Connect(exchange.context(), parts, call);
  if (!runtime.ok()) return exchange.Send(ErrorResponse(runtime.status()));
  if (runtime->stream == nullptr) {
    net::Response& answer = runtime->answer;
    if (answer.status >= 400) {
      return exchange.Send({.status = answer.status,
                            .headers = {{"content-type", "text/plain; charset=utf-8"}},
                            .body = std::move(answer.body)});
    }
    return exchange.Send(TextResponse(502, "the container runtime did not agree to the upgrade"));
  }
  const auto client = exchange.SwitchProtocols(ResponseHeaders(runtime->answer.headers));
  if (!client.ok()) return exchange.Send(ErrorResponse(client.status()));
  const Status ended = net::Pipe(ctx, **client, *runtime->stream,
                                 {.linger = kLinger, .idle = parts.stream_idle_timeout});
  COX_V(ctx.log(), 4, "Stream closed", {"endpoint", call.route.name},
        {"pod", call.route.pod.ToString()},
        {"how", ended.ok() ? "both sides have closed it" : ended.message()});
}

}  // namespace cox::kubelet
