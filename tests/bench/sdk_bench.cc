// SPDX-License-Identifier: Apache-2.0
// Measures the SDK on this computer:
//   sdk_bench [--check] [--operator PROGRAM]
// Work queue operations and reconciles per second, of controllers that do nothing and of
// controllers that patch a status (in process and over HTTPS, including the API server), and the
// memory of an idle operator. With --check it fails below floors that a busy computer also reaches;
// the targets are printed too.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "api/apps/v1.h"
#include "base/scope.h"
#include "coxswain/manager.h"
#include "testkit/test_cluster.h"

namespace cox {
namespace {

using Seconds = std::chrono::duration<double>;
using apps::v1::Deployment;

bool failed = false;

void Report(const char* what, double value, const char* unit, double target, double limit,
            bool at_most = false) {
  const bool bad = at_most ? value > limit : value < limit;
  std::printf("%-52s %12.0f %-3s (target %s %.0f)%s\n", what, value, unit,
              at_most ? "<=" : ">=", target, bad ? "   MISSED" : "");
  std::fflush(stdout);
  failed |= bad;
}

// The rate by elapsed time and by CPU time: on a busy computer only the second is meaningful.
struct Rate {
  double wall = 0;
  double cpu = 0;  // per second of one processor
};

class Meter {
 public:
  explicit Meter(const Clock& clock) : clock_(clock) {}
  Rate Of(double count) const {
    return {count / Seconds(clock_.Monotonic() - start_).count(), count / (Cpu() - cpu_)};
  }

