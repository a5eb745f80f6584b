// SPDX-License-Identifier: Apache-2.0
#include "scheduler/queue/scheduling_queue.h"

#include <algorithm>
#include <utility>

namespace cox::scheduler {
namespace {

// Interval of the check for Pods that exceed max_unschedulable.
constexpr std::chrono::seconds kFlushPeriod{30};

}  // namespace

bool SchedulingQueue::Less::operator()(const QueuedPodPtr& a, const QueuedPodPtr& b) const {
  const QueueSortPlugin::Waiting left{*a->pod, a->since};
  const QueueSortPlugin::Waiting right{*b->pod, b->since};
  if (sort->Less(left, right)) return true;
  if (sort->Less(right, left)) return false;
  return a->number < b->number;
}

bool SchedulingQueue::Sooner::operator()(const QueuedPodPtr& a, const QueuedPodPtr& b) const {
  if (a->backoff_until != b->backoff_until) return a->backoff_until < b->backoff_until;
  return a->number < b->number;
}

SchedulingQueue::SchedulingQueue(Clock& clock, QueuePlugins plugins, QueueOptions options,
                                 CounterVec* incoming)
    : clock_(clock),
      plugins_(std::move(plugins)),
      options_(options),
      incoming_(incoming),
      active_(Less{plugins_.sort}),
      flushed_(clock.Monotonic()) {
  for (const auto& [profile, by_plugin] : plugins_.events) {
    for (const auto& [plugin, interests] : by_plugin) {
      for (const EventInterest& interest : interests) interests_ |= interest.bits;
    }
  }
}

void SchedulingQueue::Set(PodInfoPtr pod, bool only_if_known) {
  MutexLock lock(mu_);
  if (const PodInfoPtr before = in_flight_.Find(pod->uid())) {
    const uint32_t bits = PodChange(*before, *pod);
    if (bits != 0) in_flight_.Record({.bits = bits, .old_pod = before, .new_pod = pod});
    in_flight_.Update(std::move(pod));
    return;
  }
  const auto found = pods_.find(pod->uid());
  if (found != pods_.end()) {
    UpdateLocked(*found->second, std::move(pod));
    return;
  }
  if (only_if_known) return;
  auto waiting = std::make_shared<QueuedPod>();
  waiting->pod = std::move(pod);
  waiting->since = clock_.Monotonic();
  waiting->number = ++arrivals_;
  pods_[waiting->pod->uid()] = waiting;
  Requeue(waiting, Hint::kNow, "UnscheduledPodAdd");
}

void SchedulingQueue::UpdateLocked(QueuedPod& waiting, PodInfoPtr pod) {
  const QueuedPodPtr self = pods_[pod->uid()];
  const PodInfoPtr before = waiting.pod;
  if (waiting.place == Place::kGated) {
    waiting.pod = std::move(pod);
    if (plugins_.pre_enqueue(*waiting.pod).ok()) {
      Take(self);
      Requeue(self, Hint::kNow, EventLabel(kPodGatesEliminated));
    }
    return;
  }
  const bool sorted = waiting.place == Place::kActive && before->priority != pod->priority;
  if (sorted) Take(self);
  waiting.pod = std::move(pod);
  if (sorted) Put(self, Place::kActive, "");
  if (waiting.place != Place::kUnschedulable) return;
  const ClusterEvent event{
      .bits = PodChange(*before, *waiting.pod), .old_pod = before, .new_pod = waiting.pod};
  const Hint hint = event.bits == 0 ? Hint::kSkip : HintFor(waiting, event);
  if (hint == Hint::kSkip) return;
  Take(self);
  Requeue(self, hint, EventLabel(event.bits));
}

void SchedulingQueue::Delete(const std::string& uid) {
  MutexLock lock(mu_);
  in_flight_.End(uid);  // so that AddUnschedulable drops it
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  Take(found->second);
  pods_.erase(found);
}

Result<QueuedPodPtr> SchedulingQueue::Pop(Context& ctx) {
  MutexLock lock(mu_);
  while (true) {
    Flush();
    if (QueuedPodPtr next = TakeNext()) {
      pods_.erase(next->pod->uid());
      ++next->attempts;
      if (!next->first_attempt) next->first_attempt = clock_.Monotonic();
      in_flight_.Begin(next->pod);
      return next;
    }
    if (ctx.Done()) return ctx.status();
    (void)changed_.WaitUntil(mu_, clock_, NextDue(), ctx.token());
  }
}

void SchedulingQueue::Done(const std::string& uid) {
  MutexLock lock(mu_);
  in_flight_.End(uid);
}

void SchedulingQueue::AddUnschedulable(const QueuedPodPtr& pod) {
  MutexLock lock(mu_);
  const PodInfoPtr newest = in_flight_.Find(pod->pod->uid());
  if (newest == nullptr) return;  // deleted meanwhile
  pod->pod = newest;
  pod->since = clock_.Monotonic();
  const bool error = pod->unschedulable_plugins.empty() && pod->pending_plugins.empty();
  pod->errors = error ? pod->errors + 1 : 0;
  if (!error) ++pod->rejections;

  Hint hint = error ? Hint::kAfterBackoff : Hint::kSkip;
  std::string_view why = "ScheduleAttemptFailure";
  for (const ClusterEvent* event : in_flight_.Since(pod->pod->uid())) {
    const bool others = (event->bits & kOwnPodEvents) != 0 &&
                        (event->new_pod == nullptr || event->new_pod->uid() != pod->pod->uid());
    if (others || hint == Hint::kNow) continue;
    const Hint here = HintFor(*pod, *event);
    if (here > hint) {
      hint = here;
      why = EventLabel(event->bits);
    }
  }
  in_flight_.End(pod->pod->uid());
  pods_[pod->pod->uid()] = pod;
  if (hint == Hint::kSkip) {
    Put(pod, Place::kUnschedulable, why);
  } else {
    Requeue(pod, hint, why);
  }
  changed_.NotifyOne();
}

void SchedulingQueue::OnEvent(const ClusterEvent& event) {
  if (!Wants(event.bits)) return;
  MutexLock lock(mu_);
  in_flight_.Record(event);
  std::vector<std::pair<QueuedPodPtr, Hint>> moved;
  for (const auto& [uid, waiting] : unschedulable_) {
    if (waiting->place == Place::kGated) continue;
    const Hint hint = HintFor(*waiting, event);
    if (hint != Hint::kSkip) moved.emplace_back(waiting, hint);
  }
  for (const auto& [waiting, hint] : moved) {
    Take(waiting);
    Requeue(waiting, hint, EventLabel(event.bits));
  }
}

SchedulingQueue::Sizes SchedulingQueue::sizes() const {
  MutexLock lock(mu_);
  return {.active = active_.size(),
          .backoff = backoff_.size() + error_backoff_.size(),
          .unschedulable = unschedulable_.size() - gated_,
          .gated = gated_,
          .in_flight = in_flight_.size()};
}

std::map<std::pair<std::string, std::string>, size_t> SchedulingQueue::CountUnschedulable() const {
  MutexLock lock(mu_);
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const auto& [uid, waiting] : unschedulable_) {
    const std::string& profile = waiting->pod->pod->spec.schedulerName;
    for (const std::string& plugin : waiting->unschedulable_plugins) ++counts[{profile, plugin}];
  }
  return counts;
}

