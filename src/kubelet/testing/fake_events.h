// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "coxswain/event_recorder.h"

namespace cox::kubelet::testing {

// Stores recorded events as text: "Warning BackOff Back-off restarting failed container ...".
class FakeEvents final : public EventRecorder {
 public:
  using EventRecorder::Record;
  void Record(const Object&, EventKind, std::string_view, std::string_view,
              std::string_view) override {}
  Status Flush(Context&) override { return {}; }
  void RecordAbout(const Reference&, EventKind kind, std::string_view reason, std::string_view,
                   std::string_view note) override {
    MutexLock lock(mu_);
    events_.push_back((kind == EventKind::kNormal ? "Normal " : "Warning ") + std::string(reason) +
                      " " + std::string(note));
  }
  std::vector<std::string> events() const {
    MutexLock lock(mu_);
    return events_;
  }
  bool Has(std::string_view part) const {
    MutexLock lock(mu_);
    return std::any_of(events_.begin(), events_.end(), [part](const std::string& event) {
      return event.find(part) != std::string::npos;
    });
  }

 private:
  mutable Mutex mu_;
  std::vector<std::string> events_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::kubelet::testing
