// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/reflector.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace cox::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long after the server's watch timeout the client cancels the watch.
constexpr seconds kGrace{10};
// Shorter watches without events are counted, as in client-go: a proxy may be closing them.
constexpr seconds kShortWatch{1};

// A watch that lasted this many times backoff_min may be restarted without backoff.
constexpr int kLived = 5;

// The server does not have this version yet: it lags behind the server used before, or its store
// was restored from a backup.
bool IsTooLargeVersion(const Status& status) {
  if (!status.Is(Reason::kTimeout)) return false;
  for (const StatusCause& cause : status.details().causes) {
    if (cause.type == "ResourceVersionTooLarge") return true;
  }
  return status.message().find("Too large resource version") != std::string::npos;
}

bool IsExpired(const Status& status) {
  return status.Is(Reason::kExpired) || status.Is(Reason::kGone);
}

// The server rejected the request itself: repeating it unchanged is useless.
bool IsRefused(const Status& status) {
  return status.Is(Reason::kBadRequest) || status.Is(Reason::kInvalid) ||
         status.Is(Reason::kMethodNotAllowed) || status.Is(Reason::kNotAcceptable) ||
         status.Is(Reason::kUnsupportedMediaType);
}

// The error is unrelated to the requested version: watch from the same version again.
bool IsPassing(const Status& status) {
  return IsEndOfWatch(status) || status.Is(Reason::kServiceUnavailable) ||
         status.Is(Reason::kTooManyRequests) || status.Is(Reason::kServerTimeout) ||
         status.Is(Reason::kTimeout) || status.Is(Reason::kUnauthorized) ||
         status.Is(Reason::kForbidden) || status.Is(Reason::kNotFound);
}

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

ReflectorMetrics::ReflectorMetrics(MetricsRegistry& registry)
    : lists(registry.AddCounterVec(
          {"reflector_lists_total", "Total number of API lists done by the reflectors"}, {"name"})),
      list_seconds(registry.AddHistogramVec(
          {"reflector_list_duration_seconds",
           "How long an API list takes to return and decode for the reflectors"},
          ExponentialBuckets(0.001, 4, 9), {"name"})),
      items_per_list(registry.AddHistogramVec(
          {"reflector_items_per_list", "How many items an API list returns to the reflectors"},
          ExponentialBuckets(1, 10, 7), {"name"})),
      watches(registry.AddCounterVec(
          {"reflector_watches_total", "Total number of API watches done by the reflectors"},
          {"name"})),
      short_watches(
          registry.AddCounterVec({"reflector_short_watches_total",
                                  "Total number of short API watches done by the reflectors"},
                                 {"name"})),
      watch_seconds(registry.AddHistogramVec(
          {"reflector_watch_duration_seconds",
           "How long an API watch takes to return and decode for the reflectors"},
          ExponentialBuckets(0.01, 4, 9), {"name"})) {}

Reflector::Reflector(Client& client, const CacheOptions& options,
                     std::shared_ptr<ResourceInformer> informer, ResourceInformer::FeedId feed,
                     std::string ns, ReflectorMetrics* metrics)
    : client_(client),
      options_(options),
      informer_(std::move(informer)),
      feed_(feed),
      ns_(std::move(ns)),
      name_(informer_->resource().ToString()),
      metrics_(metrics),
      next_(options.streaming_lists ? Request::kStream : Request::kList),
      streaming_(options.streaming_lists),
      random_(std::random_device{}()) {}

void Reflector::Run(Context& ctx) {
  while (!ctx.Done()) {
    const Clock::SteadyTime start = ctx.clock().Monotonic();
    Attempt attempt;
    if (next_ == Request::kList) {
      List(ctx, attempt);
    } else {
      Follow(ctx, next_ == Request::kStream, attempt);
    }
    if (ctx.Done()) return;
    attempt.lived = ctx.clock().Monotonic() - start;
    if (HandleResult(ctx, attempt)) (void)ctx.Sleep(Pause(attempt));
  }
}

