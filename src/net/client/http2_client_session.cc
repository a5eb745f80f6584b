// SPDX-License-Identifier: Apache-2.0
#include "net/client/http2_client_session.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "net/http.h"

namespace cox::net {
namespace {

// The receive window of one stream.
constexpr uint32_t kResponseWindow = 1024 * 1024;
// The connection's window is updated at once, so it must only cover the data in flight.
constexpr int32_t kConnectionWindow = 32 * 1024 * 1024;

std::atomic<size_t> held_in_total = 0;

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

bool HeldHeaders::Add(size_t bytes) {
  bytes_ += bytes;
  const size_t total = held_in_total.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  return total <= kMaxTotal || bytes_ <= kAlways;
}

void HeldHeaders::Release() {
  held_in_total.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
}

const nghttp2_session_callbacks* Http2ClientSession::Callbacks() {
  struct On {
    static Http2ClientSession& Self(void* user) { return *static_cast<Http2ClientSession*>(user); }
    static int BeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
      if (Stream* const stream = Self(user).Find(frame->hd.stream_id)) {
        stream->status = 0;
        stream->headers = {};
        stream->held.Release();
      }
      return 0;
    }
    static int Header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
      Stream* const stream = Self(user).Find(frame->hd.stream_id);
      if (stream == nullptr) return 0;
      return Self(user).OnHeader(*stream, View(name, name_size), View(value, value_size));
    }
    static int Frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
      Self(user).OnFrame(*frame);
      return 0;
    }
    static int Data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
      Self(user).OnData(id, View(data, size));
      return 0;
    }
    static int Closed(nghttp2_session*, int32_t id, uint32_t error, void* user) {
      Self(user).OnStreamClosed(id, error);
      return 0;
    }
    static int Send(nghttp2_session*, nghttp2_frame* frame, const uint8_t* header, size_t length,
                    nghttp2_data_source*, void* user) {
      Stream* const stream = Self(user).Find(frame->hd.stream_id);
      if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      char* const to = Self(user).output_.BeginData(header, length);
      if (to == nullptr) return NGHTTP2_ERR_WOULDBLOCK;
      std::memcpy(to, stream->call->request.body.data() + stream->sent, length);
      stream->sent += length;
      return 0;
    }
  };
  static nghttp2_session_callbacks* const table = [] {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, On::BeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(made, On::Header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, On::Frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, On::Data);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, On::Closed);
    nghttp2_session_callbacks_set_send_data_callback(made, On::Send);
    return made;
  }();
  return table;
}

Http2ClientSession::Http2ClientSession(std::string authority, std::string scheme,
                                       size_t max_header_bytes, Host& host)
    : authority_(std::move(authority)),
      scheme_(std::move(scheme)),
      max_header_bytes_(max_header_bytes),
      host_(host) {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // Enough for the header limit, and some more for servers with small frames.
  nghttp2_option_set_max_continuations(option, max_header_bytes_ / 16384 + 8);
  nghttp2_session_client_new2(&session_, Callbacks(), this, option);
  nghttp2_option_del(option);
  COX_CHECK(session_ != nullptr) << "out of memory";
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kResponseWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(max_header_bytes_)},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Http2ClientSession::~Http2ClientSession() { nghttp2_session_del(session_); }

size_t Http2ClientSession::capacity() const {
  // Zero until the server's SETTINGS have arrived: nghttp2 would queue excess requests.
  if (!settings_seen_ || failed_ || going_away_ ||
      nghttp2_session_check_request_allowed(session_) == 0)
    return 0;
  const size_t limit = std::min<size_t>(
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
      100'000);
  return limit > streams_.size() ? limit - streams_.size() : 0;
}

Http2ClientSession::Stream* Http2ClientSession::Find(int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : &found->second;
}

void Http2ClientSession::Submit(std::shared_ptr<ClientCall> call) {
  const Request& request = call->request;
  const std::string_view authority = request.headers.Get("host").value_or(authority_);
  const std::string length = std::to_string(request.body.size());
  std::vector<nghttp2_nv> fields;
  fields.reserve(request.headers.size() + 5);
  fields.push_back(Http2Field(":method", request.method));
  fields.push_back(Http2Field(":scheme", scheme_));
  fields.push_back(Http2Field(":authority", authority));
  fields.push_back(Http2Field(":path", request.target));
  for (const auto& [name, value] : request.headers) {
    if (name != "host" && name != "content-length" && !IsHopByHop(name)) {
      fields.push_back(Http2Field(name, value));
    }
  }
  if (!request.body.empty()) fields.push_back(Http2Field("content-length", length));
  nghttp2_data_provider body{};
  body.source.ptr = this;
  body.read_callback = [](nghttp2_session*, int32_t id, uint8_t*, size_t room, uint32_t* flags,
                          nghttp2_data_source* source, void*) -> ssize_t {
    auto* const self = static_cast<Http2ClientSession*>(source->ptr);
    const Stream* const stream = self->Find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t left = stream->call->request.body.size() - stream->sent;
    const size_t size = self->output_.FrameSize(std::min(left, room));
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (size == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  };
  const int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                            request.body.empty() ? nullptr : &body, nullptr);
  if (id < 0) return host_.OnUnprocessed(std::move(call));
  call->session = this;
  call->stream_id = id;
  streams_.emplace(id, Stream{.call = std::move(call)});
  if (!busy_) host_.OnOutputReady();
}

void Http2ClientSession::Cancel(ClientCall& call) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.stream_id, NGHTTP2_CANCEL);
  if (!busy_) host_.OnOutputReady();
}

