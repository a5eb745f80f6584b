// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/load.h"
#include "api/objects.h"
#include "api/scenarios.h"
#include "base/mutex.h"
#include "base/scope.h"

// One tenant sends ten times the capacity of the server. Clients that keep the cluster alive must
// not be affected.
namespace cox::bench {
namespace {

using std::chrono::milliseconds;

// The users: token, user, groups.
constexpr char kTokens[] =
    "overload-tenant,system:serviceaccount:tenant:storm,u1,\"system:serviceaccounts\"\n"
    "overload-manager,system:kube-controller-manager,u2,\n"
    "overload-node,system:node:n1,u3,\"system:nodes\"\n";
constexpr char kBinding[] =
    R"({"metadata":{"name":"overload"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
    R"("kind":"ClusterRole","name":"cluster-admin"},"subjects":[)"
    R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"system:kube-controller-manager"},)"
    R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"system:node:n1"},)"
    R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User",)"
    R"("name":"system:serviceaccount:tenant:storm"}]})";
constexpr milliseconds kProbeEvery{20};
// A leader that has not renewed its Lease for this time stops leading.
constexpr std::chrono::seconds kRenewDeadline{10};
constexpr std::string_view kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
constexpr std::string_view kLists = "/api/v1/namespaces/default/configmaps";
constexpr size_t kObjectBytes = 4096;
// The tenant represents other machines: it must not take CPU time from the server and etcd.
constexpr int kStormNice = 19;
constexpr int kStormConnections = 16;
// Limits the concurrent requests, because real clients have limits too.
constexpr size_t kStormInFlight = 1200;
// Tail latencies below this are caused by the machine, not by the server.
constexpr double kTailFloor = 0.002;

net::Request As(const Plane& plane, std::string_view token, std::string method, std::string target,
                std::string body = {}) {
  net::Request request = plane.NewRequest(std::move(method), std::move(target), std::move(body));
  request.headers.Set("authorization", "Bearer " + std::string(token));
  return request;
}

std::string LeaseJson(const std::string& name, int64_t renewals, const std::string& version) {
  return R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" + version +
         R"("},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"leaseTransitions":)" +
         std::to_string(renewals) + "}}";
}

// A client that sends requests at intervals and measures their latency.
struct Probe {
  std::string name;
  std::function<net::Request(int64_t, const std::string&)> make;
  std::unique_ptr<net::Client> client;
  std::vector<double> quiet, loaded;  // seconds
  int64_t failures = 0;
  int64_t missed = 0;  // slower than the renew deadline of a Lease
  std::string first_failure;
  int64_t sent = 0;
  std::string version;  // resource version of the object, as last read

  void Remember(const net::Response& answer) {
    static constexpr std::string_view kName = R"("resourceVersion":")";
    std::string text;
    for (const Bytes& piece : answer.body) text += piece.view();
    const size_t at = text.find(kName);
    if (at == text.npos) return;
    const size_t begin = at + kName.size();
    version = text.substr(begin, text.find('"', begin) - begin);
  }

  void Run(Context& ctx, Clock::Duration length, std::vector<double>* into) {
    Clock& clock = ctx.clock();
    const Clock::SteadyTime end = clock.In(length);
    for (Clock::SteadyTime due = clock.Monotonic(); due < end && !ctx.Done(); due += kProbeEvery) {
      // Probes send one request at a time, like the clients they represent. If a response is so
      // late that the next request is already due, the probe sends that request at once. Its
      // latency counts from then.
      const Clock::SteadyTime now = clock.Monotonic();
      if (due > now && !ctx.Sleep(due - now).ok()) return;
      const Result<net::Response> answer = client->Do(ctx, make(sent++, version));
      const Clock::Duration took = clock.Monotonic() - std::max(due, now);
      into->push_back(std::chrono::duration<double>(took).count());
      if (took > kRenewDeadline) ++missed;
      if (answer.ok()) Remember(*answer);
      if (answer.ok() && answer->status < 300) continue;
      if (++failures == 1) {
        first_failure = answer.ok() ? std::to_string(answer->status) : answer.status().message();
      }
    }
  }
};

