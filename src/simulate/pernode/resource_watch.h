// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/client.h"
#include "simulate/pernode/backoff.h"
#include "simulate/pernode/event_reader.h"
#include "simulate/pernode/node_connection.h"

namespace cox::simulate {

// Receives what a watch observes. Called on the loop's thread.
class WatchHandler {
 public:
  virtual ~WatchHandler() = default;
  // The objects that exist follow; objects that are not among them do not exist any more.
  virtual void OnListBegin() = 0;
  virtual void OnEvent(const WatchedEvent& event, const ObjectView& view) = 0;
  // All objects that existed at the time of the list were delivered.
  virtual void OnListEnd() = 0;
};

// Watches objects as a kubelet's informer does: the existing objects as initial events (a streaming
// list), then changes. After the end of a watch or a connection loss it resumes from the last
// resource version, after 410 it begins again; both with backoff.
//
// Memory: no object is kept; events are not decoded unless the handler does it.
// Threads: the loop's thread.
// Ownership: owned by a shared_ptr. Destruction, or Stop, ends the watch.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
 public:
  // `path`: "/api/v1/pods"; `selector`: "fieldSelector=..." or empty, encoded for a URL. `handler`
  // may be null: then the watch only keeps its position. The connection and the handler outlive
  // this object.
  ResourceWatch(NodeConnection& connection, WatchKind kind, std::string path, std::string selector,
                WatchHandler* handler);
  ~ResourceWatch();

  void Start();
  // Reads all objects again.
  void Relist();

 private:
  class Attempt;

  void Open();
  std::string Target() const;
  void OnHeaders(int code);
  void OnData(std::string_view bytes);
  void OnEnd(const Status& status);
  bool TakeEvent(const WatchedEvent& event);
  void TakeError(int code);
  void TakeBookmark(const ObjectView& view);
  // Ends the current attempt, and begins the next one after `delay`.
  void OpenAfter(Clock::Duration delay);
  void OpenAfterBackoff();
  void End();

  NodeConnection& connection_;
  const WatchKind kind_;
  const std::string path_;
  const std::string selector_;
  WatchHandler* const handler_;
  // The version of the last complete list or of the last event after it. Empty: list next.
  std::string version_;
  bool listing_ = false;  // the current attempt delivers initial events
  bool listed_ = false;   // a list was completed before
  bool open_ = false;     // the response is a stream of events
  int code_ = 0;          // of the response
  Clock::SteadyTime began_{};
  EventReader reader_;
  Backoff backoff_;
  LoopTimer timer_;
  std::shared_ptr<Attempt> attempt_;
  std::unique_ptr<net::Observation> observation_;
};

}  // namespace cox::simulate
