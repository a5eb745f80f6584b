// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/mutex.h"
#include "coxswain/informer.h"

// For tests of the cache: a handler that records its calls and checks the guarantees of handlers.
namespace cox::sdk {

class Recorder {
 public:
  DeltaHandler handler() {
    return [this](const Delta& delta) { Take(delta); };
  }

  // "+default/a", "~default/a", "-default/a", "=default/a" (resync), in order.
  std::vector<std::string> seen() const {
    MutexLock lock(mu_);
    return seen_;
  }
  // Violated guarantees; empty unless there is a bug.
  std::vector<std::string> broken() const {
    MutexLock lock(mu_);
    return broken_;
  }
  std::map<std::string, int64_t> versions() const {
    MutexLock lock(mu_);
    return versions_;
  }
  Delta last() const {
    MutexLock lock(mu_);
    return last_;
  }
  std::string last_writer() const {
    MutexLock lock(mu_);
    return last_writer_;
  }
  void Clear() {
    MutexLock lock(mu_);
    seen_.clear();
  }
  // Waits in real time until `count` calls were made since the last Clear.
  void AwaitSeen(size_t count) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return seen_.size() >= count; });
  }
  // The last version delivered for `key`; 0 if none or deleted.
  int64_t VersionOf(const std::string& key) const {
    MutexLock lock(mu_);
    const auto found = versions_.find(key);
    return found == versions_.end() ? 0 : found->second;
  }
  // Waits until the last version delivered for `key` is `version`; 0: deleted.
  void AwaitVersion(const std::string& key, int64_t version) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) {
      const auto found = versions_.find(key);
      return (found == versions_.end() ? 0 : found->second) == version;
    });
  }

 private:
  void Take(const Delta& delta) {
    const ObjectHead head = HeadOf(*delta.object());
    const std::string key = head.key.ToString();
    MutexLock lock(mu_);
    if (busy_) broken_.push_back("two calls at once: " + key);
    busy_ = true;
    seen_.push_back("+~-="[static_cast<size_t>(delta.type)] + key);
    Check(delta, head, key);
    last_ = delta;
    last_writer_ = delta.own_writer;
    last_.own_writer = {};
    busy_ = false;
    changed_.NotifyAll();
  }
  void Check(const Delta& delta, const ObjectHead& head, const std::string& key) COX_REQUIRES(mu_) {
    const bool known = versions_.contains(key);
    const auto on_signal = [&](const char* what) COX_REQUIRES(mu_) {
      broken_.push_back(std::string(what) + " " + key + " at " + std::to_string(head.version));
    };
    switch (delta.type) {
      case Delta::Type::kAdded:
        if (known) on_signal("added twice");
        if (head.version <= highest_[key]) on_signal("added from the past");
        break;
      case Delta::Type::kUpdated:
        if (!known) on_signal("updated before it was added");
        if (known && head.version <= versions_[key]) on_signal("updated to the past");
        if (known && HeadOf(*delta.before).version != versions_[key])
          on_signal("updated from elsewhere");
        break;
      case Delta::Type::kResync:
        if (!known || head.version != versions_[key]) on_signal("resynced to another");
        break;
      case Delta::Type::kDeleted:
        if (!known) on_signal("deleted before it was added");
        versions_.erase(key);
        return;
    }
    versions_[key] = head.version;
    highest_[key] = std::max(highest_[key], head.version);
  }

  mutable Mutex mu_;
  CondVar changed_;
  std::vector<std::string> seen_ COX_GUARDED_BY(mu_);
  std::vector<std::string> broken_ COX_GUARDED_BY(mu_);
  std::map<std::string, int64_t> versions_ COX_GUARDED_BY(mu_);  // of existing objects
  std::map<std::string, int64_t> highest_ COX_GUARDED_BY(mu_);   // highest version delivered
  Delta last_ COX_GUARDED_BY(mu_);
  std::string last_writer_ COX_GUARDED_BY(mu_);
  bool busy_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::sdk
