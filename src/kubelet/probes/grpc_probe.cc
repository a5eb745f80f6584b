// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "kubelet/probes/probe.h"
#include "net/fetch.h"

namespace cox::kubelet {

namespace {

constexpr int kServing = 1;  // HealthCheckResponse.ServingStatus

// HealthCheckRequest{service} in a gRPC frame: flag (uncompressed), length, message.
std::string MakeBody(const std::string& service) {
  std::string message;
  if (!service.empty()) {
    message += '\x0a';  // field 1, bytes
    size_t n = service.size();
    while (n >= 0x80) {
      message += static_cast<char>(n | 0x80);
      n >>= 7;
    }
    message += static_cast<char>(n);
    message += service;
  }
  std::string frame(5, '\0');
  for (int i = 0; i < 4; ++i) frame[4 - i] = static_cast<char>(message.size() >> (8 * i));
  return frame + message;
}

// The status in a frame with a HealthCheckResponse; -1 if it is malformed. Absent means 0: UNKNOWN.
int ParseStatus(std::string_view frame) {
  if (frame.size() < 5 || frame[0] != '\0') return -1;
  frame.remove_prefix(5);
  if (frame.empty()) return 0;
  if (frame.size() < 2 || frame[0] != '\x08') return -1;  // field 1, varint
  return static_cast<unsigned char>(frame[1]);
}

std::string StatusName(int status) {
  static const char* const kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  return status >= 0 && status < 4 ? kNames[status] : "malformed";
}

ProbeReply ReplyOf(const std::string& server, const Result<net::Fetched>& response) {
  if (!response.ok()) {
    return ProbeReply::Failure("timeout: failed to connect service " + server + ": " +
                               response.status().message());
  }
  if (response->status != 200) {
    return ProbeReply::Failure("error: health rpc failed with HTTP status " +
                               std::to_string(response->status));
  }
  // An error without a message is sent in the headers (Trailers-Only).
  if (const auto status = response->headers.Get("grpc-status"); status && *status != "0") {
    if (*status == "12") {
      return ProbeReply::Failure(
          "error: this server does not implement the grpc health protocol (grpc.health.v1.Health)");
    }
    return ProbeReply::Failure("error: health rpc failed with code " + std::string(*status));
  }
  const int status = ParseStatus(response->body);
  if (status == kServing) return ProbeReply::Success("service is healthy");
  return ProbeReply::Failure("service unhealthy (responded with \"" + StatusName(status) + "\")");
}

}  // namespace

void Prober::CheckGrpc(const Context& ctx, const ProbeTarget& target, Done done) {
  const core::v1::GRPCAction& action = *target.handler.grpc;
  if (action.port < 1 || action.port > 65535) {
    return done(ProbeReply::Error("invalid port " + std::to_string(action.port)));
  }
  if (!loop_.ok()) return done(ProbeReply::Error(loop_.status().message()));
  net::ClientOptions options;
  options.host = target.pod_ip;
  options.port = static_cast<uint16_t>(action.port);
  options.tls = false;
  options.loop = *loop_;
  options.max_response_bytes = kMaxProbeOutput;
  net::Request request;
  request.method = "POST";
  request.target = "/grpc.health.v1.Health/Check";
  request.headers = {{"content-type", "application/grpc"},
                     {"te", "trailers"},
                     {"user-agent", std::string(kProbeUserAgent)}};
  request.body = MakeBody(action.service.value_or(""));
  const std::string server = target.pod_ip + ":" + std::to_string(action.port);
  net::Fetch(ctx, std::move(options), std::move(request),
             [server, done = std::move(done), pending = pending_.Begin()](
                 const Result<net::Fetched>& response) { done(ReplyOf(server, response)); });
}

}  // namespace cox::kubelet
