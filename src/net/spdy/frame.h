// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// Frames of SPDY/3.1, as bytes in and bytes out. Kubernetes speaks it to run several streams over
// one upgraded connection: exec, attach and port-forward between API server, kubelet and runtime.
//
// What it does not use is not here: priorities, push, credentials, and the windows of flow control,
// which its peers neither send nor keep to. TCP holds back who is too fast.
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
// Of a frame of data that we send; what a peer sends may be longer and comes in pieces.
inline constexpr size_t kMaxDataBytes = size_t{32} * 1024;
// A peer's control frame, and the headers that come out of it.
inline constexpr size_t kMaxControlBytes = size_t{64} * 1024;
inline constexpr size_t kMaxHeaderBytes = size_t{64} * 1024;
inline constexpr size_t kMaxHeaders = 128;

// Headers as they travel: packed by zlib, with one state for all that goes one way on a connection.
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
  // BadRequest for what is no header block, or too large; then the connection cannot go on.
  Result<HeaderList> Unpack(std::string_view block);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// Appends to `out`.
void AppendData(uint32_t stream, std::string_view bytes, bool fin, std::string* out);
void AppendSynStream(uint32_t stream, std::string_view block, bool fin, std::string* out);
void AppendSynReply(uint32_t stream, std::string_view block, bool fin, std::string* out);
void AppendRstStream(uint32_t stream, uint32_t code, std::string* out);
void AppendPing(uint32_t id, std::string* out);
void AppendGoAway(uint32_t last_stream, std::string* out);

// What was received: a control frame, or a piece of a frame of data.
struct Frame {
  FrameType type = FrameType::kData;
  uint32_t stream = 0;    // kPing: its id; kGoAway: the last stream; kSettings: 0
  uint32_t code = 0;      // of kRstStream and kGoAway
  bool fin = false;       // the sender sends no more on the stream; on the last piece of a frame
  std::string block;      // packed headers of kSynStream, kSynReply, kHeaders
  std::string_view data;  // of kData: within what was given to Parse
};

// Takes bytes as they come and gives frames. Holds at most one control frame.
class Parser {
 public:
  enum class Outcome { kMore, kFrame, kBad };
  // Takes from the front of `bytes`. kMore: all is taken. kFrame: `frame` is one; call again.
  // kBad: the peer does not speak SPDY/3.1; error() says why, and it stays so.
  Outcome Parse(std::string_view* bytes, Frame* frame);
  const std::string& error() const { return error_; }

 private:
  Outcome Fail(std::string why);
  Outcome ParseControl(Frame* frame);

  std::string head_;  // the 8 bytes that a frame begins with, as far as they are there
  std::string body_;  // of a control frame
  uint32_t data_left_ = 0;
  bool in_data_ = false;
  std::string error_;
};

}  // namespace cox::net::spdy
