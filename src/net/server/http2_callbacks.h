// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server/http2_stream.h"

namespace cox::net {

// nghttp2's callbacks, mapped to methods of the session.
struct Http2Session::Callbacks {
  // Shared by all sessions.
  static const nghttp2_session_callbacks* Table();
  // The data provider of a response with the stream's body.
  static nghttp2_data_provider BodyOf(Stream& stream);
};

}  // namespace cox::net
