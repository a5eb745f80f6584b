// SPDX-License-Identifier: Apache-2.0
#include "scheduler/framework/waiting_pods.h"

#include <algorithm>

#include "object/scalar/time.h"

namespace cox::scheduler {

// Timers are destroyed without the lock, because a firing timer acquires it.

void WaitingPods::Add(PodInfoPtr pod, std::vector<Wait> waits, Done done) {
  auto entry = std::make_unique<Entry>();
  const std::string uid = pod->uid();
  entry->pod = std::move(pod);
  entry->done = std::move(done);
  MutexLock lock(mu_);
  for (Wait& wait : waits) {
    const std::string why = "rejected due to timeout after waiting " +
                            Duration::Nanoseconds(wait.at_most.count()).ToString() + " at plugin " +
                            wait.plugin;
    Timer timer = clock_.After(
        wait.at_most, [this, uid, plugin = wait.plugin, why] { (void)Reject(uid, plugin, why); });
    entry->waits.emplace_back(std::move(wait.plugin), std::move(timer));
  }
  pods_[uid] = std::move(entry);
}

std::unique_ptr<WaitingPods::Entry> WaitingPods::TakeLocked(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return nullptr;
  std::unique_ptr<Entry> entry = std::move(found->second);
  pods_.erase(found);
  return entry;
}

bool WaitingPods::Allow(const std::string& uid, std::string_view plugin) {
  std::unique_ptr<Entry> ready;
  Timer over;
  {
    MutexLock lock(mu_);
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return false;
    auto& waits = found->second->waits;
    const auto wait = std::find_if(waits.begin(), waits.end(),
                                   [plugin](const auto& w) { return w.first == plugin; });
    if (wait == waits.end()) return false;
    over = std::move(wait->second);
    waits.erase(wait);
    if (waits.empty()) ready = TakeLocked(uid);
  }
  if (ready != nullptr) ready->done({});
  return true;
}

bool WaitingPods::Reject(const std::string& uid, std::string_view plugin, const std::string& why) {
  std::unique_ptr<Entry> rejected;
  {
    MutexLock lock(mu_);
    rejected = TakeLocked(uid);
  }
  if (rejected == nullptr) return false;
  rejected->done(PluginStatus::Unschedulable(plugin, why));
  return true;
}

std::vector<PodInfoPtr> WaitingPods::List() const {
  MutexLock lock(mu_);
  std::vector<PodInfoPtr> all;
  for (const auto& [uid, entry] : pods_) all.push_back(entry->pod);
  return all;
}

void WaitingPods::Clear() {
  decltype(pods_) all;
  MutexLock lock(mu_);
  all.swap(pods_);
  lock.Unlock();
}

}  // namespace cox::scheduler