bool SchedulingQueue::Interested(const QueuedPod& waiting, std::string_view plugin,
                                 const ClusterEvent& event) const {
  const auto profile = plugins_.events.find(waiting.pod->pod->spec.schedulerName);
  if (profile == plugins_.events.end()) return true;
  const auto interests = profile->second.find(plugin);
  if (interests == profile->second.end()) return false;
  return std::any_of(interests->second.begin(), interests->second.end(),
                     [&](const EventInterest& interest) {
                       return (interest.bits & event.bits) != 0 &&
                              (!interest.hint || interest.hint(*waiting.pod, event));
                     });
}

SchedulingQueue::Hint SchedulingQueue::HintFor(const QueuedPod& waiting,
                                               const ClusterEvent& event) const {
  if (waiting.unschedulable_plugins.empty() && waiting.pending_plugins.empty()) {
    return Hint::kAfterBackoff;
  }
  for (const std::string& plugin : waiting.pending_plugins) {
    if (Interested(waiting, plugin, event)) return Hint::kNow;
  }
  for (const std::string& plugin : waiting.unschedulable_plugins) {
    if (Interested(waiting, plugin, event)) return Hint::kAfterBackoff;
  }
  return Hint::kSkip;
}

// REQUIRES: the Pod is in pods_ and in no place.
void SchedulingQueue::Requeue(const QueuedPodPtr& pod, Hint hint, std::string_view why) {
  if (!plugins_.pre_enqueue(*pod->pod).ok()) {
    Put(pod, Place::kGated, why);
    return;
  }
  pod->backoff_until = pod->since + BackoffOf(*pod);
  const bool wait = hint == Hint::kAfterBackoff && pod->backoff_until > clock_.Monotonic();
  if (!wait) {
    Put(pod, Place::kActive, why);
  } else {
    Put(pod, pod->errors > 0 ? Place::kErrorBackoff : Place::kBackoff, why);
  }
  changed_.NotifyOne();
}

