// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// Frames of SPDY/3.1. Kubernetes uses it to run several streams over one upgraded connection: exec,
// attach and port-forward between API server, kubelet and runtime.
//
// Leaves out what Kubernetes does not use: priorities, push, credentials, and flow-control windows,
// which its peers neither send nor respect. TCP provides the back-pressure.
namespace cox::net::spdy {

using HeaderList = std::vector<std::pair<std::string, std::string>>;  // names are lower case

enum class FrameType : uint8_t {
  kData = 0,
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kHeaders = 8,
  kWindowUpdate = 9,
};

inline constexpr uint32_t kMaxStreamId = 0x7fffffff;
// Limit for sent data frames; received ones may be longer and are returned in pieces.
inline constexpr size_t kMaxDataBytes = size_t{32} * 1024;
// Limits for a received control frame, and for its uncompressed headers.
inline constexpr size_t kMaxControlBytes = size_t{64} * 1024;
inline constexpr size_t kMaxHeaderBytes = size_t{64} * 1024;
inline constexpr size_t kMaxHeaders = 128;

// Compresses headers with zlib, with one state per direction of a connection.
class HeaderPacker {
 public:
  HeaderPacker();
  ~HeaderPacker();
  HeaderPacker(const HeaderPacker&) = delete;
  HeaderPacker& operator=(const HeaderPacker&) = delete;
  std::string Pack(const HeaderList& headers);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

class HeaderUnpacker {
 public:
  HeaderUnpacker();
  ~HeaderUnpacker();
  HeaderUnpacker(const HeaderUnpacker&) = delete;
  HeaderUnpacker& operator=(const HeaderUnpacker&) = delete;
  // BadRequest if the header block is invalid or too large; then the connection must be closed.
  Result<HeaderList> Unpack(std::string_view block);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// These append to `out`.
void AppendData(uint32_t stream, std::string_view bytes, bool fin, std::string* out);
void AppendSynStream(uint32_t stream, std::string_view block, bool fin, std::string* out);
void AppendSynReply(uint32_t stream, std::string_view block, bool fin, std::string* out);
void AppendRstStream(uint32_t stream, uint32_t code, std::string* out);
void AppendPing(uint32_t id, std::string* out);
void AppendGoAway(uint32_t last_stream, std::string* out);

// A received control frame, or a piece of a data frame.
struct Frame {
  FrameType type = FrameType::kData;
  uint32_t stream = 0;    // kPing: its id; kGoAway: the last stream; kSettings: 0
  uint32_t code = 0;      // of kRstStream and kGoAway
  bool fin = false;       // the sender half-closes the stream; set on the last piece of a frame
  std::string block;      // compressed headers of kSynStream, kSynReply, kHeaders
  std::string_view data;  // of kData: refers to the input of Parse
};

// An incremental parser. Buffers at most one control frame.
class Parser {
 public:
  enum class Outcome { kMore, kFrame, kBad };
  // Consumes from the front of `bytes`. kMore: everything is consumed. kFrame: `frame` is set; call
  // again. kBad: protocol error, see error(); permanent.
  Outcome Parse(std::string_view* bytes, Frame* frame);
  const std::string& error() const { return error_; }

 private:
  Outcome Fail(std::string why);
  Outcome ParseControl(Frame* frame);

  std::string head_;  // the 8-byte frame header, as far as received
  std::string body_;  // of a control frame
  uint32_t data_left_ = 0;
  bool in_data_ = false;
  std::string error_;
};

}  // namespace cox::net::spdy