 private:
  static double Cpu() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  const Clock& clock_;
  const Clock::SteadyTime start_ = clock_.Monotonic();
  const double cpu_ = Cpu();
};

// `processors`: the number of processors of the target.
void Report(const char* what, Rate rate, int processors, double target, double floor) {
  Report(what, rate.wall, "/s", target, 0);
  Report("  by processor time", rate.cpu * processors, "/s", target, floor);
}

ObjectKey KeyNumber(size_t i) { return {"default", "web-" + std::to_string(10'000 + i)}; }

// Add, Get and Done in one thread, with metrics, 1,000 keys at a time.
Rate QueueOperations(Clock& clock) {
  MetricsRegistry metrics;
  Context ctx(clock);
  const auto queue = WorkQueue::Create(clock, {.name = "bench", .metrics = &metrics});
  std::vector<ObjectKey> keys;
  for (size_t i = 0; i < 1000; ++i) keys.push_back(KeyNumber(i));
  constexpr int kRounds = 1000;
  const Meter meter(clock);
  for (int round = 0; round < kRounds; ++round) {
    for (const ObjectKey& key : keys) queue->Add(key);
    for (size_t i = 0; i < keys.size(); ++i) queue->Done(queue->Get(ctx)->key);
  }
  return meter.Of(kRounds * static_cast<double>(keys.size()));
}

ManagerOptions Quiet(std::string name) {
  return {.metrics_address = "0", .health_address = "0", .name = std::move(name)};
}

std::shared_ptr<Client> Borrow(Client& client) { return {std::shared_ptr<void>(), &client}; }

// Runs `manager` for the given time; its reconciles increment `count`.
Rate ReconcilesPerSecond(const Context& parent, Manager& manager, std::atomic<int64_t>& count,
                         Clock::Duration warm_up, Clock::Duration measured) {
  Context stop = parent.Child();
  Scope scope(parent, "bench");
  Status ended;
  (void)scope.Go("manager", [&](Context&) { ended = manager.Run(stop); });
  (void)parent.Sleep(warm_up);
  const int64_t before = count;
  const Meter meter(parent.clock());
  (void)parent.Sleep(measured);
  const Rate rate = meter.Of(static_cast<double>(count - before));
  stop.Stop();
  scope.Wait();
  scope.Stop();
  if (!ended.ok()) std::printf("the manager ended: %s\n", ended.ToString().c_str());
  return rate;
}

// The complete path: queue, worker, context with its own logger, metrics. Each reconcile adds its
// key again, so that there is always work.
Rate NoOpReconciles(testkit::TestCluster& cluster, const Logger& log) {
  Context ctx = cluster.context().WithLogger(log);
  auto manager = Manager::Create(ctx, Borrow(cluster.client()), Quiet("noop"));
  if (!manager.ok()) return {};
  std::atomic<int64_t> count = 0;
  std::atomic<WorkQueue*> queue = nullptr;
  const Status added =
      ControllerFor<Deployment>(**manager)
          .With({.max_concurrent_reconciles = 2})
          .From([&](Context& run, WorkQueue& filled) {
            queue = &filled;
            for (size_t i = 0; i < 10'000; ++i) filled.Add(KeyNumber(i));
            (void)run.Sleep(std::chrono::hours(1));
            return Status();
          })
          .Complete([&](Context&, const ObjectKey& key) -> Result<ReconcileResult> {
            count.fetch_add(1, std::memory_order_relaxed);
            queue.load()->Add(key);
            return ReconcileResult::Done();
          });
  if (!added.ok()) return {};
  return ReconcilesPerSecond(ctx, **manager, count, std::chrono::milliseconds(300),
                             std::chrono::seconds(2));
}

// Each reconcile reads its object from the cache and patches its status. Every patch causes an
// update event that requeues the object.
Rate StatusPatches(const Context& ctx, const std::shared_ptr<Client>& client,
                   const std::string& name) {
  auto manager = Manager::Create(ctx, client, Quiet(name));
  if (!manager.ok()) return {};
  auto deployments = (*manager)->cache().ListerOf<Deployment>();
  std::atomic<int64_t> count = 0;
  const Status added =
      ControllerFor<Deployment>(**manager)
          .With({.max_concurrent_reconciles = 8})
          .Complete(
              [&, deployments](Context& run, const ObjectKey& key) -> Result<ReconcileResult> {
                const auto deployment = deployments.Get(key);
                if (deployment == nullptr) return ReconcileResult::Done();
                const int64_t next = deployment->status.observedGeneration + 1;
                COX_RETURN_IF_ERROR((*manager)
                                        ->client()
                                        .PatchStatus<Deployment>(
                                            run, key,
                                            Patch::Merge(R"({"status":{"observedGeneration":)" +
                                                         std::to_string(next) + "}}"))
                                        .status());
                count.fetch_add(1, std::memory_order_relaxed);
                return ReconcileResult::Done();
              });
  if (!added.ok()) return {};
  return ReconcilesPerSecond(ctx, **manager, count, std::chrono::seconds(1),
                             std::chrono::seconds(3));
}

Status CreateDeployments(Context& ctx, Client& client) {
  for (size_t i = 0; i < 200; ++i) {
    Deployment deployment;
    const ObjectKey key = KeyNumber(i);
    deployment.metadata.name = key.name;
    deployment.metadata.namespace_ = key.ns;
    deployment.spec.selector.emplace().matchLabels["app"] = "web";
    deployment.spec.template_.metadata.labels["app"] = "web";
    core::v1::Container container;
    container.name = "c";
    container.image = "nginx";
    deployment.spec.template_.spec.containers.push_back(container);
    COX_RETURN_IF_ERROR(client.Create(ctx, std::move(deployment)).status());
  }
  return {};
}

// The resident memory of the operator some seconds after its start, in kilobytes; 0 if it does not
// run.
double IdleKilobytes(const Context& ctx, const std::string& program,
                     const std::string& kubeconfig) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sdk-bench-" + std::to_string(getpid()));
  std::ofstream(file) << kubeconfig;
  std::vector<std::string> words = {program,       "--kubeconfig",
                                    file.string(), "--metrics-bind-address",
                                    "127.0.0.1:0", "--health-probe-bind-address",
                                    "127.0.0.1:0"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 0;
  (void)ctx.Sleep(std::chrono::seconds(4));
  double kilobytes = 0;
  std::ifstream status("/proc/" + std::to_string(child) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) kilobytes = std::stod(line.substr(6));
  }
  kill(child, SIGTERM);
  int result = 0;
  waitpid(child, &result, 0);
  std::filesystem::remove(file);
  return kilobytes;
}

Status Measure(const std::string& program, bool check) {
  RealClock clock;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  FdLogSink sink(nowhere);
  Logging logging(clock, LogFormat::kText, sink);
  Report("queue: Add, Get and Done", QueueOperations(clock), 1, 1'000'000, check ? 600'000 : 0);
  COX_ASSIGN_OR_RETURN(const auto cluster, testkit::TestCluster::Start({.https = true}));
  Context& ctx = cluster->context();
  Report("reconciles that do nothing", NoOpReconciles(*cluster, logging.For("bench")), 2, 500'000,
         check ? 200'000 : 0);
  if (!program.empty()) {
    Report("idle operator over HTTPS", IdleKilobytes(ctx, program, cluster->kubeconfig()), "kB",
           8192, check ? 8192 : 1e9, /*at_most=*/true);
  }
  COX_RETURN_IF_ERROR(CreateDeployments(ctx, cluster->client()));
  Report("reconciles with a status patch, in process",
         StatusPatches(ctx, Borrow(cluster->client()), "inside"), 2, 3'000, check ? 2'000 : 0);
  COX_ASSIGN_OR_RETURN(std::shared_ptr<Client> https, Connect(ctx, cluster->config()));
  Report("reconciles with a status patch, HTTPS", StatusPatches(ctx, https, "outside"), 2, 3'000,
         check ? 1'500 : 0);
  close(nowhere);
  return {};
}

}  // namespace
}  // namespace cox

int main(int argc, char** argv) {
  bool check = false;
  std::string program;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) check = true;
    if (std::strcmp(argv[i], "--operator") == 0 && i + 1 < argc) program = argv[++i];
  }
  const cox::Status status = cox::Measure(program, check);
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() && !cox::failed ? 0 : 1;
}
