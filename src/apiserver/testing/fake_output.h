// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/filters/audit/output/sink.h"
#include "base/mutex.h"

// For tests: an output that records its events and can be made to hang or to fail.
namespace cox::apiserver {

class FakeOutput final : public AuditOutput {
 public:
  // State that outlives the output.
  struct State {
    Mutex mu;
    CondVar changed;
    std::vector<std::vector<std::string>> batches COX_GUARDED_BY(mu);
    size_t writing COX_GUARDED_BY(mu) = 0;
    bool hang COX_GUARDED_BY(mu) = false;
    bool fail COX_GUARDED_BY(mu) = false;

    void SetHang(bool value) {
      MutexLock lock(mu);
      hang = value;
      changed.NotifyAll();
    }
    void SetFail(bool value) {
      MutexLock lock(mu);
      fail = value;
    }
    // These block until `n` batches have been written, or until `n` writes are in progress.
    void WaitForBatches(size_t n) {
      MutexLock lock(mu);
      changed.Wait(mu, [&]() COX_REQUIRES(mu) { return batches.size() >= n; });
    }
    void WaitForWriters(size_t n) {
      MutexLock lock(mu);
      changed.Wait(mu, [&]() COX_REQUIRES(mu) { return writing >= n; });
    }
    std::vector<std::vector<std::string>> Batches() {
      MutexLock lock(mu);
      return batches;
    }
    // All lines in order, without their newlines.
    std::vector<std::string> Lines() {
      std::vector<std::string> lines;
      for (const auto& batch : Batches()) lines.insert(lines.end(), batch.begin(), batch.end());
      return lines;
    }
  };

  explicit FakeOutput(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::string_view name() const override { return "fake"; }
  AuditOutcome Write(const Context& ctx, std::span<const AuditEventPtr> events) override {
    MutexLock lock(state_->mu);
    ++state_->writing;
    state_->changed.NotifyAll();
    const Status waited = ctx.Await(state_->mu, state_->changed,
                                    [&]() COX_REQUIRES(state_->mu) { return !state_->hang; });
    --state_->writing;
    if (!waited.ok()) return {events.size(), waited};
    if (state_->fail) return {events.size(), Status::Internal("told to fail")};
    std::vector<std::string>& batch = state_->batches.emplace_back();
    for (const AuditEventPtr& event : events) {
      batch.push_back(event->line.substr(0, event->line.size() - 1));
    }
    state_->changed.NotifyAll();
    return {};
  }

 private:
  const std::shared_ptr<State> state_;
};

inline AuditEventPtr MakeEvent(const std::string& text) {
  auto event = std::make_shared<AuditEvent>();
  event->line = text + "\n";
  return event;
}

}  // namespace cox::apiserver
