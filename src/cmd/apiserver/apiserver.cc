// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/heap.h"
#include "base/log.h"
#include "base/process_metrics.h"
#include "base/run_until_signal.h"
#include "cmd/apiserver/composed.h"
#include "cmd/apiserver/flag_table.h"
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
  MetricsRegistry metrics(MetricStyle::kComponent);
  const std::vector<MetricHandle> process_metrics = AddProcessMetrics(metrics);
  {
    COX_ASSIGN_OR_RETURN(const std::unique_ptr<ComposedApiServer> server,
                         ComposedApiServer::Start(ctx, flags, metrics));
    int signal = 0;
    sigwait(&signals, &signal);
    COX_INFO(ctx.log(), "Stopping", {"signal", signal});
    server->Drain();
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
  BoundHeap();
  Status status = Run(*flags, BlockSignals({SIGTERM, SIGINT}));
  if (!status.ok()) {
    std::fprintf(stderr, "Error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}

}  // namespace cox::cmd
