// SPDX-License-Identifier: Apache-2.0
#include "net/spdy/session.h"

#include <utility>

namespace cox::net::spdy {
namespace {

constexpr uint32_t kProtocolError = 1;
constexpr uint32_t kInvalidStream = 2;
constexpr uint32_t kCancel = 5;
// Limit for frames that wait for another thread to write them.
constexpr size_t kOutboxBytes = size_t{128} * 1024;

Status Bad(std::string_view what) { return Status::BadRequest("SPDY: " + std::string(what)); }

}  // namespace

Status Session::Run(const Context& ctx, Events& events) {
  while (true) {
    COX_ASSIGN_OR_RETURN(const Bytes bytes, wire_.Read(ctx));
    if (bytes.empty()) return {};
    std::string_view rest = bytes.view();
    Frame frame;
    for (Parser::Outcome outcome = parser_.Parse(&rest, &frame); outcome != Parser::Outcome::kMore;
         outcome = parser_.Parse(&rest, &frame)) {
      if (outcome == Parser::Outcome::kBad) return Bad(parser_.error());
      COX_RETURN_IF_ERROR(Take(ctx, frame, events));
    }
  }
}

Status Session::Take(const Context& ctx, Frame& frame, Events& events) {
  switch (frame.type) {
    case FrameType::kData:
      return TakeData(ctx, frame, events);
    case FrameType::kSynStream:
      return TakeSynStream(ctx, frame, events);
    case FrameType::kSynReply:
    case FrameType::kHeaders:
      // The headers are ignored, but must be decompressed to keep the compression state.
      COX_RETURN_IF_ERROR(unpacker_.Unpack(frame.block).status());
      return frame.fin ? TakeEnd(frame.stream, events) : Status();
    case FrameType::kRstStream: {
      const bool known = [&] {
        MutexLock lock(mu_);
        return streams_.erase(frame.stream) > 0;
      }();
      return known ? events.OnReset(frame.stream) : Status();
    }
    case FrameType::kPing: {
      // A client's own pings are odd; those frames are replies.
      if ((frame.stream % 2 == 1) == (role_ == Role::kClient)) return {};
      std::string pong;
      AppendPing(frame.stream, &pong);
      return WriteFrame(ctx, pong, /*waits=*/false);
    }
    case FrameType::kGoAway:        // the end of the connection follows
    case FrameType::kSettings:      // no setting is supported
    case FrameType::kWindowUpdate:  // flow control is not used
      return {};
  }
  return {};
}

Status Session::TakeSynStream(const Context& ctx, const Frame& frame, Events& events) {
  COX_ASSIGN_OR_RETURN(const HeaderList headers, unpacker_.Unpack(frame.block));
  const bool theirs = (frame.stream % 2 == 1) == (role_ == Role::kServer);
  if (!theirs || frame.stream <= last_theirs_) {
    std::string reset;
    AppendRstStream(frame.stream, kProtocolError, &reset);
    return WriteFrame(ctx, reset, /*waits=*/false);
  }
  last_theirs_ = frame.stream;
  {
    MutexLock lock(mu_);
    if (streams_.size() >= kMaxStreams) return Bad("too many streams");
    streams_[frame.stream] = {};
  }
  COX_RETURN_IF_ERROR(events.OnStream(frame.stream, headers));
  return frame.fin ? TakeEnd(frame.stream, events) : Status();
}

Status Session::TakeData(const Context& ctx, const Frame& frame, Events& events) {
  if (!PeerMaySend(frame.stream)) {
    // After a local reset more data may arrive; reply only to the last piece.
    if (!frame.fin) return {};
    std::string reset;
    AppendRstStream(frame.stream, kInvalidStream, &reset);
    return WriteFrame(ctx, reset, /*waits=*/false);
  }
  if (!frame.data.empty()) COX_RETURN_IF_ERROR(events.OnData(frame.stream, frame.data));
  return frame.fin ? TakeEnd(frame.stream, events) : Status();
}

Status Session::TakeEnd(uint32_t stream, Events& events) {
  {
    MutexLock lock(mu_);
    const auto found = streams_.find(stream);
    if (found == streams_.end() || !found->second.theirs) return {};
    found->second.theirs = false;
    if (!found->second.ours) streams_.erase(found);
  }
  return events.OnFinished(stream);
}

bool Session::PeerMaySend(uint32_t stream) {
  MutexLock lock(mu_);
  const auto found = streams_.find(stream);
  return found != streams_.end() && found->second.theirs;
}

bool Session::MaySend(uint32_t stream, bool last) {
  MutexLock lock(mu_);
  const auto found = streams_.find(stream);
  if (found == streams_.end() || !found->second.ours) return false;
  if (last) {
    found->second.ours = false;
    if (!found->second.theirs) streams_.erase(found);
  }
  return true;
}

Result<uint32_t> Session::Open(const Context& ctx, const HeaderList& headers) {
  MutexLock lock(mu_);
  if (next_ > kMaxStreamId || streams_.size() >= kMaxStreams) return Bad("too many streams");
  // Under one lock: stream IDs and compressed headers must be sent in the order of their creation.
  const uint32_t stream = std::exchange(next_, next_ + 2);
  streams_[stream] = {};
  AppendSynStream(stream, packer_.Pack(headers), /*fin=*/false, &outbox_);
  COX_RETURN_IF_ERROR(Write(ctx));
  return stream;
}

Status Session::Reply(const Context& ctx, uint32_t stream) {
  MutexLock lock(mu_);
  AppendSynReply(stream, packer_.Pack({}), /*fin=*/false, &outbox_);
  return Write(ctx);
}

Status Session::Send(const Context& ctx, uint32_t stream, std::string_view bytes) {
  if (bytes.empty() || !MaySend(stream, /*last=*/false)) return {};
  std::string frame;
  AppendData(stream, bytes, /*fin=*/false, &frame);
  return WriteFrame(ctx, frame, /*waits=*/true);
}

Status Session::Finish(const Context& ctx, uint32_t stream) {
  if (!MaySend(stream, /*last=*/true)) return {};
  std::string frame;
  AppendData(stream, {}, /*fin=*/true, &frame);
  return WriteFrame(ctx, frame, /*waits=*/true);
}

Status Session::Reset(const Context& ctx, uint32_t stream) {
  {
    MutexLock lock(mu_);
    if (streams_.erase(stream) == 0) return {};
  }
  std::string frame;
  AppendRstStream(stream, kCancel, &frame);
  return WriteFrame(ctx, frame, /*waits=*/true);
}

Status Session::GoAway(const Context& ctx) {
  std::string frame;
  AppendGoAway(0, &frame);
  return WriteFrame(ctx, frame, /*waits=*/true);
}

Status Session::WriteFrame(const Context& ctx, const std::string& frame, bool waits) {
  MutexLock lock(mu_);
  if (waits) {
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
      return outbox_.size() < kOutboxBytes || !broken_.ok();
    }));
  } else if (outbox_.size() > 4 * kOutboxBytes) {
    return Bad("the peer asks faster than it takes answers");
  }
  outbox_ += frame;
  return Write(ctx);
}

Status Session::Write(const Context& ctx) {
  if (writing_) return broken_;  // the writing thread writes this, too
  writing_ = true;
  while (broken_.ok() && !outbox_.empty()) {
    const std::string bytes = std::exchange(outbox_, {});
    mu_.Unlock();  // no lock while writing
    Status status = wire_.Write(ctx, bytes);
    mu_.Lock();
    if (!status.ok()) broken_ = std::move(status);
    changed_.NotifyAll();
  }
  writing_ = false;
  return broken_;
}

}  // namespace cox::net::spdy
