// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/work_estimate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/filters/fairness/watch_counts.h"

namespace cox::apiserver {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct TargetRequest {
  TargetRequest(const std::string& method, const std::string& target)
      : query(Query::Parse(target.find('?') == target.npos ? std::string()
                                                           : target.substr(target.find('?') + 1))),
        info(*ParseRequestInfo(method, target, query)) {}
  Query query;
  RequestInfo info;
};

TEST(EstimateWork, ListsCostByBytesRead) {
  const struct {
    std::string_view target;
    WorkFacts facts;
    int seats;
  } kCases[] = {
      {"/api/v1/pods", {.known = true, .objects = 0, .object_bytes = 0, .max_seats = 50}, 1},
      {"/api/v1/pods", {.known = true, .objects = 100, .object_bytes = 1000, .max_seats = 50}, 1},
      {"/api/v1/pods", {.known = true, .objects = 101, .object_bytes = 1000, .max_seats = 50}, 2},
      {"/api/v1/pods", {.known = true, .objects = 900, .object_bytes = 5000, .max_seats = 50}, 45},
      // Limited by the level's maximum per request and by the global maximum.
      {"/api/v1/pods", {.known = true, .objects = 9000, .object_bytes = 5000, .max_seats = 37}, 37},
      {"/api/v1/pods",
       {.known = true, .objects = INT64_MAX, .object_bytes = INT64_MAX, .max_seats = 1000},
       100},
      {"/api/v1/pods", {.known = true, .objects = 9000, .object_bytes = 5000, .max_seats = 0}, 1},
      // A page costs less, but with a selector all objects are read.
      {"/api/v1/pods?limit=500",
       {.known = true, .objects = 90000, .object_bytes = 1000, .max_seats = 50},
       5},
      {"/api/v1/pods?limit=500&labelSelector=a%3Db",
       {.known = true, .objects = 3000, .object_bytes = 1000, .max_seats = 50},
       30},
      {"/api/v1/pods?limit=x",
       {.known = true, .objects = 3000, .object_bytes = 1000, .max_seats = 50},
       30},
      // If the sizes are unknown, the count determines the cost; if nothing is known, it is one
      // seat.
      {"/api/v1/pods", {.known = true, .objects = 950, .object_bytes = 0, .max_seats = 50}, 10},
      {"/api/v1/pods", {.known = false, .objects = 9500, .max_seats = 50}, 1},
      // A list with a name is a get.
      {"/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx",
       {.known = true, .objects = 9000, .object_bytes = 5000, .max_seats = 50},
       1},
      {"/api/v1/namespaces/a/pods/x",
       {.known = true, .objects = 9000, .object_bytes = 5000, .max_seats = 50},
       1},
      // A watch with initial events costs as much as a list.
      {"/api/v1/pods?watch=1&sendInitialEvents=true",
       {.known = true, .objects = 900, .object_bytes = 1000, .max_seats = 50},
       9},
      {"/api/v1/pods?watch=1",
       {.known = true, .objects = 900, .object_bytes = 1000, .max_seats = 50},
       1},
      {"/healthz", {.max_seats = 50}, 1},
  };
  for (const auto& c : kCases) {
    const TargetRequest request("GET", std::string(c.target));
    const Work work = EstimateWork(request.info, request.query, c.facts);
    EXPECT_EQ(work.seats, c.seats) << c.target << " " << c.facts.objects;
    EXPECT_EQ(work.final_seats, 0) << c.target;
  }
}

TEST(EstimateWork, WritesCostByWatchers) {
  const struct {
    std::string_view method, target;
    int64_t watchers;
    int max_seats;
    int final_seats;
    Clock::Duration after;
  } kCases[] = {
      {"POST", "/api/v1/namespaces/a/pods", 0, 50, 0, {}},
      {"POST", "/api/v1/namespaces/a/pods", 9, 50, 0, {}},
      {"POST", "/api/v1/namespaces/a/pods", 10, 50, 1, milliseconds(5)},
      {"PUT", "/api/v1/namespaces/a/pods/x", 95, 50, 10, milliseconds(5)},
      // The same work with at most ten seats takes longer.
      {"PATCH", "/api/v1/namespaces/a/pods/x", 1000, 50, 10, milliseconds(50)},
      {"DELETE", "/api/v1/namespaces/a/pods/x", 40, 2, 2, milliseconds(10)},
      {"DELETE", "/api/v1/namespaces/a/pods", 1000, 50, 0, {}},
      {"GET", "/api/v1/namespaces/a/pods/x", 1000, 50, 0, {}},
      {"POST", "/api/v1/namespaces/a/serviceaccounts/x/token", 1000, 50, 0, {}},
  };
  for (const auto& c : kCases) {
    const TargetRequest request{std::string(c.method), std::string(c.target)};
    const Work work = EstimateWork(request.info, request.query,
                                   {.watchers = c.watchers, .max_seats = c.max_seats});
    EXPECT_EQ(work.seats, 1) << c.target;
    EXPECT_EQ(work.final_seats, c.final_seats) << c.method << " " << c.watchers;
    EXPECT_EQ(work.after, c.after) << c.method << " " << c.watchers;
  }
}

TEST(WatchCounts, CountsWatchesThatReceiveWrite) {
  WatchCounts counts;
  std::vector<std::shared_ptr<void>> watches;
  for (const char* target :
       {"/api/v1/pods?watch=1", "/api/v1/pods?watch=1", "/api/v1/namespaces/a/pods?watch=1",
        "/api/v1/namespaces/b/pods?watch=1",
        "/api/v1/namespaces/a/pods?watch=1&fieldSelector=metadata.name%3Dx",
        "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1", "/apis/apps/v1/pods?watch=1"}) {
    const TargetRequest request("GET", target);
    watches.push_back(counts.Begin(request.info, request.query));
  }
  EXPECT_EQ(counts.Interested(TargetRequest("PUT", "/api/v1/namespaces/a/pods/x").info), 4);
  EXPECT_EQ(counts.Interested(TargetRequest("PUT", "/api/v1/namespaces/a/pods/y").info), 3);
  EXPECT_EQ(counts.Interested(TargetRequest("POST", "/api/v1/namespaces/b/pods").info), 3);
  EXPECT_EQ(counts.Interested(TargetRequest("POST", "/api/v1/namespaces/b/secrets").info), 0);
  EXPECT_EQ(counts.Interested(TargetRequest("PUT", "/api/v1/nodes/x").info), 0);
  watches.clear();
  EXPECT_EQ(counts.Interested(TargetRequest("PUT", "/api/v1/namespaces/a/pods/x").info), 0);
}

}  // namespace
}  // namespace cox::apiserver
