// SPDX-License-Identifier: Apache-2.0
#include "net/server/http1_session.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "net/server/response_head.h"

namespace cox::net {
namespace {

// Limit for pipelined input while a request is handled.
constexpr size_t kMaxPipelined = 64 * 1024;
// Room for a chunk's size line and trailing line break, and for the last chunk.
constexpr size_t kChunkFrame = 32;
constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace

Http1Session::Http1Session(const SessionShared& shared, std::shared_ptr<const Peer> peer,
                           Host& host)
    : shared_(shared),
      peer_(std::move(peer)),
      host_(host),
      in_flight_(std::make_shared<std::atomic<int>>(0)),
      now_(shared.loop->clock().Monotonic()),
      since_(now_) {}

Http1Session::~Http1Session() {
  ForgetBytes();
  if (exchange_ != nullptr) {
    exchange_->Detach(false);
    shared_.counters.streams.fetch_sub(1, std::memory_order_relaxed);
  }
}

bool Http1Session::wants_input() const {
  if (link_ != nullptr) return link_->wants_input();
  const bool has_request = state_ == State::kHandling || state_ == State::kSending;
  return !has_request || input_.size() < kMaxPipelined;
}

void Http1Session::Receive(std::string_view bytes) {
  if (finished()) return;
  now_ = shared_.loop->clock().Monotonic();
  busy_ = true;
  if (link_ != nullptr) {
    link_->Receive(bytes);
  } else {
    input_.append(bytes);
    ParseInput();
  }
  busy_ = false;
}

void Http1Session::ParseInput() {
  while (!input_.empty() &&
         (state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody)) {
    if (state_ == State::kIdle) {
      parser_.emplace(shared_.options.max_header_bytes);
      state_ = State::kHead;
      head_bytes_ = 0;
      checked_ = false;
      since_ = now_;
    }
    std::string_view rest = input_;
    const bool in_head = state_ == State::kHead;
    const auto outcome = parser_->Parse(&rest);
    if (in_head) head_bytes_ += input_.size() - rest.size();
    input_.erase(0, input_.size() - rest.size());
    if (!CountBytes()) {
      Reject(503, "");
      break;
    }
    if (state_ == State::kBody) {
      since_ = now_;
      if (parser_->body.size() > shared_.options.max_body_bytes) {
        parser_->body.resize(shared_.options.max_body_bytes + 1);
        keep_alive_ = false;  // the rest of the input is the rest of that body
        Dispatch();
        break;
      }
    }
    switch (outcome) {
      case Http1Parser<true>::Outcome::kMore:
        // An incomplete line: of the head, a chunk's extension or a trailer.
        if (input_.size() > shared_.options.max_header_bytes) {
          Reject(431, "");
          break;
        }
        if (input_.empty()) std::string().swap(input_);
        return CheckHeaders();
      case Http1Parser<true>::Outcome::kHeaders:
        OnHead();
        if (state_ == State::kBody && parser_->is_done()) Dispatch();
        break;
      case Http1Parser<true>::Outcome::kDone:
        Dispatch();
        break;
      case Http1Parser<true>::Outcome::kTooLarge:
        Reject(431, "");
        break;
      case Http1Parser<true>::Outcome::kBad:
        Reject(400, "");
        break;
    }
  }
  if (input_.empty()) std::string().swap(input_);  // an idle connection keeps no buffer
}

void Http1Session::OnHead() {
  state_ = State::kBody;
  since_ = now_;
  one_zero_ = parser_->minor_version == 0;
  head_request_ = parser_->method == "HEAD";
  keep_alive_ = parser_->keep_alive() && !draining_;
  if (!one_zero_ && parser_->headers.All("host").size() != 1) {
    return Reject(400, parser_->headers.Get("host") ? ": too many Host headers"
                                                    : ": missing required Host header");
  }
  if (!parser_->is_done() && !one_zero_ &&
      parser_->headers.Get("expect").value_or("") == "100-continue") {
    head_ += "HTTP/1.1 100 Continue\r\n\r\n";
  }
}

bool Http1Session::CountBytes() {
  const size_t before = std::exchange(counted_, head_bytes_ + parser_->body.size() + input_.size());
  if (counted_ > before) {
    return shared_.counters.AddBytes(counted_ - before, counted_, shared_.options);
  }
  shared_.counters.request_bytes.fetch_sub(before - counted_, std::memory_order_relaxed);
  return true;
}

void Http1Session::CheckHeaders() {
  if (state_ != State::kBody || shared_.options.accepts_body == nullptr ||
      std::exchange(checked_, true)) {
    return;
  }
  Request request = TakeRequest();
  if (shared_.options.accepts_body(request)) {
    // The parser continues with the body.
    parser_->method = std::move(request.method);
    parser_->target = std::move(request.target);
    parser_->headers = std::move(request.headers);
    parser_->body = std::move(request.body);
    return;
  }
  keep_alive_ = false;  // the rest of the input is the body
  request.rejected = true;
  request.body = {};
  Handle(std::move(request));
}

Request Http1Session::TakeRequest() {
  Request request;
  request.method = std::move(parser_->method);
  request.target = std::move(parser_->target);
  request.headers = std::move(parser_->headers);
  request.body = std::move(parser_->body);
  request.version = 1;
  request.peer = peer_;
  return request;
}

void Http1Session::ForgetBytes() {
  shared_.counters.request_bytes.fetch_sub(std::exchange(counted_, 0), std::memory_order_relaxed);
}

void Http1Session::Dispatch() { Handle(TakeRequest()); }

void Http1Session::Handle(Request request) {
  ForgetBytes();
  state_ = State::kHandling;
  since_ = now_;
  parser_.reset();
  shared_.counters.requests.fetch_add(1, std::memory_order_relaxed);
  shared_.counters.streams.fetch_add(1, std::memory_order_relaxed);
  exchange_ = std::make_shared<ServerExchange>(shared_.loop, shared_.context, std::move(request),
                                               *this, in_flight_);
  shared_.handler(exchange_->MakeHandle());
}

void Http1Session::Reject(int status, std::string_view detail) {
  ForgetBytes();
  const std::string line = std::to_string(status) + " " + ReasonPhrase(status);
  // No content-length: the end of the connection ends the body.
  head_ += "HTTP/1.1 " + line +
           "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + line +
           std::string(detail);
  keep_alive_ = false;
  body_follows_ = false;
  state_ = State::kSending;
  since_ = now_;
  input_ = {};
  shared_.counters.refused.fetch_add(1, std::memory_order_relaxed);
}

void Http1Session::OnResponse(Answer answer) {
  if (answer.upgrade != nullptr) return OnUpgrade(std::move(answer));
  since_ = now_ = shared_.loop->clock().Monotonic();
  state_ = State::kSending;
  if (WantsClose(answer.headers) || draining_) keep_alive_ = false;
  body_follows_ = HasBody(answer, head_request_);
  streaming_ = body_follows_ && answer.source != nullptr;
  chunked_ = streaming_ && !one_zero_;
  if (streaming_ && one_zero_) keep_alive_ = false;

  head_ += "HTTP/1.1 " + std::to_string(answer.status) + " " + ReasonPhrase(answer.status) + "\r\n";
  const auto add = [this](std::string_view name, std::string_view value) {
    head_.append(name).append(": ").append(value).append("\r\n");
  };
  for (const auto& [name, value] : answer.headers) {
    if (!IsHopByHop(name)) add(name, value);
  }
  if (const std::string length = ContentLength(answer); !length.empty()) {
    add("content-length", length);
  }
  if (!answer.headers.Get("date")) add("date", shared_.loop->HttpDate());
  if (chunked_) add("transfer-encoding", "chunked");
  if (!keep_alive_) {
    add("connection", "close");
  } else if (one_zero_) {
    add("connection", "keep-alive");
  }
  head_ += "\r\n";
  if (body_follows_) {
    body_ =
        streaming_ ? OutgoingBody(std::move(answer.source)) : OutgoingBody(std::move(answer.body));
  }
  if (!busy_) host_.OnOutputReady();
}

void Http1Session::OnUpgrade(Answer answer) {
  since_ = now_ = shared_.loop->clock().Monotonic();
  state_ = State::kUpgraded;
  head_ += "HTTP/1.1 101 Switching Protocols\r\nupgrade: " + answer.protocol +
           "\r\nconnection: Upgrade\r\n";
  for (const auto& [name, value] : answer.headers) {
    head_.append(name).append(": ").append(value).append("\r\n");
  }
  head_ += "\r\n";
  link_ = std::move(answer.upgrade);
  link_->Start([this] {
    if (!busy_) host_.OnOutputReady();
  });
  if (draining_) link_->GoAway();
  if (const std::string ahead = std::exchange(input_, {}); !ahead.empty()) link_->Receive(ahead);
  if (!busy_) host_.OnOutputReady();
}

void Http1Session::OnWake() {
  if (!std::exchange(waiting_, false)) return;
  since_ = shared_.loop->clock().Monotonic();
  if (!busy_) host_.OnOutputReady();
}

size_t Http1Session::Produce(char* to, size_t room) {
  now_ = shared_.loop->clock().Monotonic();
  busy_ = true;
  size_t used = 0;
  for (;;) {
    const size_t size = std::min(head_.size(), room - used);
    std::memcpy(to + used, head_.data(), size);
    used += size;
    if (size < head_.size()) {
      head_.erase(0, size);
      break;
    }
    std::string().swap(head_);
    if (state_ == State::kUpgraded) {
      if (used == 0) used = link_->Produce(to, room);  // one frame at most, see there
      break;
    }
    if (state_ != State::kSending) break;
    if (body_follows_) {
      if (waiting_) break;
      used += ProduceBody(to + used, room - used);
      if (body_follows_) break;  // no room, or waiting for the source
    }
    OnResponseDone();
    ParseInput();  // pipelined requests
  }
  if (used > 0) since_ = now_;
  busy_ = false;
  return used;
}

size_t Http1Session::ProduceBody(char* to, size_t room) {
  size_t used = 0;
  while (room - used > 2 * kChunkFrame) {
    const OutgoingBody::State state = body_.Prepare();
    if (state == OutgoingBody::State::kWait) {
      waiting_ = true;
      return used;
    }
    if (state == OutgoingBody::State::kEnd) {
      if (chunked_) {
        std::memcpy(to + used, kLastChunk.data(), kLastChunk.size());
        used += kLastChunk.size();
      }
      body_follows_ = false;
      return used;
    }
    used += chunked_ ? ProduceChunk(to + used, room - used) : body_.CopyTo(to + used, room - used);
  }
  return used;
}

size_t Http1Session::ProduceChunk(char* to, size_t room) {
  const size_t size = std::min(body_.available(), room - kChunkFrame);
  char* at = std::to_chars(to, to + kChunkFrame, size, 16).ptr;
  *at++ = '\r';
  *at++ = '\n';
  at += body_.CopyTo(at, size);
  *at++ = '\r';
  *at++ = '\n';
  return static_cast<size_t>(at - to);
}

void Http1Session::OnResponseDone() {
  if (exchange_ != nullptr) {
    exchange_->Detach(true);
    exchange_.reset();
    shared_.counters.streams.fetch_sub(1, std::memory_order_relaxed);
  }
  body_ = OutgoingBody();
  streaming_ = false;
  state_ = keep_alive_ && !draining_ ? State::kIdle : State::kFinished;
  since_ = now_;
}

void Http1Session::Drain() {
  draining_ = true;
  // A partial request does not count as in flight: the peer may retry it elsewhere.
  if (state_ == State::kIdle || state_ == State::kHead) state_ = State::kFinished;
  if (!busy_) host_.OnOutputReady();
}

void Http1Session::StopStreams() {
  if (link_ != nullptr) {
    exchange_->context().Stop();
    return link_->GoAway();
  }
  if (state_ != State::kSending || !streaming_) return;
  exchange_->context().Stop();
  body_.EndSource();
  OnWake();
}

void Http1Session::CheckTime(Clock::SteadyTime now) {
  const ServerOptions& options = shared_.options;
  const auto passed = now - since_;
  bool over = false;
  switch (state_) {
    case State::kIdle:
      over = passed > options.idle_timeout;
      break;
    case State::kHead:  // since_ is the time of the first byte
      over = passed > options.header_timeout;
      if (over) shared_.counters.refused.fetch_add(1, std::memory_order_relaxed);
      break;
    case State::kBody:
      over = passed > options.body_timeout;
      break;
    case State::kSending:
      // Connection checks the write timeout.
    case State::kHandling:
    case State::kUpgraded:  // the link has its own timers
    case State::kFinished:
      break;
  }
  if (!over) return;
  state_ = State::kFinished;
  if (!busy_) host_.OnOutputReady();
}

}  // namespace cox::net
