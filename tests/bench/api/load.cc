// SPDX-License-Identifier: Apache-2.0
#include "api/load.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "base/scope.h"

namespace cox::bench {
namespace {

double SecondsSince(const Clock& clock, Clock::SteadyTime began) {
  return std::chrono::duration<double>(clock.Monotonic() - began).count();
}

// State shared by the slots of one run.
struct Run {
  Run(Clock& clock, net::Client& client, int64_t count, std::function<net::Request(int64_t)> make)
      : clock(clock), client(client), count(count), make(std::move(make)) {}

  Clock& clock;
  net::Client& client;
  const int64_t count;
  const std::function<net::Request(int64_t)> make;
  std::atomic<int64_t> next = 0;
  Mutex mu;
  CondVar changed;
  int64_t done COX_GUARDED_BY(mu) = 0;
  Load load COX_GUARDED_BY(mu);
};

// Keeps one request in flight.
class Slot final : public net::ResponseObserver, public std::enable_shared_from_this<Slot> {
 public:
  explicit Slot(std::shared_ptr<Run> run) : run_(std::move(run)) {}

  // The lock orders the start on the main thread before the response on the client's thread.
  void Begin() {
    MutexLock lock(mu_);
    const int64_t number = run_->next.fetch_add(1);
    if (number >= run_->count) return;
    began_ = run_->clock.Monotonic();
    status_ = 0;
    bytes_ = 0;
    body_.clear();
    observation_ = run_->client.Observe(run_->make(number), shared_from_this());
  }

  void OnHeaders(int status, net::Headers /*unused*/) override {
    MutexLock lock(mu_);
    status_ = status;
  }
  void OnData(std::string_view bytes) override {
    MutexLock lock(mu_);
    bytes_ += static_cast<int64_t>(bytes.size());
    if (status_ >= 300 && body_.size() < 1024) body_ += bytes;
  }
  void OnEnd(const Status& status) override {
    Record(status);
    Begin();
  }
  // Breaks the reference cycle.
  void Forget() {
    MutexLock lock(mu_);
    observation_.reset();
  }

 private:
  void Record(const Status& status) {
    MutexLock own(mu_);
    MutexLock lock(run_->mu);
    Load& load = run_->load;
    if (status.ok() && status_ < 300) {
      load.latencies.push_back(SecondsSince(run_->clock, began_));
      load.bytes += bytes_;
    } else {
      ++load.failures;
      if (load.first_failure.empty()) {
        load.first_failure = status.ok() ? std::to_string(status_) + " " + body_ : status.message();
      }
    }
    if (++run_->done == run_->count) run_->changed.NotifyAll();
  }

  const std::shared_ptr<Run> run_;
  Mutex mu_;
  Clock::SteadyTime began_ COX_GUARDED_BY(mu_);
  int status_ COX_GUARDED_BY(mu_) = 0;
  int64_t bytes_ COX_GUARDED_BY(mu_) = 0;
  std::string body_ COX_GUARDED_BY(mu_);
  std::unique_ptr<net::Observation> observation_ COX_GUARDED_BY(mu_);
};

}  // namespace

double Load::Quantile(double q) const {
  if (latencies.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(latencies.size())));
  return latencies[std::clamp<size_t>(rank, 1, latencies.size()) - 1];
}

Load Drive(Context& ctx, net::Client& client, int64_t count, int in_flight,
           std::function<net::Request(int64_t)> make) {
  const auto run = std::make_shared<Run>(ctx.clock(), client, count, std::move(make));
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  std::vector<std::shared_ptr<Slot>> slots;
  for (int i = 0; i < in_flight; ++i) slots.push_back(std::make_shared<Slot>(run));
  for (const auto& slot : slots) slot->Begin();
  Load load;
  {
    MutexLock lock(run->mu);
    const Status waited = ctx.Await(run->mu, run->changed, [&] { return run->done == count; });
    run->load.seconds = SecondsSince(ctx.clock(), began);
    load = std::move(run->load);
    if (!waited.ok()) {
      load.failures += count - run->done;
      load.first_failure = waited.message();
    }
  }
  for (const auto& slot : slots) slot->Forget();
  load.operations = count;
  std::sort(load.latencies.begin(), load.latencies.end());
  return load;
}

