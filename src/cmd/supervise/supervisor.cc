// SPDX-License-Identifier: Apache-2.0
#include "cmd/supervise/supervisor.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/oom_score.h"

namespace cox::cmd {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBackoff{200};
constexpr milliseconds kMaxBackoff{10'000};
// After this running time, the backoff is reset.
constexpr std::chrono::seconds kStable{60};
constexpr milliseconds kProbeInterval{10};
constexpr milliseconds kProbeLimit{2'000};

}  // namespace

std::string LogTail(const std::filesystem::path& log, int lines) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  const std::streamoff from = std::max<std::streamoff>(0, size - 4096);
  file.seekg(from);
  std::string text(static_cast<size_t>(size - from), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  size_t at = text.size();
  for (int i = 0; i <= lines && at != std::string::npos && at > 0; ++i) {
    at = text.rfind('\n', at - 1);
  }
  return at == std::string::npos ? text : text.substr(at == 0 ? 0 : at + 1);
}

Supervisor::Supervisor(const Context& ctx, SupervisedProgram program)
    : program_(std::move(program)), ctx_(ctx), scope_(ctx, "supervise " + program_.name) {}

Supervisor::~Supervisor() {
  scope_.Stop();
  scope_.Wait();
}

Result<std::unique_ptr<Supervisor>> Supervisor::Start(const Context& ctx,
                                                      SupervisedProgram program) {
  auto made = std::make_unique<Supervisor>(ctx, std::move(program));
  COX_RETURN_IF_ERROR(made->Launch());
  COX_RETURN_IF_ERROR(made->scope_.Go(made->program_.name,
                                      [self = made.get()](Context& work) { self->Watch(work); }));
  return made;
}

Status Supervisor::Launch() {
  const std::string& path = program_.start.arguments.front();
  std::optional<Process> found = FindProcess(path.substr(path.rfind('/') + 1), program_.mark);
  const bool adopted = found.has_value();
  if (!adopted) {
    RotateLog();
    COX_ASSIGN_OR_RETURN(found, StartProgram(program_.start));
  }
  COX_INFO(ctx_.log(), adopted ? "Found a running program" : "Started a program",
           {"program", program_.name}, {"pid", found->pid});
  if (program_.oom_score_adj) TrySetOomScoreAdj(ctx_.log(), found->pid, *program_.oom_score_adj);
  MutexLock lock(mu_);
  process_ = *found;
  adopted_ = adopted;
  return {};
}

void Supervisor::RotateLog() {
  const Status rotated = RotateAppendedLog(program_.start.log, program_.log_limits);
  if (!rotated.ok()) COX_ERROR(ctx_.log(), rotated, "Could not rotate log");
}

Status Supervisor::AwaitExit(const Context& ctx) {
  for (;;) {
    const Context interval = ctx.WithTimeout(program_.log_check_interval);
    if (AwaitEnd(interval, process()).ok()) return {};
    COX_RETURN_IF_ERROR(ctx.status());
    RotateLog();
  }
}

void Supervisor::Watch(Context& ctx) {
  milliseconds backoff = kFirstBackoff;
  while (!ctx.Done()) {
    const Clock::SteadyTime begun = ctx.clock().Monotonic();
    if (!AwaitExit(ctx).ok()) return;
    if (ctx.clock().Monotonic() - begun > kStable) backoff = kFirstBackoff;
    COX_WARNING(ctx.log(), "Program exited, restarting", {"program", program_.name},
                {"after", backoff}, {"log", program_.start.log.string()});
    if (!ctx.Sleep(backoff).ok()) return;
    backoff = std::min(backoff * 2, kMaxBackoff);
    const Status started = Launch();
    if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start", {"program", program_.name});
    {
      MutexLock lock(mu_);
      ++restarts_;
    }
    ReportServedAgain(ctx);
  }
}

void Supervisor::ReportServedAgain(Context& ctx) {
  if (!program_.served_again) return;
  const Process started = process();
  while (Runs(started)) {
    Context attempt = ctx.WithTimeout(kProbeLimit);
    if (program_.probe(attempt).ok()) return program_.served_again(ctx);
    if (!ctx.Sleep(kProbeInterval).ok()) return;
  }
}

bool Supervisor::adopted() const {
  MutexLock lock(mu_);
  return adopted_;
}

Process Supervisor::process() const {
  MutexLock lock(mu_);
  return process_;
}

int Supervisor::restarts() const {
  MutexLock lock(mu_);
  return restarts_;
}

Status Supervisor::WaitReady(Context& ctx) {
  for (;;) {
    Context attempt = ctx.WithTimeout(kProbeLimit);
    const Status status = program_.probe(attempt);
    if (status.ok()) return {};
    // Reports an error after the second restart.
    if (restarts() >= 2 || !ctx.Sleep(kProbeInterval).ok()) {
      return Status::Unavailable(program_.name + " does not answer (" + status.message() +
                                 "); the end of " + program_.start.log.string() + ":\n" +
                                 LogTail(program_.start.log, 8));
    }
  }
}

Status Supervisor::End(const Context& ctx, milliseconds grace) {
  scope_.Stop();
  scope_.Wait();
  return EndProcess(ctx, process(), grace);
}

}  // namespace cox::cmd
