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
#include "base/notification.h"
#include "base/published.h"

namespace cox::apiserver {

class Registry;

// API priority and fairness (APF): decides which requests execute, wait in a queue, or are
// rejected.
//
//   FlowSchemas        assign a request to a flow; the first match by precedence applies
//   priority levels    each have a share of the server's seats, and lend what they do not use
//   queues             within a level, so that one flow cannot starve others (queue_set.h)
//   work               a request takes seats according to its cost (work_estimate.h)
//
// A call that finds free seats continues immediately. Otherwise it is parked, without a thread, and
// resumed when seats are free. It is rejected with 429 and Retry-After if its queue is full, if it
// has waited a quarter of its timeout (15 s at most), or if the client disconnects. Seats are
// released when the connection has accepted the response, so that a list for a slow client counts
// as long as it occupies memory.
//
// Guarantees: Every response contains the UIDs of the flow schema and level
//   (X-Kubernetes-PF-*-UID). The schemas and levels "exempt" and "catch-all" always exist, even
//   before objects have been read.
// Threads: All methods may be called concurrently. Enter takes about a microsecond: the table of
//   flows is immutable, and each level has one lock.
// Lifetime: Must outlive the calls that went through it.
class PriorityAndFairness final : public RequestGate {
 public:
  struct Parts {
    Clock& clock;
    MetricsRegistry& metrics;
    FairnessOptions options;
    // Continues a call that has waited, on another thread: it must not block.
    std::function<void(std::shared_ptr<Call>)> resume;
    // Runs work that may block. Null: on the calling thread.
    std::function<void(std::function<void()>)> run_on_worker = {};
    // The number and size of the objects under a path. Null: unknown. May be called on event loops.
    std::function<WorkFacts(const RequestInfo&)> facts = {};
    std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
    uint64_t seed = 0;  // for flow hashes
  };
  explicit PriorityAndFairness(Parts parts);
  ~PriorityAndFairness() override;

  bool Enter(const std::shared_ptr<Call>& call) override;

  // Replaces the configuration.
  void Configure(const List<flowcontrol::v1::FlowSchema>& schemas,
                 const List<flowcontrol::v1::PriorityLevelConfiguration>& levels);

  // Runs until `ctx` stops: redistributes seats every 10 s, and releases seats that are held for a
  // while after a write.
  void Run(Context& ctx);
  // Redistributes seats once: from levels with less demand to levels with more.
  void Adjust();

  // Debug output for /debug/api_priority_and_fairness/dump_*: rows with aligned columns.
  std::string DumpLevels() const;
  std::string DumpQueues() const;
  std::string DumpRequests(bool with_details) const;
  // Responds if the path is one of the debug paths.
  bool HandleDebug(Call& call) const;

 private:
  struct Table {
    std::vector<FlowPtr> flows;  // in matching order
    FlowPtr rest;                // catch-all, for requests without a match
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
  // REQUIRES: the ticket is in a queue.
  void LimitWaiting(const TicketPtr& ticket, const Context& ctx);
  void CancelWait(const std::weak_ptr<Ticket>& waiting, RejectReason why);
  void Resume(const TicketPtr& ticket);
  void ConfigureLevels(const List<flowcontrol::v1::PriorityLevelConfiguration>& levels)
      COX_REQUIRES(mu_);
  void DropQuiet() COX_REQUIRES(mu_);
  void ReadLevels(const std::function<void(const LevelSample&)>& emit) const;
  // All levels by name, including quiescing ones.
  std::vector<std::shared_ptr<PriorityLevel>> AllLevels() const;

  const Parts parts_;
  const int total_seats_;
  WatchCounts watches_;
  Notification poke_;
  Published<const Table> table_;
  mutable Mutex mu_;
  Levels levels_ COX_GUARDED_BY(mu_);
  std::map<std::string, std::string> level_uids_ COX_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<PriorityLevel>> quiescing_ COX_GUARDED_BY(mu_);
  FairnessMetrics metrics_;  // last: scrapes read the other members
};

}  // namespace cox::apiserver