void SchedulingQueue::Put(const QueuedPodPtr& pod, Place place, std::string_view why) {
  pod->place = place;
  std::string_view queue = "active";
  switch (place) {
    case Place::kActive:
      active_.insert(pod);
      break;
    case Place::kBackoff:
    case Place::kErrorBackoff:
      queue = "backoff";
      (place == Place::kBackoff ? backoff_ : error_backoff_).insert(pod);
      break;
    case Place::kGated:
      ++gated_;
      [[fallthrough]];
    case Place::kUnschedulable:
      queue = place == Place::kGated ? "gated" : "unschedulable";
      unschedulable_[pod->pod->uid()] = pod;
      break;
    case Place::kNone:
      return;
  }
  if (incoming_ != nullptr && !why.empty()) incoming_->With({why, queue}).Inc();
}

void SchedulingQueue::Take(const QueuedPodPtr& pod) {
  switch (pod->place) {
    case Place::kActive:
      active_.erase(pod);
      break;
    case Place::kBackoff:
      backoff_.erase(pod);
      break;
    case Place::kErrorBackoff:
      error_backoff_.erase(pod);
      break;
    case Place::kGated:
      --gated_;
      [[fallthrough]];
    case Place::kUnschedulable:
      unschedulable_.erase(pod->pod->uid());
      break;
    case Place::kNone:
      break;
  }
  pod->place = Place::kNone;
}

Clock::Duration SchedulingQueue::BackoffOf(const QueuedPod& pod) const {
  const int count = pod.errors > 0 ? pod.errors : pod.rejections;
  if (count == 0) return {};
  Clock::Duration backoff = options_.initial_backoff;
  for (int i = 1; i < count && backoff < options_.max_backoff; ++i) backoff *= 2;
  return std::min<Clock::Duration>(backoff, options_.max_backoff);
}

void SchedulingQueue::Flush() {
  const Clock::SteadyTime now = clock_.Monotonic();
  for (auto* waiting : {&backoff_, &error_backoff_}) {
    while (!waiting->empty() && (*waiting->begin())->backoff_until <= now) {
      const QueuedPodPtr pod = *waiting->begin();
      Take(pod);
      Put(pod, Place::kActive, "BackoffComplete");
    }
  }
  if (now - flushed_ < kFlushPeriod) return;
  flushed_ = now;
  std::vector<QueuedPodPtr> old;
  for (const auto& [uid, pod] : unschedulable_) {
    if (pod->place != Place::kGated && now - pod->since > options_.max_unschedulable) {
      old.push_back(pod);
    }
  }
  for (const QueuedPodPtr& pod : old) {
    Take(pod);
    Requeue(pod, Hint::kAfterBackoff, "UnschedulableTimeout");
  }
}

Clock::SteadyTime SchedulingQueue::NextDue() const {
  Clock::SteadyTime due = Clock::kNever;
  if (!backoff_.empty()) due = std::min(due, (*backoff_.begin())->backoff_until);
  if (!error_backoff_.empty()) due = std::min(due, (*error_backoff_.begin())->backoff_until);
  if (unschedulable_.size() > gated_) due = std::min(due, flushed_ + kFlushPeriod);
  return due;
}

QueuedPodPtr SchedulingQueue::TakeNext() {
  QueuedPodPtr next;
  if (!active_.empty()) {
    next = *active_.begin();
  } else if (options_.pop_from_backoff && !backoff_.empty()) {
    next = *backoff_.begin();
  }
  if (next != nullptr) Take(next);
  return next;
}

}  // namespace cox::scheduler
