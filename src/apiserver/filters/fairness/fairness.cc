// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/fairness.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "apiserver/filters/fairness/flow_control.h"
#include "apiserver/filters/fairness/flow_match.h"
#include "apiserver/filters/fairness/queuing/shuffle_shard.h"
#include "base/log.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::PriorityLevelConfiguration;

constexpr std::string_view kCatchAll = "catch-all";
constexpr std::string_view kMandatory[] = {"exempt", kCatchAll};
constexpr std::chrono::seconds kLongestWait{15};
constexpr std::chrono::seconds kAdjustEvery{10};
// The weight of the previous demand at each adjustment.
constexpr double kMemory = 0.977;

bool IsMandatory(std::string_view name) {
  return std::find(std::begin(kMandatory), std::end(kMandatory), name) != std::end(kMandatory);
}

// Adds the mandatory objects that are missing, with their default spec.
template <class T>
List<T> WithMandatory(const List<T>& given, List<T> suggested) {
  List<T> all = given;
  for (T& each : suggested) {
    const auto same = [&each](const T& other) { return other.metadata.name == each.metadata.name; };
    if (!IsMandatory(each.metadata.name) || std::any_of(all.begin(), all.end(), same)) continue;
    all.push_back(std::move(each));
  }
  return all;
}

QueueSet::Options QueuesOf(const PriorityLevelConfiguration& level) {
  QueueSet::Options options;
  options.exempt = level.spec.type == flowcontrol::v1::kPriorityLevelEnablementExempt;
  if (!level.spec.limited) return options;
  const flowcontrol::v1::LimitResponse& response = level.spec.limited->limitResponse;
  if (response.type != flowcontrol::v1::kLimitResponseTypeQueue || !response.queuing) {
    return options;
  }
  options.queues = response.queuing->queues;
  options.hand_size = response.queuing->handSize;
  options.queue_length_limit = response.queuing->queueLengthLimit;
  return options;
}

SeatShare ShareOf(const PriorityLevelConfiguration& level) {
  SeatShare share;
  if (const auto& limited = level.spec.limited) {
    share.shares = limited->nominalConcurrencyShares.value_or(30);
    share.lendable_percent = limited->lendablePercent.value_or(0);
    if (limited->borrowingLimitPercent) share.borrowing_percent = *limited->borrowingLimitPercent;
  } else if (const auto& exempt = level.spec.exempt) {
    share.shares = exempt->nominalConcurrencyShares.value_or(0);
    share.lendable_percent = exempt->lendablePercent.value_or(0);
  }
  return share;
}

}  // namespace

PriorityAndFairness::PriorityAndFairness(Parts parts)
    : parts_(std::move(parts)),
      total_seats_(parts_.options.max_requests_inflight +
                   parts_.options.max_mutating_requests_inflight),
      metrics_(parts_.metrics, [this](const auto& emit) { ReadLevels(emit); }) {
  Configure({}, {});
}

PriorityAndFairness::~PriorityAndFairness() = default;

void PriorityAndFairness::ConfigureLevels(const List<PriorityLevelConfiguration>& given) {
  std::vector<SeatShare> shares;
  for (const PriorityLevelConfiguration& level : given) shares.push_back(ShareOf(level));
  const std::vector<SeatLimits> limits = ShareSeats(total_seats_, shares);
  Levels next;
  level_uids_.clear();
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].metadata.name;
    const QueueSet::Options queues = QueuesOf(given[i]);
    const auto known = levels_.find(name);
    Level level = known != levels_.end() ? std::move(known->second) : Level{};
    level.share = shares[i];
    level.exempt = queues.exempt;
    if (level.level != nullptr) {
      level.level->Configure(queues, limits[i]);
    } else {
      level.level = std::make_shared<PriorityLevel>(
          name,
          PriorityLevel::Hooks{.clock = parts_.clock,
                               .resume = [this](TicketPtr ticket) { Resume(ticket); },
                               .wake = [this] { poke_.Notify(); }},
          queues, limits[i]);
    }
    level_uids_[name] = given[i].metadata.uid;
    next[name] = std::move(level);
  }
  for (auto& [name, level] : levels_) {
    if (level.level == nullptr) continue;  // moved to `next` above
    // Executing requests finish; no new ones are sent to the level.
    level.level->Quiesce();
    quiescing_.push_back(std::move(level.level));
  }
  levels_ = std::move(next);
}

