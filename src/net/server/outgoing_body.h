// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "net/http.h"

namespace cox::net {

// A response body: a list of pieces, or a source that provides them on demand. Each piece is copied
// once, to the buffer that TLS reads, and released as soon as it is copied.
//
// Threads: loop thread only.
class OutgoingBody {
 public:
  enum class State { kReady, kWait, kEnd };

  OutgoingBody() = default;
  explicit OutgoingBody(std::vector<Bytes> pieces);
  explicit OutgoingBody(std::unique_ptr<BodySource> source) : source_(std::move(source)) {}

  // Ensures that there are bytes to copy, pulling from the source if necessary. kReady: available()
  // > 0; kWait: the source will wake the session; kEnd: end of the body.
  State Prepare();
  size_t available() const { return available_; }
  // Whether the available bytes are the last. False if not known yet.
  bool last() const { return source_ == nullptr; }
  // Copies min(room, available()) bytes.
  size_t CopyTo(char* to, size_t room);
  // Pulls from the source one last time.
  void EndSource();

 private:
  // Larger than a DATA frame, so that the source is not pulled for every frame.
  static constexpr size_t kPullBudget = 64 * 1024;

  void Count();

  std::unique_ptr<BodySource> source_;  // null: everything is in pieces_
  std::vector<Bytes> pieces_;
  size_t next_ = 0;    // the piece to copy from
  size_t offset_ = 0;  // within that piece
  size_t available_ = 0;
  bool ending_ = false;
};

}  // namespace cox::net
