// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/faulty_stream.h"

#include <algorithm>
#include <utility>

#include "base/await_stop.h"

namespace cox::testkit {

void StreamFaults::SetSilent(bool silent) {
  {
    MutexLock lock(mu_);
    silent_ = silent;
    changed_.NotifyAll();
  }
  NotifyListeners();
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
  NotifyListeners();
}

void StreamFaults::NotifyListeners() {
  std::map<const void*, std::function<void()>> listeners;
  {
    MutexLock lock(mu_);
    listeners.swap(listeners_);
  }
  for (const auto& [stream, changed] : listeners) changed();
}

void StreamFaults::Listen(const void* stream, std::function<void()> changed) {
  MutexLock lock(mu_);
  if (changed) {
    listeners_[stream] = std::move(changed);
  } else {
    listeners_.erase(stream);
  }
}

bool StreamFaults::silent() const {
  MutexLock lock(mu_);
  return silent_;
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

FaultyStream::~FaultyStream() {
  faults_->Listen(this, nullptr);
  --*running_;
}

Result<Bytes> FaultyStream::Read(Context& ctx) {
  if (broken_) return *broken_;
  Context call = ctx.Child();
  Result<Bytes> piece = [&]() -> Result<Bytes> {
    const StreamFaults::Breakable breakable(*faults_, call, since_);
    COX_RETURN_IF_ERROR(faults_->AwaitDelivery(call, since_));
    COX_ASSIGN_OR_RETURN(std::optional<Bytes> read, ReadFaulty({.ctx = &call}));
    // Data that arrives while silent is held back.
    COX_RETURN_IF_ERROR(faults_->AwaitDelivery(call, since_));
    return *std::move(read);
  }();
  // A stopped context allows another read; a broken connection is final.
  if (faults_->breaks() != since_) broken_ = StreamFaults::Reset();
  return broken_ ? Result<Bytes>(*broken_) : std::move(piece);
}

bool FaultyStream::ByEvents() const {
  return fault_.cut_after_events || fault_.end_after_events || fault_.silent_after_events ||
         fault_.drop_bookmarks || fault_.repeat_events;
}

Result<std::optional<Bytes>> FaultyStream::TryRead(const std::function<void()>& ready) {
  if (broken_) return *broken_;
  faults_->Listen(this, ready);  // before the checks, so that no change is missed
  if (faults_->breaks() != since_) {
    broken_ = StreamFaults::Reset();
    return *broken_;
  }
  if (faults_->silent()) return std::optional<Bytes>();
  return ReadFaulty({.ready = &ready});
}

FaultyStream::Piece FaultyStream::ReadUnder(const Mode& mode) {
  if (mode.ready != nullptr) return under_->TryRead(*mode.ready);
  COX_ASSIGN_OR_RETURN(Bytes piece, under_->Read(*mode.ctx));
  return std::optional<Bytes>(std::move(piece));
}

FaultyStream::Piece FaultyStream::ReadFaulty(const Mode& mode) {
  if (fault_.cut_after_bytes && bytes_ >= *fault_.cut_after_bytes) cut_ = true;
  if (cut_) {
    broken_ = StreamFaults::Reset();
    return *broken_;
  }
  if (ByEvents()) return ReadEvent(mode);
  COX_ASSIGN_OR_RETURN(std::optional<Bytes> piece, ReadUnder(mode));
  if (!fault_.cut_after_bytes || !piece) return piece;
  *piece = piece->Slice(0, *fault_.cut_after_bytes - bytes_);
  bytes_ += piece->size();
  return piece;
}

std::optional<FaultyStream::Piece> FaultyStream::EndOf(const Mode& mode) {
  if (fault_.end_after_events && events_ >= *fault_.end_after_events) {
    return Piece(std::optional<Bytes>(Bytes()));
  }
  if (fault_.silent_after_events && events_ >= *fault_.silent_after_events) {
    if (mode.ready != nullptr) return Piece(std::optional<Bytes>());
    return Piece(AwaitStop(*mode.ctx));
  }
  return std::nullopt;
}

FaultyStream::Piece FaultyStream::ReadEvent(const Mode& mode) {
  const auto piece_of = [](std::string text) {
    return std::optional<Bytes>(Bytes(std::move(text)));
  };
  for (;;) {
    if (!repeated_.empty()) return piece_of(std::exchange(repeated_, {}));
    if (auto end = EndOf(mode)) return *std::move(end);
    std::optional<std::string> event = frames_.Next();
    if (!event) {
      COX_ASSIGN_OR_RETURN(const std::optional<Bytes> piece, ReadUnder(mode));
      if (!piece) return piece;
      if (piece->empty()) return piece_of(frames_.TakeRest());
      frames_.Add(piece->view());
      continue;
    }
    if (fault_.drop_bookmarks && frames_.IsBookmark(*event)) continue;
    if (fault_.cut_after_events && events_ >= *fault_.cut_after_events) {
      cut_ = true;
      event->resize(event->size() / 2);
      return piece_of(*std::move(event));
    }
    ++events_;
    if (fault_.repeat_events) repeated_ = *event;
    return piece_of(*std::move(event));
  }
}

}  // namespace cox::testkit
