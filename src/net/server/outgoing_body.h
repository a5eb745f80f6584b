// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "net/http.h"

namespace cox::net {

// A response body on its way out: pieces that are there, or a source that gives them on demand.
// It refers to the pieces and copies them once, to where TLS reads them; each is let go of as soon
// as it is copied.
//
// Threads: the loop's only.
class OutgoingBody {
 public:
  enum class State { kReady, kWait, kEnd };

  OutgoingBody() = default;
  explicit OutgoingBody(std::vector<Bytes> pieces);
  explicit OutgoingBody(std::unique_ptr<BodySource> source) : source_(std::move(source)) {}

  // Makes sure there are bytes to copy, asking the source if need be. kReady: available() > 0;
  // kWait: the source will wake us; kEnd: nothing comes any more.
  State Prepare();
  size_t available() const { return available_; }
  // Whether nothing comes after what is available. False if nobody knows yet.
  bool last() const { return source_ == nullptr; }
  // Copies min(room, available()) bytes.
  size_t CopyTo(char* to, size_t room);
  // The source gives what it has now and is then asked no more.
  void EndSource();

 private:
  // Larger than a DATA frame, so that a source is not asked for every frame.
  static constexpr size_t kPullBudget = 64 * 1024;

  void Count();

  std::unique_ptr<BodySource> source_;  // null: all is in pieces_
  std::vector<Bytes> pieces_;
  size_t next_ = 0;    // the piece to copy from
  size_t offset_ = 0;  // within it
  size_t available_ = 0;
  bool ending_ = false;
};

}  // namespace cox::net
