// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cox::testkit {

// Cuts the body of a watch into its events: lines of JSON, or protobuf messages with their length
// before them, as the Content-Type says.
//
// Threads: one at a time.
class EventFrames {
 public:
  explicit EventFrames(std::string_view content_type)
      : protobuf_(content_type.find("protobuf") != std::string_view::npos) {}

  void Add(std::string_view bytes) { pending_ += bytes; }
  // The next whole event, frame and all; none until more has come.
  std::optional<std::string> Next();
  // What came of an event that is not whole.
  std::string TakeRest() { return std::exchange(pending_, {}); }

  // Of a whole event.
  bool IsBookmark(std::string_view event) const;

 private:
  const bool protobuf_;
  std::string pending_;
};

}  // namespace cox::testkit
