// SPDX-License-Identifier: Apache-2.0
// Two processes, of which one leads. See README.md.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "api/core/v1.h"
#include "coxswain/client.h"
#include "coxswain/config.h"
#include "coxswain/leader_election.h"
#include "settings.h"

namespace {

using cox::Client;
using cox::Context;
using cox::FencingToken;
using cox::Status;
using cox::core::v1::ConfigMap;

const cox::ObjectKey kCounter{"default", "leader-pair"};

// Counts in the ConfigMap while this process leads.
class Pair {
 public:
  Pair(Client& client, const Settings& settings)
      : client_(client),
        settings_(settings),
        elector_(cox::LeaderElector::Create(client, settings.election)),
        fenced_(elector_->FencedClient(client)) {}

  // Campaigns repeatedly until `ctx` stops. (Most operators exit when they lose leadership and are
  // restarted, so that no state of the old term remains.)
  Status Run(Context& ctx) {
    COX_RETURN_IF_ERROR(CreateCounter(ctx));
    while (!ctx.Done()) {
      Status ended = elector_->Run(ctx, [&](Context& term) { Lead(ctx, term); });
      if (ended.Is(cox::Reason::kBadRequest)) return ended;
      if (!ended.ok()) COX_WARNING(ctx.log(), "Lost", {"why", ended.message()});
    }
    return {};
  }

 private:
  Status CreateCounter(Context& ctx) {
    ConfigMap map;
    map.metadata.name = kCounter.name;
    map.metadata.namespace_ = kCounter.ns;
    const Status created = client_.Create(ctx, map).status();
    return created.Is(cox::Reason::kAlreadyExists) ? Status() : created;
  }

  // `term` stops in time. Only the tests of the server's fencing ignore it.
  void Lead(Context& ctx, Context& term) {
    const std::optional<FencingToken> token = elector_->term();
    if (!token) return;
    Context& work = settings_.fence == FenceMode::kBoth ? term : ctx;
    for (int64_t count = 1; !work.Done(); ++count) {
      const Status written = Write(work, *token, count);
      if (IsDeposed(written)) {
        COX_WARNING(ctx.log(), "Refused", {"why", written.message()});
        return;
      }
      if (!written.ok()) COX_ERROR(ctx.log(), written, "Could not write");
      // In this mode leadership is checked only after the write.
      if (settings_.fence == FenceMode::kNone && !elector_->IsLeader()) return;
      (void)work.Sleep(settings_.write_period);
    }
  }

  // Without a resourceVersion on purpose: the last writer would win.
  Status Write(Context& ctx, const FencingToken& token, int64_t count) {
    const cox::Patch patch =
        cox::Patch::Merge(R"({"metadata":{"annotations":{"leader-pair/holder":")" + token.holder +
                          R"(","leader-pair/term":")" + std::to_string(token.transitions) +
                          R"("}},"data":{"count":")" + std::to_string(count) + R"("}})");
    if (settings_.fence == FenceMode::kBoth) {
      return fenced_->PatchObject<ConfigMap>(ctx, kCounter, patch).status();
    }
    const cox::Resource maps = cox::Resource::Of<ConfigMap>();
    cox::Operation operation{
        .verb = cox::Operation::Verb::kPatch, .resource = maps, .key = kCounter, .patch = &patch};
    if (settings_.fence == FenceMode::kServer) {
      operation.headers.Add(std::string(cox::kFencingHeader), token.ToString());
    }
    return client_.Execute(ctx, operation).status();
  }

  Client& client_;
  const Settings settings_;
  const std::unique_ptr<cox::LeaderElector> elector_;
  const std::unique_ptr<Client> fenced_;
};

Status RunPair(Context& ctx, const Settings& settings) {
  COX_ASSIGN_OR_RETURN(const cox::Config config,
                       cox::LoadConfig({.kubeconfig = settings.kubeconfig}));
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, cox::Connect(ctx, config));
  return Pair(*client, settings).Run(ctx);
}

}  // namespace

int main(int argc, char** argv) {
  const cox::Result<Settings> settings = ReadSettings(argc, argv);
  if (!settings.ok()) {
    std::fprintf(stderr, "leader-pair: %s\n", settings.status().message().c_str());
    return 2;
  }
  // Before any threads start, so that only the signal thread receives these signals.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  cox::RealClock clock;
  cox::FdLogSink sink(STDERR_FILENO);
  cox::Logging logging(clock, cox::LogFormat::kText, sink);
  Context ctx(clock, logging.For(""));
  std::jthread signals([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    ctx.Stop();
  });
  const Status ended = RunPair(ctx, *settings);
  const bool asked = ctx.Done();
  kill(getpid(), SIGTERM);  // ends the signal thread if it still waits
  if (ended.ok() || asked) return 0;
  COX_ERROR(ctx.log(), ended, "Could not run leader-pair");
  return 1;
}
