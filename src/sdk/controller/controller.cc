// SPDX-License-Identifier: Apache-2.0
#include "sdk/controller/controller.h"

#include <array>
#include <exception>
#include <random>
#include <utility>

#include "base/scope.h"

namespace cox::sdk {
namespace {

// Generates the reconcileID of log lines; a UUID, as upstream.
class ReconcileIds {
 public:
  std::string_view Next() {
    static constexpr char kHex[] = "0123456789abcdef";
    std::array<uint64_t, 2> bits = {random_(), random_()};
    bits[0] = (bits[0] & ~uint64_t{0xf000}) | 0x4000;                // version 4
    bits[1] = (bits[1] & ~(uint64_t{3} << 62)) | uint64_t{1} << 63;  // RFC 9562
    size_t at = 0;
    for (size_t nibble = 0; nibble < 32; ++nibble) {
      if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) text_[at++] = '-';
      text_[at++] = kHex[bits[nibble / 16] >> (60 - 4 * (nibble % 16)) & 15];
    }
    return {text_.data(), at};
  }

 private:
  std::mt19937_64 random_{std::random_device()()};
  std::array<char, 36> text_;
};

// Another client changed, created or deleted the object first. A retry, which sees the new state,
// nearly always succeeds; only if it does not, operators need to know.
bool IsLostRace(const Status& status) {
  return status.Is(Reason::kConflict) || status.Is(Reason::kNotFound) ||
         status.Is(Reason::kAlreadyExists);
}
constexpr int kRacesBeforeError = 5;

}  // namespace

Controller::Controller(Clock& clock, MetricsRegistry& metrics, ControllerSpec spec)
    : clock_(clock),
      metrics_(metrics, spec.name),
      queue_(WorkQueue::Create(
          clock,
          {.name = spec.name, .limiter = std::move(spec.options.limiter), .metrics = &metrics})),
      spec_(std::move(spec)) {
  metrics_.max_concurrent.Set(spec_.options.max_concurrent_reconciles);
}

Status Controller::Run(Context& ctx) {
  for (const WatchSpec& watch : spec_.watches) {
    COX_RETURN_IF_ERROR(watch.informer->WaitSynced(ctx));
  }
  COX_INFO(ctx.log(), "Starting workers", {"controller", spec_.name},
           {"workers", spec_.options.max_concurrent_reconciles});
  Context run = ctx.Child();
  // Runs immediately, even while this thread reconciles.
  const StopHandle no_more_keys = run.OnStop([this] { queue_->ShutDown(); });
  std::vector<InformerHandle> handles;
  handles.reserve(spec_.watches.size());
  for (const WatchSpec& watch : spec_.watches) {
    handles.push_back(
        watch.informer->AddHandler([this, &watch](const Delta& delta) { OnDelta(watch, delta); }));
  }
  Scope scope(run, spec_.name);
  Status started = StartSources(scope, run);
  for (int i = 1; started.ok() && i < spec_.options.max_concurrent_reconciles; ++i) {
    started =
        scope.Go(spec_.name + "-" + std::to_string(i), [this](Context& worker) { Work(worker); });
  }
  if (started.ok()) Work(run);  // this thread is a worker too
  if (!run.Done()) run.Stop(started.ok() ? Context::Canceled() : started);
  scope.Stop();
  scope.Wait();
  handles.clear();
  COX_INFO(ctx.log(), "Workers have ended", {"controller", spec_.name});
  return ctx.Done() ? Status() : run.status();
}

Status Controller::StartSources(Scope& scope, Context& run) {
  for (size_t i = 0; i < spec_.sources.size(); ++i) {
    COX_RETURN_IF_ERROR(
        scope.Go(spec_.name + "-source-" + std::to_string(i), [this, i, run](Context& ctx) mutable {
          const Status status = spec_.sources[i](ctx, *queue_);
          if (status.ok() || ctx.Done()) return;
          run.Stop(status.WithContext("a source of the controller " + spec_.name));
        }));
  }
  return {};
}

void Controller::OnDelta(const WatchSpec& watch, const Delta& delta) {
  if (spec_.options.ignore_own_writes && delta.own_writer == spec_.name) return;
  for (const Predicate& predicate : watch.predicates) {
    if (!predicate(delta)) return;
  }
  const bool news = !delta.initial && delta.type != Delta::Type::kResync;
  const int priority = news || !spec_.options.priorities ? kNormalPriority : kLowPriority;
  watch.keys(delta, [&](ObjectKey key) { queue_->Add(std::move(key), priority); });
}

void Controller::Work(Context& run) {
  ReconcileIds ids;
  // Identifies own writes.
  const Context controller = run.WithValue(kWriter, spec_.name);
  while (const std::optional<WorkQueue::Item> item = queue_->Get(run)) {
    metrics_.active_workers.Inc();
    Context ctx = controller;
    if (run.log().attached()) {
      ctx = controller.WithLogger(run.log().With(
          {{"namespace", item->key.ns}, {"name", item->key.name}, {"reconcileID", ids.Next()}}));
    }
    if (spec_.options.reconcile_timeout > Clock::Duration::zero()) {
      ctx = ctx.WithTimeout(spec_.options.reconcile_timeout);
    }
    Process(ctx, *item, run);
    if (ctx.status().Is(Reason::kTimeout)) metrics_.timeouts.Inc();
    queue_->Done(item->key);
    metrics_.active_workers.Dec();
  }
}

void Controller::Process(Context& ctx, const WorkQueue::Item& item, const Context& run) {
  const Clock::SteadyTime start = clock_.Monotonic();
  const Result<ReconcileResult> result = Reconcile(ctx, item.key);
  metrics_.seconds.Observe(std::chrono::duration<double>(clock_.Monotonic() - start).count());
  if (!result.ok()) {
    metrics_.error.Inc();
    metrics_.errors.Inc();
    if (run.Done()) {
      // It was interrupted, because the controller stops.
    } else if (IsLostRace(result.status()) && queue_->Failures(item.key) < kRacesBeforeError) {
      COX_V(ctx.log(), 2, "Reconcile failed because of a concurrent change and is retried",
            {"reason", result.status().message()});
    } else {
      COX_ERROR(ctx.log(), result.status(), "Reconcile failed");
    }
    queue_->AddRateLimited(item.key, item.priority);
    return;
  }
  queue_->Forget(item.key);
  if (!result->terminal.ok()) {
    metrics_.error.Inc();
    metrics_.errors.Inc();
    metrics_.terminal_errors.Inc();
    COX_ERROR(ctx.log(), result->terminal, "Reconcile failed with a terminal error");
  } else if (result->requeue_after > Clock::Duration::zero()) {
    metrics_.requeue_after.Inc();
    queue_->AddAfter(item.key, result->requeue_after, item.priority);
  } else {
    metrics_.success.Inc();
  }
}

Result<ReconcileResult> Controller::Reconcile(Context& ctx, const ObjectKey& key) {
  try {
    return spec_.reconciler->Reconcile(ctx, key);
  } catch (const std::exception& exception) {
    metrics_.panics.Inc();
    return Status::Internal(std::string("an exception escaped the reconciler: ") +
                            exception.what());
  } catch (...) {
    metrics_.panics.Inc();
    return Status::Internal("an exception of an unknown type escaped the reconciler");
  }
}

}  // namespace cox::sdk
