// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/filters/fairness/fairness.h"
#include "object/scalar/time.h"

// The debug dumps of APF, in upstream's format: cells separated by commas, in aligned columns.
namespace cox::apiserver {
namespace {

using Row = std::vector<std::string>;

constexpr std::string_view kPath = "/debug/api_priority_and_fairness/";
constexpr size_t kNarrowest = 8;

std::string Columns(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), kNarrowest);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size() + 2);
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 == row.size()) break;
      text += ',';
      text.append(widths[i] - row[i].size() - 1, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string Number(auto value) { return std::to_string(value); }
std::string YesNo(bool value) { return value ? "true" : "false"; }

// Upstream's format.
std::string SeatSeconds(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.8fss", value);
  return text;
}

std::string Moment(Clock::WallTime at) {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  const auto whole = std::chrono::floor<seconds>(at.time_since_epoch());
  const auto rest = std::chrono::duration_cast<nanoseconds>(at.time_since_epoch() - whole).count();
  std::string text = Time::FromUnix(whole.count()).ToString();
  if (rest == 0) return text;
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%09lld", static_cast<long long>(rest));
  std::string digits = fraction;
  digits.erase(digits.find_last_not_of('0') + 1);
  return text.insert(text.size() - 1, digits);  // before the Z
}

// Converts steady times to wall clock times.
class Calendar {
 public:
  explicit Calendar(const Clock& clock) : now_(clock.Now()), steady_(clock.Monotonic()) {}
  std::string operator()(Clock::SteadyTime at) const {
    return Moment(now_ - std::chrono::duration_cast<Clock::WallTime::duration>(steady_ - at));
  }

 private:
  const Clock::WallTime now_;
  const Clock::SteadyTime steady_;
};

class RequestRows {
 public:
  RequestRows(const std::string& level, const Calendar& calendar, bool with_details,
              std::vector<Row>& rows)
      : level_(level), calendar_(calendar), with_details_(with_details), rows_(rows) {}

  // Called under the level's lock. Releasing the last reference to a call takes that lock too, so
  // references are kept until this object is destroyed.
  void Add(const FlowRequestList& list, int queue, bool waits) {
    int index = 0;
    for (const FlowRequest* each = list.front(); each != nullptr; each = each->next, ++index) {
      const auto& ticket = static_cast<const Ticket&>(*each);
      Row row = {level_,
                 ticket.flow_schema->name,
                 Number(queue),
                 Number(waits ? index : -1),
                 ticket.distinguisher,
                 calendar_(ticket.arrived),
                 Number(ticket.work.seats),
                 Number(ticket.work.final_seats),
                 Duration{ticket.work.after.count()}.ToString(),
                 waits ? "0001-01-01T00:00:00Z" : calendar_(ticket.started)};
      if (with_details_) AddDetails(ticket, row);
      rows_.push_back(std::move(row));
    }
  }

 private:
  void AddDetails(const Ticket& ticket, Row& row) {
    // Immutable since before the request reached its level. Null if its response is being sent.
    std::shared_ptr<const Call> call = ticket.call.lock();
    if (call == nullptr) return;
    const RequestInfo& info = call->info;
    for (const std::string* cell : {&call->user.name, &info.verb, &info.path, &info.namespace_,
                                    &info.name, &info.version, &info.resource, &info.subresource}) {
      row.push_back(*cell);
    }
    kept_.push_back(std::move(call));
  }

  const std::string& level_;
  const Calendar& calendar_;
  const bool with_details_;
  std::vector<Row>& rows_;
  std::vector<std::shared_ptr<const Call>> kept_;
};

}  // namespace

std::string PriorityAndFairness::DumpLevels() const {
  std::vector<Row> rows = {{"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing",
                            "WaitingRequests", "ExecutingRequests", "DispatchedRequests",
                            "RejectedRequests", "TimedoutRequests", "CancelledRequests"}};
  for (const auto& level : AllLevels()) {
    level->Inspect([&](const QueueSet& queues, const PriorityLevel::Counts& counts) {
      const auto active = std::count_if(queues.queues().begin(), queues.queues().end(),
                                        [](const auto& queue) { return queue->active(); });
      rows.push_back({level->name(), Number(active), YesNo(queues.idle()), YesNo(counts.quiescing),
                      Number(queues.waiting()), Number(queues.executing()),
                      Number(counts.dispatched), Number(counts.refused), Number(counts.timed_out),
                      Number(counts.cancelled)});
    });
  }
  return Columns(rows);
}

std::string PriorityAndFairness::DumpQueues() const {
  std::vector<Row> rows = {{"PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests",
                            "SeatsInUse", "NextDispatchR", "InitialSeatsSum", "MaxSeatsSum",
                            "TotalWorkSum"}};
  for (const auto& level : AllLevels()) {
    level->Inspect([&](const QueueSet& queues, const PriorityLevel::Counts&) {
      for (size_t i = 0; i < queues.queues().size(); ++i) {
        const FlowQueue& queue = *queues.queues()[i];
        rows.push_back({level->name(), Number(i), Number(queue.waiting.size()),
                        Number(queue.executing.size()), Number(queue.seats_in_use),
                        SeatSeconds(queue.next_r), Number(queue.waiting_seats),
                        Number(queue.waiting_max_seats), SeatSeconds(queue.waiting_work)});
      }
    });
  }
  return Columns(rows);
}

std::string PriorityAndFairness::DumpRequests(bool with_details) const {
  std::vector<Row> rows = {{"PriorityLevelName", "FlowSchemaName", "QueueIndex",
                            "RequestIndexInQueue", "FlowDistingsher", "ArriveTime", "InitialSeats",
                            "FinalSeats", "AdditionalLatency", "StartTime"}};
  if (with_details) {
    for (const char* column : {"UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion",
                               "Resource", "SubResource"}) {
      rows.front().push_back(column);
    }
  }
  const Calendar calendar(parts_.clock);
  for (const auto& level : AllLevels()) {
    RequestRows out(level->name(), calendar, with_details, rows);
    level->Inspect([&](const QueueSet& queues, const PriorityLevel::Counts&) {
      out.Add(queues.unqueued(), -1, /*waits=*/false);
      for (size_t i = 0; i < queues.queues().size(); ++i) {
        out.Add(queues.queues()[i]->executing, static_cast<int>(i), /*waits=*/false);
        out.Add(queues.queues()[i]->waiting, static_cast<int>(i), /*waits=*/true);
      }
    });
  }
  return Columns(rows);
}

bool PriorityAndFairness::HandleDebug(Call& call) const {
  std::string_view path = call.info.path;
  if (!path.starts_with(kPath)) return false;
  path.remove_prefix(kPath.size());
  if (path == "dump_priority_levels") return call.RespondText(200, DumpLevels()), true;
  if (path == "dump_queues") return call.RespondText(200, DumpQueues()), true;
  if (path == "dump_requests") {
    const bool details = !call.query.Get("includeRequestDetails").empty();
    return call.RespondText(200, DumpRequests(details)), true;
  }
  return false;
}

}  // namespace cox::apiserver
