// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "apiserver/server.h"
#include "base/log.h"
#include "base/process_metrics.h"
#include "cmd/commands.h"
#include "storage/memory/memory_store.h"

namespace cox::cmd {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::NotFound("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, std::string> ParseFlags(std::span<char* const> arguments) {
  std::map<std::string, std::string> flags;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view text = arguments[i];
    if (!text.starts_with("--")) continue;
    text.remove_prefix(2);
    const size_t equals = text.find('=');
    if (equals != text.npos) {
      flags[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    } else if (i + 1 < arguments.size() && arguments[i + 1][0] != '-') {
      flags[std::string(text)] = arguments[++i];
    } else {
      flags[std::string(text)] = "true";
    }
  }
  return flags;
}

}  // namespace

int RunApiServer(std::span<char* const> arguments) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  std::map<std::string, std::string> flags = ParseFlags(arguments);
  RealClock clock;
  FdLogSink sink(2);
  Logging logging(clock, LogFormat::kText, sink);
  Context ctx(clock, logging.For("apiserver"));
  MetricsRegistry metrics;
  std::unique_ptr<storage::Store> store = storage::NewMemoryStore(clock);

  apiserver::ServerOptions options;
  options.listen.port = static_cast<uint16_t>(std::atoi(flags["secure-port"].c_str()));
  options.listen.bind_address = flags.contains("bind-address") ? flags["bind-address"] : "0.0.0.0";
  if (flags.contains("token-auth-file")) {
    Result<std::string> text = ReadFile(flags["token-auth-file"]);
    if (!text.ok()) {
      std::fprintf(stderr, "error: %s\n", text.status().message().c_str());
      return 1;
    }
    options.token_csv = *text;
  }
  Result<net::CertificatePair> certificate = net::MakeCertificate(
      {.common_name = "kube-apiserver",
       .organizations = {},
       .dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
       .ip_addresses = {"127.0.0.1"}},
      nullptr);
  if (!certificate.ok()) return 1;
  Result<std::shared_ptr<const net::ServerTls>> tls =
      net::ServerTls::Create({.certificate = *certificate});
  if (!tls.ok()) return 1;
  options.listen.tls = *tls;
  Result<std::unique_ptr<apiserver::ApiServer>> server = apiserver::ApiServer::Start(
      ctx, options,
      [&](std::string_view, std::string_view) -> storage::Store& { return *store; }, metrics);
  if (!server.ok()) {
    std::fprintf(stderr, "error: %s\n", server.status().message().c_str());
    return 1;
  }
  COX_INFO(ctx.log(), "Serving", {"port", (*server)->port()});
  int signal = 0;
  sigwait(&signals, &signal);
  Context limit = ctx.WithTimeout(std::chrono::seconds(10));
  (void)(*server)->Drain(limit);
  server->reset();
  ctx.Stop();
  return 0;
}

}  // namespace cox::cmd