void PriorityAndFairness::Configure(const List<FlowSchema>& schemas,
                                    const List<PriorityLevelConfiguration>& levels) {
  auto table = std::make_shared<Table>();
  MutexLock lock(mu_);
  ConfigureLevels(WithMandatory(levels, BootstrapPriorityLevels()));
  for (const FlowSchema& schema : WithMandatory(schemas, BootstrapFlowSchemas())) {
    const auto level = levels_.find(schema.spec.priorityLevelConfiguration.name);
    if (level == levels_.end()) continue;  // its status is dangling
    auto flow = std::make_shared<Flow>();
    flow->name = schema.metadata.name;
    flow->uid = schema.metadata.uid;
    flow->level_uid = level_uids_[level->first];
    flow->spec = schema.spec;
    flow->level = level->second.level;
    flow->series = metrics_.Of(level->first, flow->name);
    if (flow->name == kCatchAll) table->rest = flow;
    table->flows.push_back(std::move(flow));
  }
  std::sort(table->flows.begin(), table->flows.end(), [](const FlowPtr& a, const FlowPtr& b) {
    return std::pair(a->spec.matchingPrecedence, std::string_view(a->name)) <
           std::pair(b->spec.matchingPrecedence, std::string_view(b->name));
  });
  DropQuiet();
  (void)table_.Exchange(std::move(table));
}

void PriorityAndFairness::DropQuiet() {
  std::erase_if(quiescing_, [](const auto& level) { return level->idle(); });
}

FlowPtr PriorityAndFairness::Match(const Call& call) const {
  const std::shared_ptr<const Table> table = table_.Load();
  for (const FlowPtr& flow : table->flows) {
    if (MatchesFlowSchema(flow->spec, call.user, call.info)) return flow;
  }
  return table->rest;
}

Work PriorityAndFairness::Estimate(const Call& call, const PriorityLevel& level) {
  WorkFacts facts;
  if (parts_.facts && IsListLike(call.info, call.query)) facts = parts_.facts(call.info);
  if (NotifiesWatchers(call.info)) {
    facts.watchers = watches_.Interested(call.info);
    metrics_.ObserveWatchers(facts.watchers);
  }
  facts.max_seats = level.max_seats();
  return EstimateWork(call.info, call.query, facts);
}

bool PriorityAndFairness::Enter(const std::shared_ptr<Call>& call) {
  const bool watch = call->info.verb == "watch";
  // Container streams are long-running and cheap.
  if (call->info.long_running && !watch) return true;
  const FlowPtr flow = Match(*call);
  call->AddHeader("x-kubernetes-pf-flowschema-uid", flow->uid);
  call->AddHeader("x-kubernetes-pf-prioritylevel-uid", flow->level_uid);
  std::string distinguisher(DistinguisherOf(flow->spec, call->user, call->info));
  auto ticket = std::make_shared<Ticket>(flow, std::move(distinguisher), call);
  ticket->flow = FlowHash(parts_.seed, flow->name, ticket->distinguisher);
  ticket->work = Estimate(*call, *flow->level);
  if (watch) call->KeepUntilEnd(watches_.Begin(call->info, call->query));
  const Context ctx = call->ctx();  // once the call waits, another thread may resume it
  ticket->parked = call;
  const PriorityLevel::Entry entry = flow->level->Enter(ticket);
  switch (entry.arrival) {
    case QueueSet::Arrival::kExecute:
      ticket->parked = nullptr;
      call->Hold(std::move(ticket));
      return true;
    case QueueSet::Arrival::kWait:
      LimitWaiting(ticket, ctx);
      return false;
    case QueueSet::Arrival::kNoSeat:
    case QueueSet::Arrival::kQueueFull:
      ticket->parked = nullptr;
      RejectTooManyRequests(*call, entry.retry_after);
      return false;
  }
  return true;
}

void PriorityAndFairness::LimitWaiting(const TicketPtr& ticket, const Context& ctx) {
  const Clock::SteadyTime deadline = ctx.deadline();
  const Clock::Duration time = deadline == Clock::kNever ? Clock::Duration(parts_.request_timeout)
                                                         : deadline - parts_.clock.Monotonic();
  const Clock::Duration limit = std::min<Clock::Duration>(time / 4, kLongestWait);
  const std::weak_ptr<Ticket> waiting = ticket;
  ticket->wait_limit =
      parts_.clock.After(std::max(limit, Clock::Duration::zero()),
                         [this, waiting] { CancelWait(waiting, RejectReason::kTimeOut); });
  ticket->on_stop = ctx.OnStop([this, waiting] { CancelWait(waiting, RejectReason::kCancelled); });
}