Clock::SteadyTime Reflector::Step(Context& ctx, const std::function<void()>& ready) {
  while (!ctx.Done()) {
    if (!watch_) {
      started_ = ctx.clock().Monotonic();
      attempt_ = {};
      if (next_ == Request::kList) {
        List(ctx, attempt_);
      } else if (Result<Running> started = StartWatch(ctx, next_ == Request::kStream);
                 started.ok()) {
        watch_.emplace(*std::move(started));
      } else {
        attempt_.status = started.status();
      }
      if (ctx.Done()) break;
    }
    if (watch_ && !FollowReady(ctx, ready)) return watch_->limited.deadline();
    if (ctx.Done()) break;  // that is not a failure of the watch
    watch_.reset();
    attempt_.lived = ctx.clock().Monotonic() - started_;
    if (!HandleResult(ctx, attempt_)) continue;
    if (const Clock::Duration pause = Pause(attempt_); pause > Clock::Duration()) {
      return ctx.clock().In(pause);
    }
  }
  watch_.reset();
  return Clock::kNever;
}

ListOptions Reflector::Scoped() const {
  return {.ns = ns_, .labels = informer_->scope().labels, .fields = informer_->scope().fields};
}

seconds Reflector::DrawTimeout() {
  const auto spread = static_cast<uint64_t>(std::max<int64_t>(1, options_.watch_timeout.count()));
  return options_.watch_timeout + seconds(random_() % spread);
}

void Reflector::List(Context& ctx, Attempt& attempt) {
  ListOptions options = Scoped();
  options.page_size = paged_ ? options_.page_size : 0;
  if (!newest_) {
    options.resource_version = version_;
    options.resource_version_match = "NotOlderThan";
  }
  std::vector<Item> items;
  const auto take = [this, &items](Object object) {
    items.push_back(
        ItemForm::WithoutObject(informer_->Prepare(std::make_shared<Object>(std::move(object)))));
    return Status();
  };
  Context limited = ctx.WithTimeout(DrawTimeout() + kGrace);
  const Clock::SteadyTime start = ctx.clock().Monotonic();
  const Result<std::string> version =
      informer_->metadata_only()
          ? client_.ListMetadata(limited, informer_->resource(), options, take)
          : client_.ListEach(limited, informer_->resource(), options, take);
  if (metrics_ != nullptr) {
    metrics_->lists.With({name_}).Inc();
    metrics_->list_seconds.With({name_}).Observe(Seconds(ctx.clock().Monotonic() - start));
    if (version.ok()) {
      metrics_->items_per_list.With({name_}).Observe(static_cast<double>(items.size()));
    }
  }
  attempt.status = version.ok() ? Take(std::move(items), *version) : version.status();
}

// Passes the complete list to the informer.
Status Reflector::Take(std::vector<Item> items, const std::string& version) {
  if (!informer_->Replace(feed_, std::move(items), version, newest_)) {
    return Status::Expired("the list at version " + version + " is older than " + version_);
  }
  version_ = version;
  newest_ = false;
  return {};
}

Result<Reflector::Running> Reflector::StartWatch(Context& ctx, bool initial) {
  WatchOptions options;
  options.list = Scoped();
  options.list.resource_version = initial && newest_ ? "" : version_;
  options.send_initial_events = initial;
  if (initial) options.list.resource_version_match = "NotOlderThan";
  options.timeout = DrawTimeout();
  Running watch{.limited = ctx.WithTimeout(options.timeout + kGrace),
                .start = ctx.clock().Monotonic(),
                .stream = nullptr,
                .stored = nullptr,
                .listing = initial,
                .items = {}};
  COX_ASSIGN_OR_RETURN(watch.stream,
                       informer_->metadata_only()
                           ? client_.WatchMetadata(watch.limited, informer_->resource(), options)
                           : client_.Watch(watch.limited, informer_->resource(), options));
  if (informer_->shares_objects()) watch.stored = watch.stream->stored_events();
  return watch;
}

