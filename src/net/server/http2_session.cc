// SPDX-License-Identifier: Apache-2.0
#include "net/server/http2_session.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "net/server/http2_callbacks.h"
#include "net/server/response_head.h"

namespace cox::net {
namespace {

// Timeout for the acknowledgement of the PING that follows the first GOAWAY.
constexpr std::chrono::seconds kDrainNotice{1};
// How long a peer may continue to send a body after it has received the response.
constexpr std::chrono::milliseconds kUnwantedRest{500};
// Maximum bytes of that body that are read and discarded.
constexpr size_t kMaxDiscarded = 8 * 1024 * 1024;

nghttp2_session* NewSession(const ServerOptions& options,
                            const nghttp2_session_callbacks* callbacks, Http2Session* self) {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // Enough for the header limit, and some more for clients with small frames.
  nghttp2_option_set_max_continuations(option, options.max_header_bytes / 16384 + 8);
  // FloodGuard is stricter and sends ENHANCE_YOUR_CALM; nghttp2's limit must not apply first.
  nghttp2_option_set_stream_reset_rate_limit(option, 100'000, 100'000);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new2(&session, callbacks, self, option);
  nghttp2_option_del(option);
  COX_CHECK(session != nullptr) << "out of memory";
  return session;
}

}  // namespace

Http2Session::Http2Session(const SessionShared& shared, std::shared_ptr<const Peer> peer,
                           Host& host)
    : shared_(shared),
      peer_(std::move(peer)),
      host_(host),
      in_flight_(std::make_shared<std::atomic<int>>(0)),
      guard_(shared.options.max_streams),
      now_(shared.loop->clock().Monotonic()),
      started_(now_),
      idle_since_(now_) {
  const ServerOptions& options = shared_.options;
  session_ = NewSession(options, Callbacks::Table(), this);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options.max_header_bytes)},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  // Several streams can send a whole window each before the connection's window is exhausted.
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(options.stream_window * 4));
}

Http2Session::~Http2Session() {
  // Streams are detached first: nghttp2 does not call back for each of them when the session is
  // deleted.
  for (auto& [id, stream] : streams_) {
    if (stream->exchange != nullptr) stream->exchange->Detach(stream->complete);
  }
  shared_.counters.streams.fetch_sub(streams_.size(), std::memory_order_relaxed);
  nghttp2_session_del(session_);
}

Http2Session::Stream* Http2Session::Find(int32_t id) {
  return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_, id));
}