void PriorityAndFairness::CancelWait(const std::weak_ptr<Ticket>& waiting, RejectReason why) {
  const TicketPtr ticket = waiting.lock();
  if (ticket == nullptr) return;
  auto cancelled_wait = ticket->flow_schema->level->CancelWait(*ticket, why);
  if (!cancelled_wait) return;
  // This is a timer thread or an event loop, but a call that was moved may wait when it responds.
  const bool here = !cancelled_wait->call->may_wait || !parts_.run_on_worker;
  auto refuse = [call = std::move(cancelled_wait->call), wait = cancelled_wait->retry_after] {
    RejectTooManyRequests(*call, wait);
  };
  if (!here) return parts_.run_on_worker(std::move(refuse));
  refuse();
}

void PriorityAndFairness::Resume(const TicketPtr& ticket) {
  std::shared_ptr<Call> call = std::move(ticket->parked);
  call->Hold(ticket);
  parts_.resume(std::move(call));
}

void PriorityAndFairness::Run(Context& ctx) {
  Clock::SteadyTime adjust = parts_.clock.In(kAdjustEvery);
  while (!ctx.Done()) {
    Clock::SteadyTime next = adjust;
    for (const auto& level : AllLevels()) {
      if (const auto again = level->Poke()) next = std::min(next, *again);
    }
    const Clock::SteadyTime now = parts_.clock.Monotonic();
    if (now >= adjust) {
      Adjust();
      adjust = parts_.clock.In(kAdjustEvery);
      continue;
    }
    if (next > now) poke_.Await(ctx, next - now);
  }
}

void PriorityAndFairness::Adjust() {
  MutexLock lock(mu_);
  DropQuiet();
  double total = total_seats_;
  double least = 0;
  double wanted = 0;
  std::vector<SeatClaim> claims;
  std::vector<Level*> claimants;
  for (auto& [name, level] : levels_) {
    level.demand = level.level->TakeDemand();
    const double envelope =
        std::min(level.demand.high, level.demand.average + level.demand.deviation);
    level.smoothed = std::max(envelope, kMemory * level.smoothed + (1 - kMemory) * envelope);
    const SeatLimits limits = level.level->limits();
    if (level.exempt) {
      // Exempt levels take what they need; the rest is divided.
      level.target = std::max<double>(limits.lower, level.demand.high);
      total -= level.target;
      continue;
    }
    SeatClaim claim;
    claim.lower =
        std::max<double>(limits.lower, std::min<double>(limits.nominal, level.demand.high));
    claim.upper = std::max<double>(limits.upper, claim.lower);
    claim.target = std::max(claim.lower, level.smoothed);
    level.target = claim.target;
    least += limits.lower;
    wanted += claim.lower;
    claims.push_back(claim);
    claimants.push_back(&level);
  }
  if (wanted > total) {
    // Even the used nominal seats exceed the total: reduce them towards the levels' lower limits.
    for (size_t i = 0; i < claims.size(); ++i) {
      claims[i].upper = claims[i].target = claims[i].lower;
      claims[i].lower = claimants[i]->level->limits().lower;
    }
    total = std::max(total, least);
  }
  const SeatDivision division = DivideSeats(total, claims);
  metrics_.SetFairFraction(division.fair_fraction);
  for (size_t i = 0; i < claimants.size(); ++i) {
    claimants[i]->level->SetSeats(static_cast<int>(std::lround(division.seats[i])));
  }
}

std::vector<std::shared_ptr<PriorityLevel>> PriorityAndFairness::AllLevels() const {
  std::vector<std::shared_ptr<PriorityLevel>> all;
  MutexLock lock(mu_);
  for (const auto& [name, level] : levels_) all.push_back(level.level);
  all.insert(all.end(), quiescing_.begin(), quiescing_.end());
  return all;
}

void PriorityAndFairness::ReadLevels(const std::function<void(const LevelSample&)>& emit) const {
  MutexLock lock(mu_);
  for (const auto& [name, level] : levels_) {
    const SeatLimits limits = level.level->limits();
    LevelSample sample{};
    sample.name = name;
    sample.nominal = limits.nominal;
    sample.lower = limits.lower;
    sample.upper = limits.upper;
    level.level->Inspect([&sample](const QueueSet& queues, const PriorityLevel::Counts&) {
      sample.current = queues.seats();
      sample.virtual_time = queues.virtual_time();
    });
    sample.demand_high = level.demand.high;
    sample.demand_average = level.demand.average;
    sample.demand_deviation = level.demand.deviation;
    sample.demand_smoothed = level.smoothed;
    sample.target = level.target;
    emit(sample);
  }
}

}  // namespace cox::apiserver
