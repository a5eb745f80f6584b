// SPDX-License-Identifier: Apache-2.0
// Measures the API server as a process: see --help.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "api/scenarios.h"
#include "base/clock.h"
#include "net/tls.h"

namespace cox::bench {

Sizes Sizes::Short() {
  return {.full = false,
          .pairs = 3,
          .creates = 1500,
          .gets = 6000,
          .pods = 1000,
          .lists = 10,
          .watchers = 100,
          .updates = 300,
          .idle_watches = 2000,
          .loaded_pods = 1500,
          .loaded_config_maps = 1500,
          .paced_updates = 200,
          .starts = 2};
}

namespace {

constexpr Scenario kScenarios[] = {
    {"start", "exec to /readyz on an empty etcd, memory when ready", StartAndIdle},
    {"create-cm", "ConfigMaps of 1 KB against bare etcd puts of the same bytes", CreateConfigMaps},
    {"create-pod", "Pods of 2.5 KB against bare etcd puts of the same bytes", CreatePods},
    {"get", "one Pod, from the cache and consistent, JSON and protobuf", GetPods},
    {"guards", "what authentication, RBAC, admission and audit add to a get and a create", Guards},
    {"list", "all Pods, and one in a hundred by label", ListPods},
    {"fan-out", "every update to many watchers", FanOut},
    {"slow-watchers", "what watchers that do not read cost the others", SlowWatchers},
    {"idle-watches", "memory of a watch on which nothing happens", IdleWatches},
    {"loaded", "memory with many objects", LoadedMemory},
    {"overload", "a tenant at ten times the capacity, and those who keep the cluster alive",
     Overload},
    {"h2load", "creates by another load generator; full size only", CrossCheck},
};

constexpr char kHelp[] =
    R"(api_bench: what `coxswain apiserver` costs.

Each scenario starts an etcd and an API server of its own, with TLS, HTTP/2, authentication,
authorization and admission on, drives them over the loopback with 64 requests in flight, and ends
them. Nothing of the machine is touched but free ports and folders under the temporary directory.

How to read the table. The load generator and etcd share the processors with the server, and the
machine may have other work: so trust the ratios first (both sides of a pair ran in turns, A B A B,
in the same minute; the median of the pairs counts), the CPU per operation second (what the server's
process used, from the kernel), and rates last. The targets are of the 2-core reference machine when
nothing else runs.

Usage:
  api_bench --binary build/release/src/cmd/coxswain [flags]

Flags:
  --binary PATH   the program to measure; else $COX_BIN
  --full          the sizes the targets are about: some minutes, some GB; else about a minute
  --only A,B      these scenarios only
  --pairs N       how often both sides of a pair run
  --no-fsync      etcd does not wait for the disk: for machines whose disk would be all one measures
  --check         fail where a figure is past its limit; limits stand far enough from what was
                  measured that only a step back reaches them
  --help

Scenarios:
)";

struct Arguments {
  std::string binary;
  std::string only;
  int pairs = 0;
  bool full = false, fsync = true, check = false, help = false;
};

bool Parse(int argc, char** argv, Arguments* out) {
  if (const char* binary = std::getenv("COX_BIN")) out->binary = binary;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool more = i + 1 < argc;
    if (flag == "--full") {
      out->full = true;
    } else if (flag == "--no-fsync") {
      out->fsync = false;
    } else if (flag == "--check") {
      out->check = true;
    } else if (flag == "--help") {
      out->help = true;
    } else if (flag == "--binary" && more) {
      out->binary = argv[++i];
    } else if (flag == "--only" && more) {
      out->only = "," + std::string(argv[++i]) + ",";
    } else if (flag == "--pairs" && more) {
      out->pairs = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "api_bench: unknown flag %s; see --help\n", flag.c_str());
      return false;
    }
  }
  return true;
}

// Ten thousand watches use more than a hundred connections.
void RaiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int Run(const Arguments& arguments) {
  RealClock clock;
  Context ctx(clock);
  Report report;
  Setup setup{{.binary = arguments.binary, .fsync = arguments.fsync},
              arguments.full ? Sizes() : Sizes::Short(),
              report};
  setup.sizes.full = arguments.full;
  if (arguments.pairs > 0) setup.sizes.pairs = arguments.pairs;
  report.PrintHead();
  for (const Scenario& scenario : kScenarios) {
    const std::string name(scenario.name);
    const bool asked = arguments.only.find("," + name + ",") != std::string::npos;
    if (!arguments.only.empty() && !asked) continue;
    if (name == "h2load" && !arguments.full && !asked) continue;
    Context limit = ctx.WithTimeout(std::chrono::minutes(10));
    const Status status = scenario.run(limit, setup);
    if (!status.ok()) report.Fail(name, status.message());
  }
  if (!arguments.check) return 0;
  const std::vector<std::string> broken = report.Broken();
  for (const std::string& line : broken) std::printf("BROKEN %s\n", line.c_str());
  return broken.empty() ? 0 : 1;
}

}  // namespace
}  // namespace cox::bench

int main(int argc, char** argv) {
  cox::net::PrepareTls();
  cox::bench::Arguments arguments;
  if (!cox::bench::Parse(argc, argv, &arguments)) return 2;
  if (arguments.help) {
    std::fputs(cox::bench::kHelp, stdout);
    for (const auto& scenario : cox::bench::kScenarios) {
      std::printf("  %-14s  %s\n", std::string(scenario.name).c_str(),
                  std::string(scenario.what).c_str());
    }
    return 0;
  }
  if (arguments.binary.empty() || !cox::storage::EtcdServer::Available()) {
    std::printf("SKIP: needs --binary and an etcd program\n");
    return 77;
  }
  cox::bench::RaiseFileLimit();
  return cox::bench::Run(arguments);
}
