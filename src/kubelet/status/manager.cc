// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/manager.h"

#include <chrono>

#include "coxswain/conditions.h"
#include "kubelet/status/conditions.h"
#include "object/codec/json/json.h"
#include "object/patch/strategic.h"
#include "object/type/equal.h"

namespace cox::kubelet {

using core::v1::Pod;
using core::v1::PodCondition;
using core::v1::PodStatus;

Result<Patch> StatusPatch(const Pod& pod, const PodStatus& wanted) {
  // Conditions of other writers are copied from the API's status, so that they are never a
  // difference.
  Pod before;
  before.status = pod.status;
  Pod after;
  after.status = wanted;
  erase_if(after.status.conditions,
           [&](const PodCondition& condition) { return !IsKubeletCondition(condition.type); });
  for (const PodCondition& condition : pod.status.conditions) {
    if (FindCondition(after.status.conditions, condition.type) == nullptr) {
      after.status.conditions.push_back(condition);
    }
  }
  if (DeepEqual(before.status, after.status)) return Patch{};
  COX_ASSIGN_OR_RETURN(Value patch, patch::CreateTwoWayStrategicPatch(
                                        json::ToValue(before), json::ToValue(after), Pod::kType));
  if (!patch.is_object() || patch == Value::MakeObject()) return Patch{};
  // Only the status is sent, with the UID as a precondition.
  Value status;
  if (const Value* found = patch.Find("status")) status = *found;
  if (!status.is_object()) return Patch{};
  const Value whole =
      Value::MakeObject({{"metadata", Value::MakeObject({{"uid", pod.metadata.uid}})},
                         {"status", std::move(status)}});
  return Patch::Strategic(json::Write(whole));
}

namespace {

// Keeps start and transition times of the last status, which the cache may not have yet.
void KeepTimes(const PodStatus& before, PodStatus& status) {
  if (before.startTime) status.startTime = before.startTime;
  for (PodCondition& condition : status.conditions) {
    if (!IsKubeletCondition(condition.type)) continue;
    const PodCondition* was = FindCondition(before.conditions, condition.type);
    if (was == nullptr || was->status != condition.status) continue;
    condition.lastTransitionTime = was->lastTransitionTime;
  }
}

}  // namespace

StatusManager::StatusManager(const Context& ctx, Client& client, PodSource pod)
    : client_(client),
      pod_(std::move(pod)),
      queue_(WorkQueue::Create(ctx.clock(),
                               {.name = "pod_status",
                                .limiter = ExponentialBackoff(std::chrono::milliseconds(100),
                                                              std::chrono::seconds(10))})),
      scope_(ctx, "pod-status") {
  // Several writers: after a restart a node writes a hundred statuses, each with a server round
  // trip.
  for (int i = 0; i < 4; ++i) {
    const Status started =
        scope_.Go("pod-status-" + std::to_string(i), [this](Context& run) { Run(run); });
    if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start a status writer");
  }
}

StatusManager::~StatusManager() {
  queue_->ShutDown();
  scope_.Stop();
  scope_.Wait();
}

StatusManager::Entry* StatusManager::Find(const std::string& uid) {
  const auto key = keys_.find(uid);
  return key == keys_.end() ? nullptr : &entries_.at(key->second);
}

StatusManager::Entry* StatusManager::Ensure(const ObjectKey& key, const std::string& uid) {
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.uid == uid) return &found->second;
  if (found != entries_.end()) {
    // The worker of an older Pod may be slower than that of the new Pod with the same name; the new
    // Pod wins.
    const std::shared_ptr<const Pod> newest = pod_(key);
    if (newest != nullptr && newest->metadata.uid != uid) return nullptr;
    keys_.erase(found->second.uid);
  }
  keys_[uid] = key;
  return &(entries_[key] = Entry{.uid = uid});
}

void StatusManager::Set(const Pod& pod, PodStatus status) {
  const ObjectKey key = KeyOf(pod);
  {
    MutexLock lock(mu_);
    Entry* const ensured = Ensure(key, pod.metadata.uid);
    if (ensured == nullptr) return;
    Entry& entry = *ensured;
    if (entry.has_status) KeepTimes(entry.status, status);
    if (entry.has_status && DeepEqual(entry.status, status)) {
      // No change here, but another writer may have changed the API's status.
      if (DeepEqual(pod.status, status)) return;
    } else {
      entry.status = std::move(status);
      entry.has_status = true;
      ++entry.version;
    }
  }
  queue_->Add(key);
}

void StatusManager::SetFinished(const Pod& pod) {
  const ObjectKey key = KeyOf(pod);
  {
    MutexLock lock(mu_);
    // If no status was ever set, the Pod ended before it started; the API's status is kept.
    Entry* const entry = Ensure(key, pod.metadata.uid);
    if (entry == nullptr) return;
    entry->finished = true;
  }
  queue_->Add(key);
}

std::optional<PodStatus> StatusManager::Get(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto key = keys_.find(uid);
  if (key == keys_.end()) return std::nullopt;
  const Entry& entry = entries_.at(key->second);
  if (!entry.has_status) return std::nullopt;
  return entry.status;
}

void StatusManager::Forget(const std::string& uid) {
  MutexLock lock(mu_);
  const auto key = keys_.find(uid);
  if (key == keys_.end()) return;
  entries_.erase(key->second);
  keys_.erase(key);
}

uint64_t StatusManager::Version(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto key = keys_.find(uid);
  return key == keys_.end() ? 0 : entries_.at(key->second).version;
}

Status StatusManager::Sync(Context& ctx, const ObjectKey& key) {
  Entry entry;
  {
    MutexLock lock(mu_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return {};
    entry = found->second;
  }
  const std::shared_ptr<const Pod> pod = pod_(key);
  // The Pod is gone or replaced by another of the same name. The worker calls Forget.
  if (pod == nullptr || pod->metadata.uid != entry.uid) return {};
  if (entry.has_status) {
    COX_ASSIGN_OR_RETURN(const Patch patch, StatusPatch(*pod, entry.status));
    if (!patch.empty()) {
      const Status written = client_.PatchStatus<Pod>(ctx, key, patch).status();
      // NotFound: the Pod was deleted meanwhile.
      if (written.Is(Reason::kNotFound)) return {};
      COX_RETURN_IF_ERROR(written);
    }
    MutexLock lock(mu_);
    if (Entry* now = Find(entry.uid)) now->written = std::max(now->written, entry.version);
  }
  if (!entry.finished || !pod->metadata.deletionTimestamp) return {};
  const Status deleted =
      client_.Delete<Pod>(ctx, key, {.grace_period = std::chrono::seconds(0), .uid = entry.uid});
  if (deleted.Is(Reason::kNotFound) || deleted.Is(Reason::kConflict)) return {};
  return deleted;
}

void StatusManager::Run(Context& ctx) {
  while (const auto item = queue_->Get(ctx)) {
    const Status status = Sync(ctx, item->key);
    if (status.ok()) {
      queue_->Forget(item->key);
    } else {
      if (!ctx.Done()) {
        COX_ERROR(ctx.log(), status, "Could not write the status of a Pod",
                  {"pod", item->key.ToString()});
      }
      queue_->AddRateLimited(item->key);
    }
    queue_->Done(item->key);
  }
}

}  // namespace cox::kubelet
