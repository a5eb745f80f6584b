// SPDX-License-Identifier: Apache-2.0
#include "net/server/http2_callbacks.h"

namespace cox::net {
namespace {

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

// A local struct, because only members of the session can access its private types.
const nghttp2_session_callbacks* Http2Session::Callbacks::Table() {
  struct On {
    static Http2Session& Self(void* user) { return *static_cast<Http2Session*>(user); }

    static int BeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
      if (frame->hd.type != NGHTTP2_HEADERS) return 0;
      if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {  // trailers
        Self(user).headers_since_ = Self(user).now_;
        return 0;
      }
      return Self(user).OnBeginRequest(frame->hd.stream_id);
    }

    static int Header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
      // Trailers of a request are ignored.
      if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
      Stream* const stream = Self(user).Find(frame->hd.stream_id);
      if (stream == nullptr) return 0;
      return Self(user).OnHeader(*stream, View(name, name_size), View(value, value_size));
    }

    static int FrameReceived(nghttp2_session*, const nghttp2_frame* frame, void* user) {
      Http2Session& self = Self(user);
      const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
          self.headers_since_ = {};
          if (Stream* const stream = self.Find(frame->hd.stream_id)) {
            if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
              self.OnHeadersComplete(*stream, end);
            } else if (end) {
              self.Dispatch(*stream);
            }
          }
          return 0;
        case NGHTTP2_DATA:
          if (frame->hd.length == 0 && !end) return self.OnControlFrame(*frame);
          if (Stream* const stream = self.Find(frame->hd.stream_id); stream != nullptr && end) {
            self.Dispatch(*stream);
          }
          return 0;
        default:
          return self.OnControlFrame(*frame);
      }
    }

    static int DataChunk(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data,
                         size_t size, void* user) {
      Stream* const stream = Self(user).Find(id);
      if (stream == nullptr) {
        nghttp2_session_consume(session, id, size);
        return 0;
      }
      return Self(user).OnData(*stream, View(data, size));
    }

    static int StreamClosed(nghttp2_session*, int32_t id, uint32_t, void* user) {
      Self(user).OnStreamClosed(id);
      return 0;
    }

    static int FrameSent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
      const bool data_or_headers =
          frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
      if (data_or_headers && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        Self(user).AfterLastFrame(frame->hd.stream_id);
      }
      // The PING's acknowledgement proves that the peer has received the first GOAWAY. It is
      // submitted only now, because nghttp2 sends PINGs first.
      if (frame->hd.type == NGHTTP2_GOAWAY && Self(user).draining_ == Draining::kNotice) {
        nghttp2_submit_ping(Self(user).session_, NGHTTP2_FLAG_NONE, nullptr);
      }
      return 0;
    }

    // Invalid frames that do not end the connection count against the limit, too.
    static int InvalidFrame(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
      return Self(user).guard_.OnControl(Self(user).now_) || frame == nullptr
                 ? 0
                 : (Self(user).Terminate(NGHTTP2_ENHANCE_YOUR_CALM), 0);
    }

    static int SendData(nghttp2_session*, nghttp2_frame*, const uint8_t* header, size_t length,
                        nghttp2_data_source* source, void* user) {
      return Self(user).WriteData(*static_cast<Stream*>(source->ptr), header, length);
    }
  };
  static nghttp2_session_callbacks* const table = [] {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, On::BeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(made, On::Header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, On::FrameReceived);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, On::DataChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, On::StreamClosed);
    nghttp2_session_callbacks_set_on_frame_send_callback(made, On::FrameSent);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, On::InvalidFrame);
    nghttp2_session_callbacks_set_send_data_callback(made, On::SendData);
    return made;
  }();
  return table;
}

nghttp2_data_provider Http2Session::Callbacks::BodyOf(Stream& stream) {
  nghttp2_data_provider provider{};
  provider.source.ptr = &stream;
  provider.read_callback = [](nghttp2_session*, int32_t, uint8_t*, size_t length, uint32_t* flags,
                              nghttp2_data_source* source, void* user) {
    return static_cast<Http2Session*>(user)->ReadBody(*static_cast<Stream*>(source->ptr), length,
                                                      flags);
  };
  return provider;
}

}  // namespace cox::net
