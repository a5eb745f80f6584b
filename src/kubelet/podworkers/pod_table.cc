// SPDX-License-Identifier: Apache-2.0
#include "kubelet/podworkers/pod_table.h"

#include <utility>

#include "kubelet/admission/admission.h"
#include "kubelet/pod/sysctls.h"

namespace cox::kubelet {

using core::v1::Pod;
using PodPtr = std::shared_ptr<const Pod>;

std::vector<std::string> PodTable::Put(PodPtr pod) {
  const std::string uid = pod->metadata.uid;
  const ObjectKey key = KeyOf(*pod);
  std::vector<std::string> sync{uid};
  MutexLock lock(mu_);
  std::string& known = uids_[key];
  if (!known.empty() && known != uid) {
    // The Pod was deleted and recreated between two events: end the old one.
    if (const auto old = pods_.find(known); old != pods_.end()) {
      old->second.order.gone = true;
      sync.push_back(known);
    }
  }
  known = uid;
  Entry& entry = pods_[uid];
  entry.order.pod = std::move(pod);
  // A Pod that was gone and is added again starts with a new state.
  if (std::exchange(entry.order.gone, false)) entry.memory = nullptr;
  if (entry.memory == nullptr) {
    entry.memory = std::make_shared<PodWorkerState>();
    entry.memory->backoff = Backoff({.max = options_.max_container_restart_period});
  }
  return sync;
}

void PodTable::SetDeleted(const Pod& pod) {
  MutexLock lock(mu_);
  const auto found = pods_.find(pod.metadata.uid);
  if (found == pods_.end()) return;
  found->second.order.gone = true;
  const auto key = uids_.find(KeyOf(pod));
  if (key != uids_.end() && key->second == pod.metadata.uid) uids_.erase(key);
}

void PodTable::SetSynced() {
  MutexLock lock(mu_);
  synced_ = true;
}

bool PodTable::synced() const {
  MutexLock lock(mu_);
  return synced_;
}

bool PodTable::AddOrphan(const std::string& uid, const std::string& ns, const std::string& name) {
  if (uid.empty() || pods_.contains(uid)) return false;
  auto pod = std::make_shared<Pod>();
  pod->metadata.uid = uid;
  pod->metadata.namespace_ = ns;
  pod->metadata.name = name;
  Entry entry;
  entry.order.pod = std::move(pod);
  entry.order.gone = true;
  entry.memory = std::make_shared<PodWorkerState>();
  entry.admission = Entry::Admission::kIn;
  pods_.emplace(uid, std::move(entry));
  return true;
}

std::vector<std::string> PodTable::AddOrphans(const std::vector<runtime::PodState>& pods) {
  std::vector<std::string> added;
  MutexLock lock(mu_);
  if (!synced_) return added;
  for (const runtime::PodState& pod : pods) {
    if (AddOrphan(pod.uid, pod.ns, pod.name)) added.push_back(pod.uid);
  }
  return added;
}

std::vector<std::string> PodTable::AddOrphans(const std::vector<std::string>& uids) {
  std::vector<std::string> added;
  MutexLock lock(mu_);
  if (!synced_) return added;
  for (const std::string& uid : uids) {
    if (AddOrphan(uid, "", "")) added.push_back(uid);
  }
  return added;
}

bool PodTable::SetEnd(const std::string& uid, PodEnd end) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.order.gone) return false;
  // The first reason is kept.
  if (!found->second.order.end) found->second.order.end = std::move(end);
  return true;
}

void PodTable::ObjectsChanged(const std::string& uid) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found != pods_.end()) ++found->second.order.objects_version;
}

void PodTable::Erase(const std::string& uid) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  // The Pod may be back, because the cache was relisted.
  if (found != pods_.end() && found->second.order.gone) pods_.erase(found);
}

bool PodTable::HasBegun(const Pod& pod) {
  return pod.status.startTime || IsTerminal(pod) || pod.metadata.deletionTimestamp;
}

// None for a Pod that is already admitted or rejected, or has started.
std::optional<Rejection> PodTable::Check(const Entry& entry, const core::v1::Node* node) const {
  const Pod& pod = *entry.order.pod;
  if (entry.admission != Entry::Admission::kUnknown || HasBegun(pod)) return std::nullopt;
  if (auto why = ForbiddenSysctl(pod, options_.allowed_unsafe_sysctls)) {
    return Rejection{"SysctlForbidden", *std::move(why)};
  }
  std::vector<PodPtr> others;
  for (const auto& [uid, other] : pods_) {
    const bool in = other.admission == Entry::Admission::kIn ||
                    (other.admission == Entry::Admission::kUnknown && HasBegun(*other.order.pod));
    if (&other == &entry || !in || other.order.gone || IsTerminal(*other.order.pod)) continue;
    others.push_back(other.order.pod);
  }
  return Admit(pod, node, options_.max_pods, others);
}

// True if the Pod is rejected by this call.
bool PodTable::DecideAdmission(Entry& entry, const core::v1::Node* node, Clock::WallTime now) {
  const auto rejection = Check(entry, node);
  if (entry.admission == Entry::Admission::kUnknown) entry.admission = Entry::Admission::kIn;
  if (!rejection) return false;
  entry.admission = Entry::Admission::kRejected;
  entry.order.end = PodEnd{.reason = rejection->reason,
                           .message = "Pod was rejected: " + rejection->message,
                           .deadline = now};
  return true;
}

bool PodTable::Rejects(const std::string& uid, const core::v1::Node* node) const {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  return found != pods_.end() && !found->second.order.gone &&
         Check(found->second, node).has_value();
}

std::optional<PodTable::Work> PodTable::Take(const std::string& uid, const core::v1::Node* node,
                                             Clock::WallTime now) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return std::nullopt;
  Entry& entry = found->second;
  const bool rejected = !entry.order.gone && DecideAdmission(entry, node, now);
  return Work{entry.order, entry.memory, rejected};
}

std::vector<PodPtr> PodTable::Pods() const {
  std::vector<PodPtr> out;
  MutexLock lock(mu_);
  for (const auto& [uid, entry] : pods_) {
    if (!entry.order.gone) out.push_back(entry.order.pod);
  }
  return out;
}

PodPtr PodTable::Find(const ObjectKey& key, const std::string& uid) const {
  MutexLock lock(mu_);
  const auto known = uids_.find(key);
  if (known == uids_.end() || (!uid.empty() && uid != known->second)) return nullptr;
  const auto found = pods_.find(known->second);
  return found == pods_.end() ? nullptr : found->second.order.pod;
}

PodPtr PodTable::FindByUid(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : found->second.order.pod;
}

std::vector<std::string> PodTable::Uids() const {
  std::vector<std::string> out;
  MutexLock lock(mu_);
  for (const auto& [uid, entry] : pods_) out.push_back(uid);
  return out;
}

}  // namespace cox::kubelet
