// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cox::testkit {

// Splits the body of a watch into events: lines of JSON, or length-prefixed protobuf messages,
// depending on the Content-Type.
//
// Threads: not thread-safe.
class EventFrames {
 public:
  explicit EventFrames(std::string_view content_type)
      : protobuf_(content_type.find("protobuf") != std::string_view::npos) {}

  void Add(std::string_view bytes) { pending_ += bytes; }
  // Returns the next complete event with its frame; nullopt if more data is needed.
  std::optional<std::string> Next();
  // Returns the remaining incomplete event.
  std::string TakeRest() { return std::exchange(pending_, {}); }

  // `event` must be complete.
  bool IsBookmark(std::string_view event) const;

 private:
  const bool protobuf_;
  std::string pending_;
};

}  // namespace cox::testkit
