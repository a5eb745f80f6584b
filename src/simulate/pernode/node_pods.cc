// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/node_pods.h"

#include <charconv>
#include <utility>

#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/core/pod_state.h"
#include "simulate/addresses.h"

namespace cox::simulate {
namespace {

using core::v1::Pod;
using Action = PodStep::Action;

std::string PodKeyOf(const ObjectView& view) {
  std::string key(view.ns);
  key += '/';
  key += view.name;
  return key;
}

// "default/web" is "/api/v1/namespaces/default/pods/web".
std::string PathOf(const std::string& key) {
  const size_t slash = key.find('/');
  return "/api/v1/namespaces/" + key.substr(0, slash) + "/pods" + key.substr(slash);
}

int64_t VersionOf(std::string_view text) {
  int64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

std::string DeleteBody(const std::string& uid) {
  std::string body = R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
                     R"("preconditions":{"uid":)";
  json::WriteString(uid, &body);
  return body + "}}";
}

}  // namespace

NodePods::NodePods(NodeConnection& connection, int number, std::string node)
    : connection_(connection),
      shard_(connection.shard()),
      number_(number),
      node_(std::move(node)),
      host_ip_(NodeAddress(number)),
      references_(connection),
      alive_(std::make_shared<bool>(true)) {}

NodePods::~NodePods() { alive_.reset(); }

void NodePods::Start() {
  watch_ = std::make_shared<ResourceWatch>(connection_, WatchKind::kPods, "/api/v1/pods",
                                           "fieldSelector=spec.nodeName%3D" + node_, this);
  watch_->Start();
}

void NodePods::Pause() { paused_ = true; }

void NodePods::Resume() {
  if (std::exchange(paused_, false) && watch_ != nullptr) watch_->Relist();
}

void NodePods::OnListBegin() {
  ++list_;
  listing_ = true;
}

void NodePods::OnListEnd() {
  listing_ = false;
  for (auto at = pods_.begin(); at != pods_.end();) {
    const auto entry = at++;
    if (entry->second.list != list_) Remove(entry);
  }
  for (auto& [key, entry] : pods_) {
    if (!entry.bytes.empty() && !entry.writing && !entry.queued) EvaluateKept(key, entry);
  }
}

void NodePods::OnEvent(const WatchedEvent& event, const ObjectView& view) {
  const std::string key = PodKeyOf(view);
  const auto found = pods_.find(key);
  if (event.type == WatchedEvent::Type::kDeleted) {
    if (found != pods_.end()) Remove(found);
    return;
  }
  // Another Pod with the same name: the deletion was missed.
  if (found != pods_.end() && found->second.uid != view.uid) Remove(found);
  Result<Pod> pod = proto::Decode<Pod>(event.object);
  if (!pod.ok()) return;
  const auto [at, added] = pods_.try_emplace(key);
  Entry& entry = at->second;
  if (added) {
    shard_.metrics.pods.Inc();
    entry.uid = view.uid;
    entry.seen = shard_.clock.Now();
    entry.references = ReferencesOf(*pod);
    for (const PodReference& reference : entry.references) references_.Add(reference);
  }
  entry.list = list_;
  KeepUsedFields(*pod);
  Update(entry, *pod);
  // Older than the response to the last write: the event of that write follows.
  entry.version = VersionOf(view.resource_version);
  if (entry.version < entry.written_version) return;
  if (listing_ || entry.writing || entry.queued) {
    entry.changed = true;
    entry.bytes = proto::Encode(*pod);
    return;
  }
  Evaluate(key, entry, *pod);
}

void NodePods::Update(Entry& entry, Pod& pod) {
  const bool terminal = core_rules::IsTerminal(pod);
  const bool ready = !terminal && core_rules::IsReady(pod);
  if (ready != entry.ready) shard_.metrics.ready_pods.Add(ready ? 1 : -1);
  entry.ready = ready;
  if (terminal) return ReleaseAddress(entry);
  if (entry.address.empty() && !pod.spec.hostNetwork && !pod.status.podIP.empty()) {
    shard_.addresses.Keep(number_, pod.status.podIP);
    entry.address = pod.status.podIP;
  }
}

void NodePods::Remove(Entries::iterator at) {
  Entry& entry = at->second;
  ReleaseAddress(entry);
  if (entry.ready) shard_.metrics.ready_pods.Dec();
  shard_.metrics.pods.Dec();
  for (const PodReference& reference : entry.references) references_.Remove(reference);
  pods_.erase(at);
}

void NodePods::ReleaseAddress(Entry& entry) {
  if (!entry.address.empty()) shard_.addresses.Release(number_, entry.address);
  entry.address.clear();
}

PodStep NodePods::NextOf(const Entry& entry, const Pod& pod) const {
  const Result<DesiredPodState> desired = DesiredStateOf(pod, shard_.options);
  if (!desired.ok()) {
    COX_ERROR(shard_.log, desired.status(), "Pod is not simulated",
              {"pod", pod.metadata.namespace_ + "/" + pod.metadata.name});
    return {};
  }
  return NextStep(pod, *desired, host_ip_, entry.seen, shard_.clock.Now());
}

void NodePods::Evaluate(const std::string& key, Entry& entry, const Pod& pod) {
  entry.changed = false;
  entry.timer.reset();
  entry.bytes = std::string();
  if (paused_) return;
  PodStep step = NextOf(entry, pod);
  if (step.action != Action::kNothing) {
    if (in_flight_ + requested_ < shard_.pod_writes_per_node && queue_.empty() &&
        shard_.pod_writes.TryAcquire()) {
      entry.bytes = proto::Encode(pod);  // for a retry
      return Write(key, entry, pod, step);
    }
    entry.bytes = proto::Encode(pod);
    return Enqueue(key, entry);
  }
  if (!step.again) return;
  entry.bytes = proto::Encode(pod);
  EvaluateAfter(key, entry, *step.again);
}

void NodePods::EvaluateKept(const std::string& key, Entry& entry) {
  const Result<Pod> pod = proto::Decode<Pod>(std::exchange(entry.bytes, {}));
  if (pod.ok()) Evaluate(key, entry, *pod);
}

void NodePods::EvaluateAfter(const std::string& key, Entry& entry, Clock::Duration delay) {
  entry.timer = std::make_unique<LoopTimer>();
  entry.timer->Set(shard_, delay, [this, key] {
    const auto found = pods_.find(key);
    if (found == pods_.end()) return;
    if (!found->second.writing && !found->second.queued) EvaluateKept(key, found->second);
  });
}

void NodePods::Enqueue(const std::string& key, Entry& entry) {
  entry.queued = true;
  queue_.push_back(key);
  Pump();
}

void NodePods::Pump() {
  while (in_flight_ + requested_ < shard_.pod_writes_per_node &&
         static_cast<size_t>(requested_) < queue_.size()) {
    ++requested_;
    shard_.pod_writes.Acquire([this, alive = std::weak_ptr(alive_)] {
      if (alive.expired()) return false;
      --requested_;
      return StartQueued();
    });
  }
}

bool NodePods::StartQueued() {
  while (!queue_.empty()) {
    const std::string key = std::move(queue_.front());
    queue_.pop_front();
    const auto found = pods_.find(key);
    if (found == pods_.end() || !std::exchange(found->second.queued, false) || paused_) continue;
    Entry& entry = found->second;
    entry.changed = false;
    const Result<Pod> pod = proto::Decode<Pod>(entry.bytes);
    if (!pod.ok()) continue;
    PodStep step = NextOf(entry, *pod);
    if (step.action == Action::kNothing) {
      if (step.again) EvaluateAfter(key, entry, *step.again);
      continue;
    }
    Write(key, entry, *pod, step);
    return true;
  }
  return false;
}

bool NodePods::SetAddress(Entry& entry, const Pod& pod, PodStep& step) {
  if (!step.needs_address) return true;
  if (pod.spec.hostNetwork) {
    SetPodAddress(step.status, host_ip_);
    return true;
  }
  if (entry.address.empty()) entry.address = shard_.addresses.Take(number_);
  if (entry.address.empty()) return false;
  SetPodAddress(step.status, entry.address);
  return true;
}

void NodePods::Write(const std::string& key, Entry& entry, const Pod& pod, PodStep& step) {
  ++in_flight_;
  entry.writing = true;
  if (!SetAddress(entry, pod, step)) {  // tried again like a failed request
    return OnWritten(key, entry.uid, step.action, {});
  }
  NodeRequest request;
  if (step.action == Action::kDelete) {
    request = {.kind = RequestKind::kPodDelete,
               .method = "DELETE",
               .target = PathOf(key),
               .content_type = "application/json",
               .body = DeleteBody(entry.uid)};
  } else {
    request = {.kind = RequestKind::kPodStatus,
               .method = "PATCH",
               .target = PathOf(key) + "/status",
               .content_type = "application/strategic-merge-patch+json",
               .body = StatusPatchOf(pod, step.status),
               .wants_body = true};
  }
  connection_.Send(std::move(request),
                   [this, key, uid = entry.uid, action = step.action](const Reply& reply) {
                     OnWritten(key, uid, action, reply);
                   });
}

void NodePods::OnWritten(const std::string& key, const std::string& uid, Action action,
                         const Reply& reply) {
  --in_flight_;
  const auto found = pods_.find(key);
  if (found != pods_.end() && found->second.uid == uid) {
    Entry& entry = found->second;
    entry.writing = false;
    // Deleted, or replaced by a Pod with the same name, which has its own events.
    const bool gone = reply.code == kHttpNotFound || reply.code == kHttpConflict;
    if (reply.ok() || gone) {
      entry.backoff.reset();
      ObjectView view;
      if (action == Action::kSetStatus && ReadObjectView(reply.body, &view)) {
        entry.written_version = VersionOf(view.resource_version);
      }
      if (entry.changed && entry.version >= entry.written_version) {
        EvaluateKept(key, entry);
      } else {
        entry.bytes = std::string();
      }
    } else {
      if (entry.backoff == nullptr) {
        entry.backoff = std::make_unique<Backoff>(WriteBackoff());
      }
      EvaluateAfter(key, entry, entry.backoff->Next(shard_.random()));
    }
  }
  Pump();
  shard_.pod_writes.Release();
}

}  // namespace cox::simulate
