// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
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

// What all streams of one FaultyTransport are subject to.
//
// Threads: all methods may be called concurrently.
class StreamWeather {
 public:
  void SetSilent(bool silent);
  // Streams that began before this have broken.
  void Break();

  // Returns when it is not silent, or `since` has broken. Not OK when `ctx` stops first.
  Status AwaitVoice(const Context& ctx, uint64_t since) const;
  uint64_t breaks() const;
  // Stops `ctx` when `since` breaks, while the handle lives.
  class [[nodiscard]] Breakable {
   public:
    Breakable(StreamWeather& weather, Context ctx, uint64_t since);
    ~Breakable();
    Breakable(const Breakable&) = delete;
    Breakable& operator=(const Breakable&) = delete;

   private:
    friend class StreamWeather;
    StreamWeather& weather_;
    Context ctx_;
  };

  static Status Reset() { return Status::Unavailable("connection reset by peer"); }

 private:
  mutable Mutex mu_;
  mutable CondVar changed_;
  bool silent_ COX_GUARDED_BY(mu_) = false;
  uint64_t breaks_ COX_GUARDED_BY(mu_) = 0;
  std::vector<Breakable*> reading_ COX_GUARDED_BY(mu_);
};

// A stream that meets a fault.
//
// Threads: one at a time, as ClientStream.
class FaultyStream final : public net::ClientStream {
 public:
  FaultyStream(std::unique_ptr<net::ClientStream> under, Fault fault,
               std::shared_ptr<StreamWeather> weather,
               std::shared_ptr<std::atomic<size_t>> running);
  ~FaultyStream() override;

  int status() const override { return under_->status(); }
  const net::Headers& headers() const override { return under_->headers(); }
  Result<Bytes> Read(Context& ctx) override;

 private:
  Result<Bytes> ReadFaulty(Context& ctx);
  // The next event, of those that are let through.
  Result<Bytes> ReadEvent(Context& ctx);
  Result<std::optional<std::string>> AwaitEvent(Context& ctx);
  bool ByEvents() const;
  // What is done after `events_`, if now is the time. None: nothing.
  std::optional<Result<Bytes>> EndOf(Context& ctx);

  const std::unique_ptr<net::ClientStream> under_;
  const Fault fault_;
  const std::shared_ptr<StreamWeather> weather_;
  const std::shared_ptr<std::atomic<size_t>> running_;
  const uint64_t since_;
  EventFrames frames_;
  std::string repeated_;  // an event that comes again
  size_t bytes_ = 0;
  size_t events_ = 0;
  bool cut_ = false;  // the next read finds it broken
  std::optional<Status> broken_;
};

}  // namespace cox::testkit
