// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server.h"

#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/log.h"
#include "base/process_metrics.h"
#include "cmd/apiserver/encryption.h"
#include "cmd/apiserver/flag_table.h"
#include "cmd/apiserver/keys.h"
#include "cmd/apiserver/options.h"
#include "cmd/apiserver/stores.h"
#include "cmd/commands.h"

namespace cox::cmd {
namespace {

Status Run(const Flags& flags, const sigset_t& signals) {
  RealClock clock;
  FdLogSink sink(STDERR_FILENO);
  Logging logging(
      clock, flags.Get("logging-format") == "json" ? LogFormat::kJson : LogFormat::kText, sink);
  COX_ASSIGN_OR_RETURN(const int64_t level, flags.GetInt("v", 0, 10));
  logging.SetDefaultLevel(static_cast<int>(level));
  Context ctx(clock, logging.For("apiserver"));
  MetricsRegistry metrics;
  const std::vector<MetricHandle> process_metrics = AddProcessMetrics(metrics);
  COX_ASSIGN_OR_RETURN(const OpenedStores stores, OpenStores(ctx, flags));
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<EncryptionAtRest> encryption,
                       EncryptionAtRest::Open(ctx, flags, metrics));
  COX_ASSIGN_OR_RETURN(apiserver::ServerOptions options, ServerOptionsFrom(flags));
  options.storage_checks = encryption->Checks();
  const std::chrono::seconds shutdown_delay = options.shutdown_delay;
  COX_ASSIGN_OR_RETURN(const auto serving_certificate,
                       FollowServingCertificate(ctx, flags, options.listen.tls));
  {
    COX_ASSIGN_OR_RETURN(
        std::unique_ptr<apiserver::ApiServer> server,
        apiserver::ApiServer::Start(
            ctx, std::move(options),
            [&](std::string_view group, std::string_view resource) -> storage::Store& {
              return encryption->StoreOf(stores.For(group, resource), group, resource);
            },
            metrics));
    COX_INFO(ctx.log(), "Serving securely", {"port", server->port()});
    int signal = 0;
    sigwait(&signals, &signal);
    COX_INFO(ctx.log(), "Stopping", {"signal", signal});
    Context limit = ctx.WithTimeout(shutdown_delay + std::chrono::seconds(10));
    Status drained = server->Drain(limit);
    if (!drained.ok()) COX_V(ctx.log(), 2, "Requests were cut off");
  }
  ctx.Stop();
  return {};
}

}  // namespace

int RunApiServer(std::span<char* const> arguments) {
  Result<Flags> flags = Flags::Parse(ApiServerFlags(), arguments);
  if (!flags.ok()) {
    std::fprintf(stderr, "Error: %s\n", flags.status().message().c_str());
    return 1;
  }
  if (flags->help()) {
    std::fputs(FlagsHelp(ApiServerIntro(), ApiServerFlags()).c_str(), stdout);
    return 0;
  }
  // A worker's arena each would cost megabytes; two share well on few cores.
  mallopt(M_ARENA_MAX, 2);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  Status status = Run(*flags, signals);
  if (!status.ok()) {
    std::fprintf(stderr, "Error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}

}  // namespace cox::cmd
