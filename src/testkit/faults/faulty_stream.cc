// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/faulty_stream.h"

#include <algorithm>
#include <utility>

#include "base/await_stop.h"

namespace cox::testkit {

void StreamFaults::SetSilent(bool silent) {
  MutexLock lock(mu_);
  silent_ = silent;
  changed_.NotifyAll();
}

void StreamFaults::Break() {
  std::vector<Context> reading;
  {
    MutexLock lock(mu_);
    ++breaks_;
    changed_.NotifyAll();
    for (const Breakable* each : reading_) reading.push_back(each->ctx_);
  }
  for (Context& each : reading) each.Stop(Reset());
}

Status StreamFaults::AwaitDelivery(const Context& ctx, uint64_t since) const {
  MutexLock lock(mu_);
  return ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return !silent_ || breaks_ != since; });
}

uint64_t StreamFaults::breaks() const {
  MutexLock lock(mu_);
  return breaks_;
}

StreamFaults::Breakable::Breakable(StreamFaults& faults, Context ctx, uint64_t since)
    : faults_(faults), ctx_(std::move(ctx)) {
  {
    MutexLock lock(faults_.mu_);
    faults_.reading_.push_back(this);
    if (faults_.breaks_ == since) return;
  }
  ctx_.Stop(Reset());
}

StreamFaults::Breakable::~Breakable() {
  MutexLock lock(faults_.mu_);
  std::erase(faults_.reading_, this);
}

FaultyStream::FaultyStream(std::unique_ptr<net::ClientStream> under, Fault fault,
                           std::shared_ptr<StreamFaults> faults,
                           std::shared_ptr<std::atomic<size_t>> running)
    : under_(std::move(under)),
      fault_(std::move(fault)),
      faults_(std::move(faults)),
      running_(std::move(running)),
      since_(faults_->breaks()),
      frames_(under_->headers().Get("content-type").value_or("")) {
  ++*running_;
}

FaultyStream::~FaultyStream() { --*running_; }

Result<Bytes> FaultyStream::Read(Context& ctx) {
  if (broken_) return *broken_;
  Context call = ctx.Child();
  Result<Bytes> piece = [&]() -> Result<Bytes> {
    const StreamFaults::Breakable breakable(*faults_, call, since_);
    COX_RETURN_IF_ERROR(faults_->AwaitDelivery(call, since_));
    COX_ASSIGN_OR_RETURN(Bytes read, ReadFaulty(call));
    // Data that arrives while silent is held back.
    COX_RETURN_IF_ERROR(faults_->AwaitDelivery(call, since_));
    return read;
  }();
  // A stopped context allows another read; a broken connection is final.
  if (faults_->breaks() != since_) broken_ = StreamFaults::Reset();
  return broken_ ? Result<Bytes>(*broken_) : std::move(piece);
}

bool FaultyStream::ByEvents() const {
  return fault_.cut_after_events || fault_.end_after_events || fault_.silent_after_events ||
         fault_.drop_bookmarks || fault_.repeat_events;
}

Result<Bytes> FaultyStream::ReadFaulty(Context& ctx) {
  if (fault_.cut_after_bytes && bytes_ >= *fault_.cut_after_bytes) cut_ = true;
  if (cut_) {
    broken_ = StreamFaults::Reset();
    return *broken_;
  }
  if (ByEvents()) return ReadEvent(ctx);
  COX_ASSIGN_OR_RETURN(Bytes piece, under_->Read(ctx));
  if (!fault_.cut_after_bytes) return piece;
  piece = piece.Slice(0, *fault_.cut_after_bytes - bytes_);
  bytes_ += piece.size();
  return piece;
}

std::optional<Result<Bytes>> FaultyStream::EndOf(Context& ctx) {
  if (fault_.end_after_events && events_ >= *fault_.end_after_events) return Bytes();
  if (fault_.silent_after_events && events_ >= *fault_.silent_after_events) {
    return AwaitStop(ctx);
  }
  return std::nullopt;
}

Result<Bytes> FaultyStream::ReadEvent(Context& ctx) {
  for (;;) {
    if (!repeated_.empty()) return Bytes(std::exchange(repeated_, {}));
    if (auto end = EndOf(ctx)) return std::move(*end);
    COX_ASSIGN_OR_RETURN(std::optional<std::string> event, AwaitEvent(ctx));
    if (!event) return Bytes(frames_.TakeRest());
    if (fault_.drop_bookmarks && frames_.IsBookmark(*event)) continue;
    if (fault_.cut_after_events && events_ >= *fault_.cut_after_events) {
      cut_ = true;
      event->resize(event->size() / 2);
      return Bytes(std::move(*event));
    }
    ++events_;
    if (fault_.repeat_events) repeated_ = *event;
    return Bytes(std::move(*event));
  }
}

Result<std::optional<std::string>> FaultyStream::AwaitEvent(Context& ctx) {
  for (;;) {
    std::optional<std::string> event = frames_.Next();
    if (event) return event;
    COX_ASSIGN_OR_RETURN(const Bytes piece, under_->Read(ctx));
    if (piece.empty()) return std::optional<std::string>();
    frames_.Add(piece.view());
  }
}

}  // namespace cox::testkit