// The tenant: sends list requests at a fixed rate, independent of the responses.
class Storm {
 public:
  Storm(Context& ctx, const Plane& plane) : ctx_(ctx.Child()), plane_(plane) {}
  ~Storm() { Stop(); }

  // Its threads have the lowest priority, so that the server is measured, as far as two processors
  // allow.
  Status Start(double per_second) {
    scope_ = std::make_unique<Scope>(ctx_, "storm");
    return scope_->Go("storm", [this, per_second](Context& ctx) {
      ::setpriority(PRIO_PROCESS, 0, kStormNice);  // of this thread and the threads it starts
      Result<std::unique_ptr<net::Client>> client = plane_.NewClient(ctx, kStormConnections);
      if (!client.ok()) return;
      Send(ctx, **client, per_second);
      // Dropping pending requests cancels them.
      std::deque<std::shared_ptr<One>> all;
      {
        MutexLock lock(mu_);
        all.swap(running_);
      }
      for (const auto& one : all) one->Forget();
    });
  }
  void Stop() {
    if (scope_ == nullptr) return;
    scope_->Stop();
    scope_->Wait();
    scope_.reset();
  }

  int64_t sent() const { return sent_; }
  int64_t served() const { return served_; }
  int64_t refused() const { return refused_; }
  int64_t bytes() const { return bytes_; }
  int64_t without_retry_after() const { return without_retry_after_; }

 private:
  class One final : public net::ResponseObserver {
   public:
    explicit One(Storm& storm) : storm_(storm) {}
    void OnHeaders(int status, net::Headers headers) override {
      if (status == 429) {
        ++storm_.refused_;
        if (!headers.Get("retry-after")) ++storm_.without_retry_after_;
      }
      ok_ = status == 200;
    }
    void OnData(std::string_view bytes) override {
      storm_.bytes_ += static_cast<int64_t>(bytes.size());
    }
    void OnEnd(const Status& status) override {
      if (status.ok() && ok_) ++storm_.served_;
      done_ = true;
    }
    bool done() const { return done_; }
    void Keep(std::unique_ptr<net::Observation> observation) {
      observation_ = std::move(observation);
    }
    void Forget() { observation_.reset(); }

   private:
    Storm& storm_;
    std::atomic<bool> ok_ = false;
    std::atomic<bool> done_ = false;
    std::unique_ptr<net::Observation> observation_;
  };

  void Send(Context& ctx, net::Client& client, double per_second) {
    const auto between = std::chrono::nanoseconds(static_cast<int64_t>(1e9 / per_second));
    Clock::SteadyTime due = ctx.clock().Monotonic();
    while (!ctx.Done()) {
      const Clock::SteadyTime now = ctx.clock().Monotonic();
      if (due > now && !ctx.Sleep(due - now).ok()) return;
      due = std::max(due + between, now - milliseconds(100));
      MutexLock lock(mu_);
      std::erase_if(running_, [](const auto& one) { return one->done(); });
      if (running_.size() >= kStormInFlight) continue;
      auto one = std::make_shared<One>(*this);
      ++sent_;
      one->Keep(client.Observe(As(plane_, "overload-tenant", "GET", std::string(kLists)), one));
      running_.push_back(std::move(one));
    }
  }

  Context ctx_;
  const Plane& plane_;
  std::atomic<int64_t> sent_ = 0, served_ = 0, refused_ = 0, bytes_ = 0, without_retry_after_ = 0;
  Mutex mu_;
  std::deque<std::shared_ptr<One>> running_ COX_GUARDED_BY(mu_);
  std::unique_ptr<Scope> scope_;
};

double Quantile(std::vector<double> values, double q) {
  Load load;
  std::sort(values.begin(), values.end());
  load.latencies = std::move(values);
  return load.Quantile(q);
}

