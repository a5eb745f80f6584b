// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "net/client.h"
#include "testkit/faults/event_frames.h"
#include "testkit/faulty_transport.h"

namespace cox::testkit {

// Faults that affect all streams of a FaultyTransport.
//
// Threads: all methods may be called concurrently.
class StreamFaults {
 public:
  void SetSilent(bool silent);
  // Breaks all streams that started before.
  void Break();

  // Returns when it is not silent, or when the streams since `since` are broken. Returns an error
  // when `ctx` stops first.
  Status AwaitDelivery(const Context& ctx, uint64_t since) const;
  uint64_t breaks() const;
  bool silent() const;
  // Calls `changed` once, at the next SetSilent or Break. Replaces the function of this stream;
  // null removes it.
  void Listen(const void* stream, std::function<void()> changed);
  // Stops `ctx` when streams since `since` break, during the lifetime of the handle.
  class [[nodiscard]] Breakable {
   public:
    Breakable(StreamFaults& faults, Context ctx, uint64_t since);
    ~Breakable();
    Breakable(const Breakable&) = delete;
    Breakable& operator=(const Breakable&) = delete;

   private:
    friend class StreamFaults;
    StreamFaults& faults_;
    Context ctx_;
  };

  static Status Reset() { return Status::Unavailable("connection reset by peer"); }

 private:
  mutable Mutex mu_;
  mutable CondVar changed_;
  bool silent_ COX_GUARDED_BY(mu_) = false;
  uint64_t breaks_ COX_GUARDED_BY(mu_) = 0;
  void NotifyListeners();

  std::vector<Breakable*> reading_ COX_GUARDED_BY(mu_);
  std::map<const void*, std::function<void()>> listeners_ COX_GUARDED_BY(mu_);
};

// A stream with faults.
//
// Threads: one at a time, like ClientStream.
class FaultyStream final : public net::ClientStream {
 public:
  FaultyStream(std::unique_ptr<net::ClientStream> under, Fault fault,
               std::shared_ptr<StreamFaults> faults, std::shared_ptr<std::atomic<size_t>> running);
  ~FaultyStream() override;

  int status() const override { return under_->status(); }
  const net::Headers& headers() const override { return under_->headers(); }
  Result<Bytes> Read(Context& ctx) override;
  Result<std::optional<Bytes>> TryRead(const std::function<void()>& ready) override;

 private:
  using Piece = Result<std::optional<Bytes>>;  // no value only for TryRead
  // How to read: blocking until the context stops, or with a function for TryRead.
  struct Mode {
    Context* ctx = nullptr;
    const std::function<void()>* ready = nullptr;
  };
  Piece ReadUnder(const Mode& mode);
  Piece ReadFaulty(const Mode& mode);
  // Returns the next event that is not dropped.
  Piece ReadEvent(const Mode& mode);
  bool ByEvents() const;
  // The fault that applies after `events_` events, if any.
  std::optional<Piece> EndOf(const Mode& mode);

  const std::unique_ptr<net::ClientStream> under_;
  const Fault fault_;
  const std::shared_ptr<StreamFaults> faults_;
  const std::shared_ptr<std::atomic<size_t>> running_;
  const uint64_t since_;
  EventFrames frames_;
  std::string repeated_;  // an event to be sent again
  size_t bytes_ = 0;
  size_t events_ = 0;
  bool cut_ = false;  // the next read fails
  std::optional<Status> broken_;
};

}  // namespace cox::testkit
