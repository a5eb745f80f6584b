// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server/http2_stream.h"

namespace cox::net {

// nghttp2's callbacks, translated into calls of the session's methods.
struct Http2Session::Callbacks {
  // One table for all sessions.
  static const nghttp2_session_callbacks* Table();
  // Of a response whose body is the stream's.
  static nghttp2_data_provider BodyOf(Stream& stream);
};

}  // namespace cox::net
