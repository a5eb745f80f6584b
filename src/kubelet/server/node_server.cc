// SPDX-License-Identifier: Apache-2.0
#include "kubelet/server/node_server.h"

#include <utility>

#include "object/codec/json/json.h"

namespace cox::kubelet {
namespace {

using To = Route::To;

constexpr size_t kWorkers = 16;
constexpr size_t kStreams = 1024;

bool IsLong(To to) {
  return to == To::kContainerLogs || to == To::kExec || to == To::kAttach ||
         to == To::kPortForward || to == To::kRun;
}

Result<net::CertificatePair> SelfSigned(const NodeServerOptions& options) {
  net::CertificateRequest request;
  request.common_name = options.node_name;
  request.dns_names = {options.node_name};
  request.ip_addresses = options.ips;
  return net::MakeCertificate(request, nullptr);
}

net::ServerOptions Limits(const NodeServerOptions& options) {
  net::ServerOptions limits;
  limits.bind_address = options.address;
  limits.port = options.port;
  limits.loops = 1;
  limits.max_body_bytes = size_t{1024} * 1024;
  limits.max_buffered_bytes = size_t{8} * 1024 * 1024;
  limits.max_header_bytes = size_t{256} * 1024;
  limits.max_connections = 4096;
  limits.max_half_open = 512;
  return limits;
}

net::Response MetricsResponse(std::string text) {
  return {.status = 200,
          .headers = {{"content-type", std::string(MetricsRegistry::kContentType)}},
          .body = {Bytes(std::move(text))}};
}

}  // namespace

NodeServer::NodeServer(Private /*unused*/, const Context& ctx, NodeServerOptions options,
                       Parts parts)
    : ctx_(ctx.Child()),
      options_(std::move(options)),
      parts_(parts),
      handlers_{parts.runtime,         parts.pods,
                options_.node_name,    options_.root_dir,
                options_.machine_root, options_.stream_idle_timeout},
      requests_(parts.metrics.AddCounterVec(
          {"kubelet_http_requests_total",
           "Number of the http requests received since the server started"},
          {"method", "path", "server_type", "long_running"})),
      inflight_(parts.metrics.AddGaugeVec(
          {"kubelet_http_inflight_requests", "Number of the inflight http requests"},
          {"method", "path", "server_type", "long_running"})),
      authorization_(options_.authorization, options_.node_name, parts.client),
      workers_(ctx_, {.name = "kubelet-server", .max_threads = kWorkers, .max_queue = 1024}),
      streams_(ctx_, {.name = "kubelet-stream", .max_threads = kStreams, .max_queue = 64}) {}

NodeServer::~NodeServer() {
  ctx_.Stop();
  if (server_ != nullptr) server_->Stop();
  workers_.Stop();
  streams_.Stop();
}

Result<std::unique_ptr<NodeServer>> NodeServer::Start(const Context& ctx, NodeServerOptions options,
                                                      Parts parts) {
  auto server = std::make_unique<NodeServer>(Private{}, ctx, std::move(options), parts);
  COX_ASSIGN_OR_RETURN(
      server->authentication_,
      Authentication::Create(server->ctx_, server->options_.authentication, parts.client));
  COX_RETURN_IF_ERROR(server->MakeTls());
  net::ServerOptions limits = Limits(server->options_);
  limits.tls = server->tls_;
  COX_ASSIGN_OR_RETURN(server->server_,
                       net::Server::Start(server->ctx_, std::move(limits),
                                          [raw = server.get()](net::ExchangePtr exchange) {
                                            raw->Handle(std::move(exchange));
                                          }));
  return server;
}

Status NodeServer::MakeTls() {
  net::ServerTls::Options tls;
  tls.min_version = options_.tls_min_version;
  tls.cipher_suites = options_.tls_cipher_suites;
  if (options_.tls_cert_file.empty()) {
    COX_ASSIGN_OR_RETURN(tls.certificate, SelfSigned(options_));
    COX_ASSIGN_OR_RETURN(tls_, net::ServerTls::Create(std::move(tls)));
    return {};
  }
  COX_ASSIGN_OR_RETURN(tls.certificate.certificate_pem, ReadBoundedFile(options_.tls_cert_file));
  COX_ASSIGN_OR_RETURN(tls.certificate.key_pem, ReadBoundedFile(options_.tls_private_key_file));
  COX_ASSIGN_OR_RETURN(tls_, net::ServerTls::Create(std::move(tls)));
  COX_ASSIGN_OR_RETURN(
      certificate_,
      Certificate::Open(ctx_,
                        {.name = "kubelet-serving",
                         .paths = {options_.tls_cert_file, options_.tls_private_key_file}},
                        [this](std::span<const std::string> texts) -> Result<Certificate::Ptr> {
                          COX_RETURN_IF_ERROR(tls_->Replace({texts[0], texts[1]}, {}));
                          return std::make_shared<const net::CertificatePair>(
                              net::CertificatePair{texts[0], texts[1]});
                        }));
  return {};
}

void NodeServer::Handle(net::ExchangePtr exchange) {
  const bool taken = workers_.Submit([this, exchange] { Serve(exchange); });
  if (!taken) exchange->Send(TextResponse(503, "too many requests\n"));
}

Status NodeServer::AuthenticateAndAuthorize(Context& ctx, const net::Request& request) {
  COX_ASSIGN_OR_RETURN(const User user, authentication_->Authenticate(ctx, request));
  return authorization_.Authorize(ctx, user, request.method, request.path());
}

void NodeServer::Serve(const net::ExchangePtr& exchange) {
  const net::Request& request = exchange->request();
  const Status allowed = AuthenticateAndAuthorize(exchange->context(), request);
  if (!allowed.ok()) return exchange->Send(ErrorResponse(allowed));
  const Result<Route> route = FindRoute(request.method, request.path());
  if (!route.ok()) return exchange->Send(ErrorResponse(route.status()));
  if (!options_.enable_debugging_handlers && IsDebugging(route->to)) {
    return exchange->Send(TextResponse(405, "Debug endpoints are disabled.\n"));
  }
  Dispatch({exchange, *route, Query(request.query())});
}

void NodeServer::Dispatch(NodeCall call) {
  const bool is_long = IsLong(call.route.to);
  const std::string method = call.exchange->request().method;
  const std::string_view lasts = is_long ? "true" : "false";
  requests_.With({method, call.route.name, "readwrite", lasts}).Inc();
  Gauge& inflight = inflight_.With({method, call.route.name, "readwrite", lasts});
  if (!is_long) {
    inflight.Inc();
    call.exchange->Send(Answer(call.exchange->context(), call));
    return inflight.Dec();
  }
  const net::ExchangePtr exchange = call.exchange;
  const bool taken = streams_.Submit([this, call = std::move(call), &inflight] {
    inflight.Inc();
    if (call.route.to == To::kContainerLogs) {
      ServeLogs(call.exchange->context(), handlers_, call);
    } else if (call.route.to == To::kRun) {
      call.exchange->Send(RunResponse(call.exchange->context(), handlers_, call));
    } else {
      // The stream outlives the HTTP request, so it does not use the request's context.
      Context ctx = ctx_.Child();
      ServeStream(ctx, handlers_, call);
    }
    inflight.Dec();
  });
  if (!taken) exchange->Send(TextResponse(503, "too many streams\n"));
}

net::Response NodeServer::Healthz() const {
  const Status ready = parts_.pods.Ready();
  if (ready.ok()) return TextResponse(200, "ok");
  return TextResponse(500, "[-]syncloop failed: " + ready.message() + "\nhealthz check failed\n");
}

net::Response NodeServer::UsageResponse(Context& ctx, To to) {
  const Result<Usage> usage = GatherUsage(ctx, handlers_);
  // This page reports an error as a sample.
  if (to == To::kResourceMetrics) return MetricsResponse(ResourceMetrics(usage));
  if (!usage.ok()) {
    return TextResponse(500, "cannot tell what is used: " + usage.status().message());
  }
  if (to == To::kStatsSummary) return JsonResponse(json::Write(StatsSummary(*usage)));
  return MetricsResponse(CadvisorMetrics(*usage));
}

net::Response NodeServer::Answer(Context& ctx, const NodeCall& call) {
  switch (call.route.to) {
    case To::kHealthz:
      return Healthz();
    case To::kPods:
      return PodsResponse(handlers_);
    case To::kRunningPods:
      return RunningPodsResponse(ctx, handlers_);
    case To::kStatsSummary:
    case To::kCadvisorMetrics:
    case To::kResourceMetrics:
      return UsageResponse(ctx, call.route.to);
    case To::kConfigz:
      return JsonResponse(json::Write(Value::MakeObject({{"kubeletconfig", options_.configz}})));
    case To::kMetrics:
    case To::kProbeMetrics:
      return MetricsResponse(parts_.metrics.Render());
    default:
      return TextResponse(404, "404 page not found");
  }
}

}  // namespace cox::kubelet
