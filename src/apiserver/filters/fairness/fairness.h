// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/flowcontrol/v1.h"
#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/fairness/priority_level.h"
#include "apiserver/filters/fairness/watch_counts.h"
#include "base/doorbell.h"
#include "base/published.h"

namespace cox::apiserver {

class Registry;

// API priority and fairness: who of many may be served first, and who has to wait or to go.
//
//   FlowSchemas        say which flow a request belongs to, the first that matches by precedence
//   priority levels    each have a part of the server's seats, and lend what they do not use
//   queues             within a level, so that one flow cannot keep others out (queue_set.h)
//   work               a request takes as many seats as it is heavy (work_estimate.h)
//
// A call that finds seats goes on at once. One that does not is parked, without a thread, and
// resumed when its turn comes; it is refused with 429 and Retry-After when its queue is full, when
// it has waited a quarter of its time (15 s at most), or when its peer went away. Seats are given
// back when the answer has been taken by the connection: so a list that a slow peer reads counts
// for as long as it occupies memory.
//
// Guarantees: every answer names the flow schema and level (X-Kubernetes-PF-*-UID). There are
// always
//   the schemas and levels "exempt" and "catch-all", also before objects have been read.
// Threads: all methods may be called concurrently. Enter costs about a microsecond: the table of
//   flows is immutable, and each level has one lock.
// Lifetime: outlives the calls that went through it.
class PriorityAndFairness final : public RequestGate {
 public:
  struct Parts {
    Clock& clock;
    MetricsRegistry& metrics;
    FairnessOptions options;
    // Takes a call that has waited on its way, elsewhere: it must not block.
    std::function<void(std::shared_ptr<Call>)> resume;
    // Runs what may block. Null: here and now.
    std::function<void(std::function<void()>)> elsewhere = {};
    // How much there is to read: objects under a path. Null: unknown. May be called on loops.
    std::function<WorkFacts(const RequestInfo&)> facts = {};
    std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
    uint64_t seed = 0;  // of flow hashes
  };
  explicit PriorityAndFairness(Parts parts);
  ~PriorityAndFairness() override;

  bool Enter(const std::shared_ptr<Call>& call) override;

  // The objects as they are from now on.
  void Configure(const List<flowcontrol::v1::FlowSchema>& schemas,
                 const List<flowcontrol::v1::PriorityLevelConfiguration>& levels);

  // Keeps seats moving until `ctx` stops: divides them anew every 10 s, gives back those that are
  // held for a while after a write.
  void Run(Context& ctx);
  // One division: from levels that need less to those that need more.
  void Adjust();

  // For people who look: /debug/api_priority_and_fairness/dump_*. Lines of cells in columns.
  std::string DumpLevels() const;
  std::string DumpQueues() const;
  std::string DumpRequests(bool with_details) const;
  // Answers if the path is one of theirs.
  bool HandleDebug(Call& call) const;

 private:
  struct Table {
    std::vector<FlowPtr> flows;  // in the order they are tried
    FlowPtr rest;                // for what none is about: catch-all
  };
  struct Level {
    std::shared_ptr<PriorityLevel> level;
    SeatShare share;
    bool exempt = false;
    double smoothed = 0;  // demand
    SeatDemand::Summary demand = {};
    double target = 0;
  };
  using Levels = std::map<std::string, Level>;

  FlowPtr Match(const Call& call) const;
  Work Estimate(const Call& call, const PriorityLevel& level);
  // After the ticket has a place in a queue.
  void LimitWaiting(const TicketPtr& ticket, const Context& ctx);
  void GiveUp(const std::weak_ptr<Ticket>& waiting, Refusal why);
  void Resume(const TicketPtr& ticket);
  void ConfigureLevels(const List<flowcontrol::v1::PriorityLevelConfiguration>& levels)
      COX_REQUIRES(mu_);
  void DropQuiet() COX_REQUIRES(mu_);
  void ReadLevels(const std::function<void(const LevelSample&)>& emit) const;
  // All there are, those that quiesce included, by name.
  std::vector<std::shared_ptr<PriorityLevel>> AllLevels() const;

  const Parts parts_;
  const int total_seats_;
  WatchCounts watches_;
  Doorbell poke_;
  Published<const Table> table_;
  mutable Mutex mu_;
  Levels levels_ COX_GUARDED_BY(mu_);
  std::map<std::string, std::string> level_uids_ COX_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<PriorityLevel>> quiescing_ COX_GUARDED_BY(mu_);
  FairnessMetrics metrics_;  // last: scrapes read the rest
};

}  // namespace cox::apiserver
