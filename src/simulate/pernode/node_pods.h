// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/core/v1.h"
#include "simulate/pernode/backoff.h"
#include "simulate/pernode/node_connection.h"
#include "simulate/pernode/pod_references.h"
#include "simulate/pernode/resource_watch.h"
#include "simulate/pod_life.h"

namespace cox::simulate {

// The Pods of one node: watches them and writes what pod_life.h decides.
//
// Memory: a Pod that waits for nothing costs some hundred bytes; its fields are kept, encoded, only
//   until its next write has succeeded.
// Writes: one at a time per Pod, few per node (Shard::pod_writes_per_node), and a limited number
//   per loop (Shard::pod_writes).
// Threads: the loop's thread.
class NodePods final : public WatchHandler {
 public:
  NodePods(NodeConnection& connection, int number, std::string node);
  ~NodePods() override;

  void Start();
  // While paused, events are counted but no Pod is written. Resuming reads all Pods again.
  void Pause();
  void Resume();

  void OnListBegin() override;
  void OnEvent(const WatchedEvent& event, const ObjectView& view) override;
  void OnListEnd() override;

 private:
  struct Entry {
    std::string uid;
    std::string address;  // that Pods of this node share; empty: none
    std::string bytes;    // KeepUsedFields, encoded; empty: the Pod waits only for events
    std::vector<PodReference> references;
    uint32_t list = 0;  // the list that contained it last
    bool ready = false;
    bool writing = false;
    bool queued = false;
    bool changed = false;         // an event arrived during the write
    int64_t version = 0;          // resource version of the last event
    int64_t written_version = 0;  // of the last write
    Clock::WallTime seen{};
    // Exists only while a step or a retry waits for its time.
    std::unique_ptr<LoopTimer> timer;
    std::unique_ptr<Backoff> backoff;
  };
  using Entries = std::unordered_map<std::string, Entry>;  // by "namespace/name"

  void Update(Entry& entry, core::v1::Pod& pod);
  void Remove(Entries::iterator at);
  void ReleaseAddress(Entry& entry);
  // The next step of the Pod. Keeps `pod` in the entry if the step is not done.
  void Evaluate(const std::string& key, Entry& entry, const core::v1::Pod& pod);
  void EvaluateKept(const std::string& key, Entry& entry);
  void EvaluateAfter(const std::string& key, Entry& entry, Clock::Duration delay);
  void Enqueue(const std::string& key, Entry& entry);
  // Starts queued writes while there are permits.
  void Pump();
  // A permit arrived: starts the next queued write. False if there is none.
  bool StartQueued();
  void Write(const std::string& key, Entry& entry, const core::v1::Pod& pod, PodStep& step);
  void OnWritten(const std::string& key, const std::string& uid, PodStep::Action action,
                 const Reply& reply);
  bool SetAddress(Entry& entry, const core::v1::Pod& pod, PodStep& step);
  PodStep NextOf(const Entry& entry, const core::v1::Pod& pod) const;

  NodeConnection& connection_;
  Shard& shard_;
  const int number_;
  const std::string node_;
  const std::string host_ip_;
  ReferenceWatches references_;
  std::shared_ptr<bool> alive_;
  bool paused_ = false;
  // During a list, nothing is written: Pods that follow may have addresses that are in use.
  bool listing_ = false;
  uint32_t list_ = 0;
  int in_flight_ = 0;
  int requested_ = 0;  // permits that were requested and not granted yet
  Entries pods_;
  std::deque<std::string> queue_;
  std::shared_ptr<ResourceWatch> watch_;
};

}  // namespace cox::simulate