Load DriveThreads(Context& ctx, int64_t count, int threads,
                  const std::function<Status(int64_t)>& operation) {
  Load load;
  Mutex mu;
  std::atomic<int64_t> next = 0;
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  {
    Scope scope(ctx, "load");
    for (int t = 0; t < threads; ++t) {
      Status started = scope.Go("load", [&](Context& /*unused*/) {
        for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
          const Clock::SteadyTime sent = ctx.clock().Monotonic();
          const Status status = operation(i);
          MutexLock lock(mu);
          if (status.ok()) {
            load.latencies.push_back(SecondsSince(ctx.clock(), sent));
          } else if (++load.failures == 1) {
            load.first_failure = status.message();
          }
        }
      });
      if (!started.ok()) break;
    }
    scope.Wait();
  }
  load.operations = count;
  load.seconds = SecondsSince(ctx.clock(), began);
  std::sort(load.latencies.begin(), load.latencies.end());
  return load;
}

struct Watchers::Shared {
  explicit Shared(Line line) : line(std::move(line)) {}

  const Line line;
  Mutex mu;
  CondVar changed;
  size_t open COX_GUARDED_BY(mu) = 0;
  int64_t events COX_GUARDED_BY(mu) = 0;
  int64_t wanted COX_GUARDED_BY(mu) = -1;
  Status failure COX_GUARDED_BY(mu);
};

class Watchers::One final : public net::ResponseObserver {
 public:
  explicit One(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  void OnHeaders(int status, net::Headers /*unused*/) override {
    MutexLock lock(shared_->mu);
    ++shared_->open;
    if (status != 200) {
      shared_->failure = Status::Internal("a watch was answered with " + std::to_string(status));
    }
    shared_->changed.NotifyAll();
  }
  void OnData(std::string_view bytes) override {
    const int64_t events = std::count(bytes.begin(), bytes.end(), '\n');
    if (shared_->line) Cut(bytes);
    if (events == 0) return;
    MutexLock lock(shared_->mu);
    shared_->events += events;
    if (shared_->wanted >= 0 && shared_->events >= shared_->wanted) shared_->changed.NotifyAll();
  }
  void OnEnd(const Status& status) override {
    MutexLock lock(shared_->mu);
    shared_->failure = status.ok() ? Status::Unavailable("a watch ended") : status;
    shared_->changed.NotifyAll();
  }

 private:
  void Cut(std::string_view bytes) {
    for (size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      rest_ += bytes.substr(0, end);
      shared_->line(rest_);
      rest_.clear();
      bytes.remove_prefix(end + 1);
    }
    rest_ += bytes;
  }

  const std::shared_ptr<Shared> shared_;
  std::string rest_;
};

Watchers::Watchers(const std::vector<net::Client*>& clients, size_t count,
                   const net::Request& request, Line line)
    : shared_(std::make_shared<Shared>(std::move(line))) {
  for (size_t i = 0; i < count; ++i) {
    watches_.push_back(
        clients[i % clients.size()]->Observe(request, std::make_shared<One>(shared_)));
  }
}

Watchers::~Watchers() = default;

Status Watchers::AwaitOpen(Context& ctx) {
  MutexLock lock(shared_->mu);
  COX_RETURN_IF_ERROR(ctx.Await(shared_->mu, shared_->changed, [this] {
    return shared_->open == watches_.size() || !shared_->failure.ok();
  }));
  return shared_->failure;
}

Status Watchers::AwaitEvents(Context& ctx, int64_t events) {
  MutexLock lock(shared_->mu);
  shared_->wanted = events;
  COX_RETURN_IF_ERROR(ctx.Await(shared_->mu, shared_->changed, [this, events] {
    return shared_->events >= events || !shared_->failure.ok();
  }));
  return shared_->failure;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace cox::bench