void Http2Session::Receive(std::string_view bytes) {
  if (failed_) return;
  now_ = shared_.loop->clock().Monotonic();
  busy_ = true;
  const ssize_t result = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (result >= 0) CheckHeaders();
  busy_ = false;
  if (result < 0) {
    failed_ = true;
    if (result == NGHTTP2_ERR_FLOODED) {
      shared_.counters.refused.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

size_t Http2Session::Produce(char* to, size_t room) {
  if (failed_) return 0;
  now_ = shared_.loop->clock().Monotonic();
  busy_ = true;
  const size_t used = output_.Produce(session_, to, room, &failed_);
  busy_ = false;
  return used;
}

bool Http2Session::finished() const {
  if (failed_) return true;
  // Between the two GOAWAYs new requests may still arrive.
  if (draining_ == Draining::kNotice || !output_.empty()) return false;
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

int Http2Session::OnBeginRequest(int32_t id) {
  headers_since_ = now_;
  auto stream = std::make_unique<Stream>(*this, id);
  stream->progress = now_;
  stream->request.peer = peer_;
  nghttp2_session_set_stream_user_data(session_, id, stream.get());
  streams_.emplace(id, std::move(stream));
  shared_.counters.streams.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

int Http2Session::OnHeader(Stream& stream, std::string_view name, std::string_view value) {
  const size_t size = Http2FieldSize(name.size(), value.size());
  stream.header_bytes += size;
  if (stream.header_bytes > shared_.options.max_header_bytes) {
    // The rest of the block must be decoded to keep the compression state, but only up to a limit.
    if (stream.header_bytes > 2 * shared_.options.max_header_bytes) {
      shared_.counters.refused.fetch_add(1, std::memory_order_relaxed);
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    stream.too_large = true;
    stream.request.headers = {};
    stream.ForgetBytes();
    return 0;
  }
  if (stream.refused) return 0;
  stream.counted += size;
  if (!shared_.counters.AddBytes(size, stream.counted, shared_.options)) {
    stream.refused = true;  // reset when the headers are complete
    stream.request.headers = {};
    stream.ForgetBytes();
    return 0;
  }
  Request& request = stream.request;
  if (!name.starts_with(':')) {
    request.headers.Add(std::string(name), std::string(value));
  } else if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    request.target = value;
  } else if (name == ":authority") {
    request.headers.Add("host", std::string(value));
  }
  return 0;
}

void Http2Session::OnHeadersComplete(Stream& stream, bool end_of_stream) {
  stream.head = stream.request.method == "HEAD";
  // Handlers of reset streams still run: the peer may have reached its limit of concurrent
  // requests.
  if (stream.refused || in_flight_->load(std::memory_order_relaxed) >=
                            static_cast<int>(shared_.options.max_streams)) {
    stream.refused = true;
    stream.ForgetBytes();
    return Reset(stream.id, NGHTTP2_REFUSED_STREAM);
  }
  if (stream.too_large || stream.request.target.empty()) {
    stream.dispatched = true;
    Answer answer;
    answer.status = stream.too_large ? 431 : 405;  // CONNECT has no path, and is not supported
    answer.headers.Add("content-type", "text/plain; charset=utf-8");
    answer.body.push_back(Bytes::Static(stream.too_large ? "431 Request Header Fields Too Large"
                                                         : "405 Method Not Allowed"));
    return SubmitResponse(stream, std::move(answer));
  }
  if (end_of_stream) return Dispatch(stream);
  if (stream.request.headers.Get("expect") == "100-continue") {
    const nghttp2_nv go_on = Http2Field(":status", "100");
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id, nullptr, &go_on, 1, nullptr);
  }
  if (shared_.options.accepts_body != nullptr) unchecked_.push_back(stream.id);
}

void Http2Session::CheckHeaders() {
  for (const int32_t id : std::exchange(unchecked_, {})) {
    Stream* const stream = Find(id);
    if (stream == nullptr || stream->dispatched || stream->refused) continue;
    if (shared_.options.accepts_body(stream->request)) continue;
    stream->request.rejected = true;
    stream->request.body = {};
    Dispatch(*stream);
  }
}

int Http2Session::OnData(Stream& stream, std::string_view bytes) {
  const ServerOptions& options = shared_.options;
  // The connection's window is shared by all streams, so it is always updated.
  nghttp2_session_consume_connection(session_, bytes.size());
  if (stream.refused) return 0;
  if (stream.dispatched) {
    // The rest of a body that is too large. Some clients read the response only after they have
    // sent everything, so a moderate excess is accepted and discarded.
    stream.discarded += bytes.size();
    if (stream.discarded > kMaxDiscarded) return 0;
    stream.progress = now_;
    nghttp2_session_consume_stream(session_, stream.id, bytes.size());
    return 0;
  }
  const size_t room = options.max_body_bytes + 1 - stream.request.body.size();
  stream.request.body.append(bytes.substr(0, room));
  stream.progress = now_;
  if (stream.request.body.size() > options.max_body_bytes) {
    stream.discarded = bytes.size();
    nghttp2_session_consume_stream(session_, stream.id, bytes.size());
    Dispatch(stream);
    return 0;
  }
  stream.counted += bytes.size();
  if (!shared_.counters.AddBytes(bytes.size(), stream.counted, options)) {
    // Nothing was executed: the peer may safely retry.
    stream.refused = true;
    stream.request.body = {};
    stream.ForgetBytes();
    Reset(stream.id, NGHTTP2_REFUSED_STREAM);
    return 0;
  }
  nghttp2_session_consume_stream(session_, stream.id, bytes.size());
  return 0;
}

int Http2Session::OnControlFrame(const nghttp2_frame& frame) {
  const bool ack = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
  bool fine = true;
  switch (frame.hd.type) {
    case NGHTTP2_RST_STREAM:
      fine = guard_.OnReset(now_);
      break;
    case NGHTTP2_WINDOW_UPDATE:
      fine = guard_.OnWindowUpdate(now_);
      break;
    case NGHTTP2_SETTINGS:
      settings_seen_ = true;
      fine = ack || guard_.OnControl(now_);
      break;
    case NGHTTP2_PING:
      if (ack && draining_ == Draining::kNotice) SendFinalGoAway();
      fine = guard_.OnControl(now_);
      break;
    default:
      fine = guard_.OnControl(now_);
  }
  if (!fine) Terminate(NGHTTP2_ENHANCE_YOUR_CALM);
  return 0;
}

void Http2Session::OnStreamClosed(int32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const std::unique_ptr<Stream> stream = std::move(found->second);
  streams_.erase(found);
  shared_.counters.streams.fetch_sub(1, std::memory_order_relaxed);
  if (streams_.empty()) idle_since_ = now_;
  if (stream->exchange != nullptr) stream->exchange->Detach(stream->complete);
}

void Http2Session::Dispatch(Stream& stream) {
  if (stream.dispatched || stream.refused) return;
  stream.dispatched = true;
  stream.ForgetBytes();
  shared_.counters.requests.fetch_add(1, std::memory_order_relaxed);
  stream.exchange = std::make_shared<ServerExchange>(shared_.loop, shared_.context,
                                                     std::move(stream.request), stream, in_flight_);
  stream.request = {};
  shared_.handler(stream.exchange->MakeHandle());
}

void Http2Session::SubmitResponse(Stream& stream, Answer answer) {
  const bool close = WantsClose(answer.headers);
  const bool body = HasBody(answer, stream.head);
  const std::string status = std::to_string(answer.status);
  const std::string length = ContentLength(answer);
  std::vector<nghttp2_nv> fields;
  fields.reserve(answer.headers.size() + 3);
  fields.push_back(Http2Field(":status", status));
  for (const auto& [name, value] : answer.headers) {
    if (!IsHopByHop(name)) fields.push_back(Http2Field(name, value));
  }
  if (!length.empty()) fields.push_back(Http2Field("content-length", length));
  if (!answer.headers.Get("date")) fields.push_back(Http2Field("date", shared_.loop->HttpDate()));
  stream.answered = true;
  stream.progress = now_;
  if (body) {
    stream.streaming = answer.source != nullptr;
    stream.body = stream.streaming ? OutgoingBody(std::move(answer.source))
                                   : OutgoingBody(std::move(answer.body));
  }
  const nghttp2_data_provider provider = Callbacks::BodyOf(stream);
  const int result = nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(),
                                             body ? &provider : nullptr);
  if (result != 0) Reset(stream.id, NGHTTP2_INTERNAL_ERROR);
  if (close) Drain();
  if (!busy_) host_.OnOutputReady();
}

ssize_t Http2Session::ReadBody(Stream& stream, size_t length, uint32_t* flags) {
  switch (stream.body.Prepare()) {
    case OutgoingBody::State::kWait:
      stream.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    case OutgoingBody::State::kEnd:
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      return 0;
    case OutgoingBody::State::kReady:
      break;
  }
  const size_t size = output_.FrameSize(std::min(length, stream.body.available()));
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (size == stream.body.available() && stream.body.last()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

int Http2Session::WriteData(Stream& stream, const uint8_t* frame_header, size_t length) {
  char* const to = output_.BeginData(frame_header, length);
  if (to == nullptr) return NGHTTP2_ERR_WOULDBLOCK;
  stream.body.CopyTo(to, length);
  stream.progress = now_;
  guard_.OnDataSent();
  return 0;
}

void Http2Session::AfterLastFrame(int32_t id) {
  Stream* const stream = Find(id);
  if (stream == nullptr) return;
  stream->complete = true;
  // If the response ended before the request, CheckTime resets the stream: not now, because some
  // clients discard the response when a reset follows immediately.
  stream->progress = now_;
}

void Http2Session::Reset(int32_t id, uint32_t error) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, error);
  if (!busy_) host_.OnOutputReady();
}

void Http2Session::Terminate(uint32_t error) {
  if (error != NGHTTP2_NO_ERROR) shared_.counters.refused.fetch_add(1, std::memory_order_relaxed);
  draining_ = Draining::kFinal;
  nghttp2_session_terminate_session(session_, error);
  if (!busy_) host_.OnOutputReady();
}

void Http2Session::Drain() {
  if (draining_ != Draining::kNo || failed_) return;
  draining_ = Draining::kNotice;
  drain_since_ = now_ = shared_.loop->clock().Monotonic();
  nghttp2_submit_shutdown_notice(session_);  // a PING follows it, see http2_callbacks.cc
  if (!busy_) host_.OnOutputReady();
}

void Http2Session::SendFinalGoAway() {
  draining_ = Draining::kFinal;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  if (!busy_) host_.OnOutputReady();
}

void Http2Session::StopStreams() {
  for (auto& [id, stream] : streams_) {
    if (!stream->streaming || stream->complete) continue;
    stream->exchange->context().Stop();
    stream->body.EndSource();
    stream->OnWake();
  }
}

void Http2Session::CheckTime(Clock::SteadyTime now) {
  if (failed_) return;
  now_ = now;
  const ServerOptions& options = shared_.options;
  if (draining_ == Draining::kNotice && now - drain_since_ > kDrainNotice) SendFinalGoAway();
  if (!settings_seen_ && now - started_ > options.header_timeout) {
    return Terminate(NGHTTP2_SETTINGS_TIMEOUT);
  }
  const bool slow_headers =
      headers_since_ != Clock::SteadyTime{} && now - headers_since_ > options.header_timeout;
  if (slow_headers) return Terminate(NGHTTP2_ENHANCE_YOUR_CALM);
  if (streams_.empty() && now - idle_since_ > options.idle_timeout) {
    return Terminate(NGHTTP2_NO_ERROR);
  }
  for (const auto& [id, stream] : streams_) {
    const auto still = now - stream->progress;
    if (!stream->dispatched && !stream->refused && still > options.body_timeout) {
      stream->refused = true;
      stream->ForgetBytes();
      Reset(id, NGHTTP2_CANCEL);
    } else if (stream->answered && !stream->complete && !stream->deferred &&
               still > options.write_timeout) {
      Reset(id, NGHTTP2_CANCEL);
      stream->progress = now;
    } else if (stream->complete && still > kUnwantedRest) {
      Reset(id, NGHTTP2_NO_ERROR);
      stream->progress = now;
    }
  }
}

Http2Session::Stream::~Stream() { ForgetBytes(); }

void Http2Session::Stream::ForgetBytes() {
  session_.shared_.counters.request_bytes.fetch_sub(std::exchange(counted, 0),
                                                    std::memory_order_relaxed);
}

void Http2Session::Stream::OnResponse(Answer answer) {
  session_.SubmitResponse(*this, std::move(answer));
}

void Http2Session::Stream::OnWake() {
  if (!deferred) return;
  deferred = false;
  progress = session_.shared_.loop->clock().Monotonic();
  nghttp2_session_resume_data(session_.session_, id);
  if (!session_.busy_) session_.host_.OnOutputReady();
}

}  // namespace cox::net