Result<std::deque<Probe>> MakeProbes(Context& ctx, const Plane& plane) {
  std::deque<Probe> probes;
  const auto add = [&](std::string name,
                       std::function<net::Request(int64_t, const std::string&)> make) -> Status {
    Probe& probe = probes.emplace_back();
    probe.name = std::move(name);
    probe.make = std::move(make);
    COX_ASSIGN_OR_RETURN(probe.client, plane.NewClient(ctx, 1));
    return {};
  };
  COX_RETURN_IF_ERROR(add("leader-election", [&plane](int64_t n, const std::string& version) {
    return As(plane, "overload-manager", "PUT", std::string(kLeases) + "/leader",
              LeaseJson("leader", n, version));
  }));
  COX_RETURN_IF_ERROR(add("node-high", [&plane](int64_t n, const std::string& version) {
    return As(plane, "overload-node", "PUT", std::string(kLeases) + "/n1",
              LeaseJson("n1", n, version));
  }));
  COX_RETURN_IF_ERROR(add("system", [&plane](int64_t, const std::string&) {
    return As(plane, "overload-node", "GET", "/api/v1/namespaces/default");
  }));
  return probes;
}

// Reads the current versions of the Leases before they are renewed.
Status ReadVersions(Context& ctx, const Plane& plane, std::deque<Probe>& probes) {
  for (Probe& probe : probes) {
    net::Request request = probe.make(0, "");
    if (request.method != "PUT") continue;
    COX_ASSIGN_OR_RETURN(const net::Response answer,
                         probe.client->Do(ctx, plane.NewRequest("GET", request.target)));
    probe.Remember(answer);
  }
  return {};
}

void RunProbes(Context& ctx, std::deque<Probe>& probes, std::chrono::milliseconds length,
               bool loaded) {
  Scope scope(ctx, "probes");
  for (Probe& probe : probes) {
    (void)scope.Go(probe.name, [&probe, length, loaded](Context& run) {
      probe.Run(run, length, loaded ? &probe.loaded : &probe.quiet);
    });
  }
  scope.Wait();
}

Status Prepare(Context& ctx, const Plane& plane, int64_t objects) {
  COX_ASSIGN_OR_RETURN(auto client, plane.NewClient(ctx));
  const auto make = [&](const std::string& target, std::string body) -> Status {
    COX_ASSIGN_OR_RETURN(const net::Response answer,
                         client->Do(ctx, plane.NewRequest("POST", target, std::move(body))));
    if (answer.status >= 300) return Status::Internal("cannot create at " + target);
    return {};
  };
  COX_RETURN_IF_ERROR(make("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", kBinding));
  COX_RETURN_IF_ERROR(make(std::string(kLeases), LeaseJson("leader", 0, "")));
  COX_RETURN_IF_ERROR(make(std::string(kLeases), LeaseJson("n1", 0, "")));
  const Load load = Drive(ctx, *client, objects, kInFlight, [&plane](int64_t i) {
    const std::string name = NumberedName("bulk", i);
    return plane.NewRequest("POST", std::string(kLists), ConfigMapJson(name, kObjectBytes));
  });
  return load.failures == 0 ? Status() : Status::Internal(load.first_failure);
}

// Measures the list requests per second that the server can serve for this tenant alone.
Result<double> MeasureCapacity(Context& ctx, const Plane& plane, int64_t lists) {
  COX_ASSIGN_OR_RETURN(auto client, plane.NewClient(ctx));
  const Load load = Drive(ctx, *client, lists, 4, [&plane](int64_t) {
    return As(plane, "overload-tenant", "GET", std::string(kLists));
  });
  if (load.failures > 0) return Status::Internal(load.first_failure);
  return load.PerSecond();
}

// The maximum memory during its lifetime.
class PeakMemory {
 public:
  PeakMemory(Context& ctx, const Plane& plane) : scope_(ctx, "memory") {
    (void)scope_.Go("memory", [this, &plane](Context& run) {
      do peak_ = std::max(peak_.load(), plane.Resident());
      while (run.Sleep(milliseconds(50)).ok());
    });
  }
  ~PeakMemory() {
    scope_.Stop();
    scope_.Wait();
  }
  int64_t peak() const { return peak_; }

 private:
  std::atomic<int64_t> peak_ = 0;
  Scope scope_;
};