void Reflector::CountWatch(const Running& watch, const Attempt& attempt) {
  if (metrics_ == nullptr) return;
  const Clock::Duration lived = watch.limited.clock().Monotonic() - watch.start;
  metrics_->watches.With({name_}).Inc();
  metrics_->watch_seconds.With({name_}).Observe(Seconds(lived));
  if (lived < kShortWatch && attempt.events == 0) metrics_->short_watches.With({name_}).Inc();
}

void Reflector::Follow(Context& ctx, bool initial, Attempt& attempt) {
  Result<Running> watch = StartWatch(ctx, initial);
  attempt.status = watch.status();
  if (!watch.ok()) return;
  while (attempt.status.ok()) {
    Result<ItemEvent> event = Next(*watch);
    attempt.status =
        event.ok() ? TakeEvent(watch->limited, *watch, *std::move(event), attempt) : event.status();
  }
  CountWatch(*watch, attempt);
}

bool Reflector::FollowReady(const Context& ctx, const std::function<void()>& ready) {
  while (attempt_.status.ok()) {
    Result<std::optional<ItemEvent>> event = TryNext(*watch_, ready);
    if (event.ok() && !event->has_value()) {
      attempt_.status = watch_->limited.status();
      if (attempt_.status.ok()) return false;
    } else {
      attempt_.status =
          event.ok() ? TakeEvent(ctx, *watch_, **std::move(event), attempt_) : event.status();
    }
  }
  CountWatch(*watch_, attempt_);
  return true;
}

ItemEvent Reflector::Prepare(WatchEvent<Object> event) const {
  ItemEvent prepared{.type = event.type,
                     .version = std::move(event.resource_version),
                     .initial_events_end = event.initial_events_end};
  if (event.object != nullptr) prepared.item = informer_->Prepare(std::move(event.object));
  return prepared;
}

ItemEvent Reflector::Prepare(StoredEvent event) const {
  ItemEvent prepared{.type = event.type,
                     .version = std::to_string(event.version),
                     .initial_events_end = event.initial_events_end};
  if (event.object != nullptr) prepared.item = informer_->Prepare(std::move(event.object));
  return prepared;
}

Result<ItemEvent> Reflector::Next(Running& watch) const {
  if (watch.stored != nullptr) {
    COX_ASSIGN_OR_RETURN(StoredEvent event, watch.stored->Next(watch.limited));
    return Prepare(std::move(event));
  }
  COX_ASSIGN_OR_RETURN(WatchEvent<Object> event, watch.stream->Next(watch.limited));
  return Prepare(std::move(event));
}

Result<std::optional<ItemEvent>> Reflector::TryNext(Running& watch,
                                                    const std::function<void()>& ready) const {
  if (watch.stored != nullptr) {
    COX_ASSIGN_OR_RETURN(std::optional<StoredEvent> event, watch.stored->TryNext(ready));
    return event ? std::optional(Prepare(*std::move(event))) : std::nullopt;
  }
  COX_ASSIGN_OR_RETURN(std::optional<WatchEvent<Object>> event, watch.stream->TryNext(ready));
  return event ? std::optional(Prepare(*std::move(event))) : std::nullopt;
}

Status Reflector::TakeEvent(const Context& ctx, Running& watch, ItemEvent event, Attempt& attempt) {
  if (!watch.listing) {
    ++attempt.events;
    informer_->Apply(feed_, event);
    if (!event.version.empty()) version_ = event.version;
  } else if (event.type != EventType::kBookmark) {
    TakeInitial(watch, event);
  } else if (event.initial_events_end) {
    return EndInitial(ctx, watch, event.version);
  }
  return {};
}

void Reflector::TakeInitial(Running& watch, ItemEvent& event) {
  if (event.type != EventType::kDeleted) {
    watch.items.push_back(ItemForm::WithoutObject(std::move(event.item)));
    return;
  }
  // A server may send changes before the end of the initial list.
  std::erase_if(watch.items, [&gone = event.item](const Item& item) {
    return item.ns() == gone.ns() && item.name() == gone.name();
  });
}