void Http2ClientSession::Consumed(ClientCall& call, size_t size) {
  nghttp2_session_consume_stream(session_, call.stream_id, size);
  if (!busy_) host_.OnOutputReady();
}

void Http2ClientSession::Ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  if (!busy_) host_.OnOutputReady();
}

int Http2ClientSession::OnHeader(Stream& stream, std::string_view name, std::string_view value) {
  const size_t size = Http2FieldSize(name.size(), value.size());
  stream.header_bytes += size;
  if (stream.header_bytes > max_header_bytes_ || !stream.held.Add(size)) {
    if (!stream.call->ended()) {
      stream.call->OnEnd(Status::TooLarge("the headers of the response are too large"));
    }
    // Ends the connection: decoding the rest would cost more than it costs the server.
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), stream.status);
  } else {
    stream.headers.Add(std::string(name), std::string(value));
  }
  return 0;
}

void Http2ClientSession::OnFrame(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) {
    going_away_ = true;
    last_stream_ = frame.goaway.last_stream_id;
  } else if (frame.hd.type == NGHTTP2_SETTINGS) {
    settings_seen_ = true;
    host_.OnCapacity();
  } else if (frame.hd.type == NGHTTP2_HEADERS) {
    Stream* const stream = Find(frame.hd.stream_id);
    if (stream == nullptr || stream->call->ended()) return;
    // Ignore interim responses and trailers.
    if (stream->status < 200 || stream->call->headers_seen) return;
    stream->held.Release();
    stream->call->OnHeaders(stream->status, std::move(stream->headers));
  }
}

void Http2ClientSession::OnData(int32_t id, std::string_view bytes) {
  nghttp2_session_consume_connection(session_, bytes.size());
  Stream* const stream = Find(id);
  if (stream == nullptr || !stream->call->reads) {
    nghttp2_session_consume_stream(session_, id, bytes.size());
  }
  if (stream != nullptr && !stream->call->ended()) stream->call->OnData(bytes);
}

void Http2ClientSession::OnStreamClosed(int32_t id, uint32_t error) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const std::shared_ptr<ClientCall> call = std::move(found->second.call);
  streams_.erase(found);
  call->session = nullptr;
  const bool not_looked_at = error == NGHTTP2_REFUSED_STREAM || (going_away_ && id > last_stream_);
  if (call->ended()) {
    // canceled
  } else if (not_looked_at && !call->headers_seen) {
    host_.OnUnprocessed(call);
  } else if (error == NGHTTP2_NO_ERROR && call->headers_seen) {
    call->OnEnd({});
  } else {
    call->OnEnd(Status::Unavailable(std::string("stream reset by the server: ") +
                                    nghttp2_http2_strerror(error)));
  }
  host_.OnCapacity();
}

void Http2ClientSession::Receive(std::string_view bytes) {
  if (failed_) return;
  busy_ = true;
  const ssize_t result = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  busy_ = false;
  if (result < 0) failed_ = true;
}

size_t Http2ClientSession::Produce(char* to, size_t room) {
  if (failed_) return 0;
  busy_ = true;
  const size_t used = output_.Produce(session_, to, room, &failed_);
  busy_ = false;
  return used;
}

bool Http2ClientSession::finished() const {
  if (failed_) return true;
  return output_.empty() && nghttp2_session_want_read(session_) == 0 &&
         nghttp2_session_want_write(session_) == 0;
}

void Http2ClientSession::Fail(const Status& why) {
  failed_ = true;
  auto streams = std::exchange(streams_, {});
  for (auto& [id, stream] : streams) {
    stream.call->session = nullptr;
    if (stream.call->ended()) continue;
    if (going_away_ && id > last_stream_ && !stream.call->headers_seen) {
      host_.OnUnprocessed(stream.call);
    } else {
      stream.call->OnEnd(why.ok() ? Status::Unavailable("the server closed the connection") : why);
    }
  }
}

}  // namespace cox::net
