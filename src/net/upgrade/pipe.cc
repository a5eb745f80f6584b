// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/scope.h"
#include "net/byte_stream.h"

namespace cox::net {
namespace {

// The state shared by both directions of a pipe.
class PipeState {
 public:
  explicit PipeState(const PipeLimits& limits) : limits_(limits) {}

  enum class Outcome { kEnd, kReadFailed, kWriteFailed };
  struct Carried {
    Outcome outcome;
    Status status;
  };

  // Copies bytes from one end to the other until the first ends. `way`: 0 or 1.
  Carried Copy(const Context& ctx, int way, ByteStream& from, ByteStream& to) {
    while (true) {
      const Result<Bytes> bytes = ReadSome(ctx, way, from);
      if (!bytes.ok() || bytes->empty()) {
        to.EndWriting();
        return {bytes.ok() ? Outcome::kEnd : Outcome::kReadFailed, bytes.status()};
      }
      if (Status status = to.Write(ctx, bytes->view()); !status.ok()) {
        return {Outcome::kWriteFailed, std::move(status)};
      }
    }
  }

  // One direction has ended. Wakes the other, which then applies the linger timeout.
  void Done(int way) {
    MutexLock lock(mu_);
    done_ = true;
    if (waiting_[1 - way]) waiting_[1 - way]->Stop();
  }

 private:
  // Same as Read, but with the linger timeout once the other direction has ended, and until then
  // with the idle timeout.
  Result<Bytes> ReadSome(const Context& ctx, int way, ByteStream& from) {
    while (true) {
      bool alone = false;
      const Context wait = StartWait(ctx, way, &alone);
      Result<Bytes> bytes = from.Read(wait);
      MutexLock lock(mu_);
      waiting_[way].reset();
      const Clock::SteadyTime now = ctx.clock().Monotonic();
      if (bytes.ok()) last_ = now;
      if (!bytes.ok()) COX_RETURN_IF_ERROR(ctx.status());  // the other direction failed
      // Waits again if Done or the timeout interrupted it.
      if (bytes.ok() || alone || !wait.Done()) return bytes;
      if (!done_ && limits_.idle.count() > 0 && now - last_ >= limits_.idle) {
        return Status::Unavailable("no data was sent for too long");
      }
    }
  }

  Context StartWait(const Context& ctx, int way, bool* alone) {
    MutexLock lock(mu_);
    *alone = done_;
    if (done_) return ctx.WithTimeout(limits_.linger);
    const Clock::SteadyTime now = ctx.clock().Monotonic();
    if (last_ == Clock::SteadyTime{}) last_ = now;
    Context wait =
        limits_.idle.count() > 0 ? ctx.WithTimeout(limits_.idle - (now - last_)) : ctx.Child();
    waiting_[way] = wait;
    return wait;
  }

  const PipeLimits limits_;
  Mutex mu_;
  bool done_ COX_GUARDED_BY(mu_) = false;
  Clock::SteadyTime last_ COX_GUARDED_BY(mu_) = {};  // the last bytes, in any direction
  std::optional<Context> waiting_[2] COX_GUARDED_BY(mu_);
};

// One direction of an in-process pair.
struct Lane {
  Mutex mu;
  CondVar changed;
  std::deque<Bytes> waiting COX_GUARDED_BY(mu);
  size_t bytes COX_GUARDED_BY(mu) = 0;
  bool ended COX_GUARDED_BY(mu) = false;   // the writer called EndWriting
  bool broken COX_GUARDED_BY(mu) = false;  // an end was destroyed

  void Break(bool unless_ended) {
    MutexLock lock(mu);
    if (!(unless_ended && ended)) broken = true;
    changed.NotifyAll();
  }
};

class PairEnd final : public ByteStream {
 public:
  PairEnd(std::shared_ptr<Lane> in, std::shared_ptr<Lane> out)
      : in_(std::move(in)), out_(std::move(out)) {}
  ~PairEnd() override {
    in_->Break(false);
    out_->Break(/*unless_ended=*/true);
  }

  Result<Bytes> Read(const Context& ctx) override {
    Lane& lane = *in_;
    MutexLock lock(lane.mu);
    COX_RETURN_IF_ERROR(ctx.Await(lane.mu, lane.changed, [&lane]() {
      lane.mu.AssertHeld();
      return !lane.waiting.empty() || lane.ended || lane.broken;
    }));
    if (lane.waiting.empty()) {
      if (lane.ended) return Bytes();
      return Status::Unavailable("the other end was dropped");
    }
    Bytes bytes = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    lane.bytes -= bytes.size();
    lane.changed.NotifyAll();
    return bytes;
  }

  Status Write(const Context& ctx, std::string_view bytes) override {
    if (bytes.empty()) return {};
    Lane& lane = *out_;
    MutexLock lock(lane.mu);
    COX_RETURN_IF_ERROR(ctx.Await(lane.mu, lane.changed, [&lane]() {
      lane.mu.AssertHeld();
      return lane.bytes < kStreamWindow || lane.ended || lane.broken;
    }));
    if (lane.broken) return Status::Unavailable("the other end was dropped");
    if (lane.ended) return Status::Unavailable("writing was ended before");
    lane.waiting.push_back(Bytes::Copy(bytes));
    lane.bytes += bytes.size();
    lane.changed.NotifyAll();
    return {};
  }

  void EndWriting() override {
    MutexLock lock(out_->mu);
    out_->ended = true;
    out_->changed.NotifyAll();
  }

 private:
  const std::shared_ptr<Lane> in_;
  const std::shared_ptr<Lane> out_;
};

}  // namespace

Status Pipe(const Context& ctx, ByteStream& a, ByteStream& b, const PipeLimits& limits) {
  PipeState joint(limits);
  Scope scope(ctx, "pipe");
  const auto carry = [&](const Context& work, int way, ByteStream& from, ByteStream& to) {
    PipeState::Carried carried = joint.Copy(work, way, from, to);
    if (carried.outcome == PipeState::Outcome::kReadFailed) {
      scope.Stop();  // the other direction's bytes could not be delivered
    } else {
      joint.Done(way);  // the opposite direction of an end that accepts no more continues
    }
    return carried.status;
  };
  Status back;
  const Status started = scope.Go("pipe-back", [&](Context& work) { back = carry(work, 1, b, a); });
  if (!started.ok()) return ctx.Done() ? ctx.status() : started;
  const Status there = carry(scope.context(), 0, a, b);
  scope.Wait();
  scope.Stop();
  // The end of the connection may stop `ctx` just when everything is transferred.
  if (there.ok() && back.ok()) return {};
  COX_RETURN_IF_ERROR(ctx.status());
  // If one direction stopped the other, return the first error.
  if (there.ok() || there == Context::Canceled()) return back.ok() ? there : back;
  return there;
}

std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakeByteStreamPair() {
  auto left = std::make_shared<Lane>();
  auto right = std::make_shared<Lane>();
  return {std::make_unique<PairEnd>(left, right), std::make_unique<PairEnd>(right, left)};
}

}  // namespace cox::net