Status Reflector::EndInitial(const Context& ctx, Running& watch, const std::string& version) {
  if (metrics_ != nullptr) {
    metrics_->lists.With({name_}).Inc();
    metrics_->list_seconds.With({name_}).Observe(Seconds(ctx.clock().Monotonic() - watch.start));
    metrics_->items_per_list.With({name_}).Observe(static_cast<double>(watch.items.size()));
  }
  COX_RETURN_IF_ERROR(Take(std::exchange(watch.items, {}), version));
  watch.listing = false;
  next_ = Request::kWatch;
  Log(ctx, {});
  return {};
}

// --- Evaluation of attempts.

bool Reflector::HandleResult(const Context& ctx, const Attempt& attempt) {
  if (next_ == Request::kWatch) {
    HandleWatchResult(attempt.status);
  } else if (HandleListResult(attempt.status)) {
    return false;
  }
  const bool peace = attempt.status.ok() || IsEndOfWatch(attempt.status);
  const bool lived = attempt.lived >= kLived * options_.backoff_min;
  const bool brought = attempt.events > 0;
  if (attempt.lived >= options_.backoff_max || (peace ? lived || brought : lived && brought)) {
    failures_ = 0;
  } else if (!attempt.status.ok()) {
    ++failures_;
  }
  // The normal end of a watch is not logged.
  if (!peace) Log(ctx, attempt.status);
  if (peace && (lived || brought)) Log(ctx, {});
  return true;
}

bool Reflector::HandleListResult(const Status& status) {
  if (status.ok()) {
    next_ = Request::kWatch;
    paged_ = true;
    return true;
  }
  if (IsExpired(status) || IsTooLargeVersion(status)) {
    // The known version is too old or too new: list without a version. If that was already the
    // case, the continue token expired: list without paging.
    if (newest_ && next_ == Request::kList) paged_ = false;
    newest_ = true;
  } else if (IsRefused(status) && !newest_) {
    newest_ = true;  // the server may have rejected the version
  } else if (next_ == Request::kStream && (IsRefused(status) || IsEndOfWatch(status))) {
    // The server does not support streaming lists, or ignored the option and sent no end bookmark.
    streaming_ = false;
    next_ = Request::kList;
    return true;
  }
  return false;
}

void Reflector::HandleWatchResult(const Status& status) {
  if (IsTooLargeVersion(status)) newest_ = true;
  if (IsTooLargeVersion(status) || !IsPassing(status)) {
    next_ = streaming_ ? Request::kStream : Request::kList;
  }
}

Clock::Duration Reflector::Pause(const Attempt& attempt) {
  const auto jitter = [this](Clock::Duration base) {
    return base + base / 1000 * static_cast<int>(random_() % 1000);
  };
  const Clock::Duration least = options_.backoff_min;
  const Clock::Duration asked = seconds(attempt.status.details().retry_after_seconds);
  if (failures_ == 0) {
    return std::max({asked, jitter(least) - attempt.lived, Clock::Duration()});
  }
  // Expired after a long watch is normal: list again immediately.
  if (failures_ == 1 && IsExpired(attempt.status)) return asked;
  Clock::Duration backoff = least;
  for (int i = 1; i < failures_ && backoff < options_.backoff_max; ++i) backoff *= 2;
  return std::max(asked, jitter(std::min<Clock::Duration>(backoff, options_.backoff_max)));
}

void Reflector::Log(const Context& ctx, const Status& status) {
  if (status.ok()) {
    if (failing_) COX_INFO(ctx.log(), "Cache is in sync again", {"resource", name_}, {"ns", ns_});
    failing_ = false;
    return;
  }
  if (failures_ == 0 || (failures_ == 1 && IsExpired(status))) return;  // transient
  if (failing_ && logged_ == status.reason()) return;
  failing_ = true;
  logged_ = status.reason();
  COX_WARNING(ctx.log(), "Cache is not in sync and serves stale objects", {"resource", name_},
              {"ns", ns_}, {"error", status.ToString()});
}

}  // namespace cox::sdk