void ReportProbe(const Probe& probe, Report& report) {
  const double quiet = Quantile(probe.quiet, 0.99);
  const double loaded = Quantile(probe.loaded, 0.99);
  char note[200];
  std::snprintf(note, sizeof note, "p50 %.2f -> %.2f ms, p99 %.2f -> %.2f ms, %zu requests",
                1e3 * Quantile(probe.quiet, 0.5), 1e3 * Quantile(probe.loaded, 0.5), 1e3 * quiet,
                1e3 * loaded, probe.quiet.size() + probe.loaded.size());
  report.Add({.scenario = "overload",
              .what = probe.name + " p99, loaded / quiet",
              .value = loaded / std::max(quiet, kTailFloor),
              .unit = "x",
              .target = 2,
              .limit = 6,
              .note = note});
  report.Add({.scenario = "overload",
              .what = probe.name + " leases missed, requests failed",
              .value = static_cast<double>(probe.missed + probe.failures),
              .unit = "",
              .target = 0,
              .limit = 0,
              .note = probe.first_failure});
}

}  // namespace

Status Overload(Context& ctx, Setup& setup) {
  PlaneOptions options = setup.plane;
  options.more_tokens = kTokens;
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<Plane> plane, Plane::Start(ctx, options));
  const Sizes& sizes = setup.sizes;
  COX_RETURN_IF_ERROR(Prepare(ctx, *plane, sizes.full ? 5000 : 400));
  COX_ASSIGN_OR_RETURN(std::deque<Probe> probes, MakeProbes(ctx, *plane));
  COX_RETURN_IF_ERROR(ReadVersions(ctx, *plane, probes));
  // The quiet server has served this tenant too, sequentially.
  COX_ASSIGN_OR_RETURN(const double capacity, MeasureCapacity(ctx, *plane, sizes.lists));
  const milliseconds length(sizes.full ? 8000 : 3000);
  int64_t quiet_bytes = plane->Resident();
  int64_t peak_bytes = 0;
  int64_t sent = 0, served = 0, refused = 0, silent = 0, bytes = 0;
  for (int i = 0; i < sizes.pairs; ++i) {
    RunProbes(ctx, probes, length, /*loaded=*/false);
    if (i == 0) quiet_bytes = std::max(quiet_bytes, plane->Resident());
    PeakMemory memory(ctx, *plane);
    Storm storm(ctx, *plane);
    COX_RETURN_IF_ERROR(storm.Start(10 * capacity));
    RunProbes(ctx, probes, length, /*loaded=*/true);
    storm.Stop();
    peak_bytes = std::max(peak_bytes, memory.peak());
    sent += storm.sent();
    served += storm.served();
    refused += storm.refused();
    silent += storm.without_retry_after();
    bytes += storm.bytes();
  }
  char text[240];
  std::snprintf(text, sizeof text,
                "capacity %.0f lists/s; storm of %.0f/s: %lld sent, %lld served (%.0f MB), %lld "
                "refused",
                capacity, 10 * capacity, static_cast<long long>(sent),
                static_cast<long long>(served), static_cast<double>(bytes) / 1e6,
                static_cast<long long>(refused));
  setup.report.Say("overload", text);
  for (const Probe& probe : probes) ReportProbe(probe, setup.report);
  setup.report.Add({.scenario = "overload",
                    .what = "memory, loaded / quiet",
                    .value = static_cast<double>(peak_bytes) / static_cast<double>(quiet_bytes),
                    .unit = "x",
                    .target = 1.5,
                    .limit = 2,
                    .note = std::to_string(quiet_bytes >> 20) + " -> " +
                            std::to_string(peak_bytes >> 20) + " MB"});
  setup.report.Add({.scenario = "overload",
                    .what = "refused without Retry-After",
                    .value = static_cast<double>(silent),
                    .unit = "",
                    .target = 0,
                    .limit = 0,
                    .note = ""});
  if (served == 0) return Status::Internal("the tenant got nothing at all");
  return {};
}

}  // namespace cox::bench
