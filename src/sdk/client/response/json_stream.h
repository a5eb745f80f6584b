// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cox::sdk {

// Result of a step of a stream decoder.
enum class Part : uint8_t {
  kMore,    // incomplete: more input is needed
  kMember,  // a member of the document: key() and text()
  kItem,    // an item of the array that is split: text()
  kEnd,     // end of the document; another may follow
  kBroken,  // malformed or larger than the limit; permanent
};

// Maximum size of an object in a list or a watch. The same as upstream's limit for streams, and ten
// times etcd's limit.
inline constexpr size_t kMaxStreamedBytes = size_t{16} * 1024 * 1024;

// Incremental splitter for JSON objects: returns the members of each object as they become
// complete, and the items of one member that is an array. Memory use is bounded by the largest
// member or item.
//
//   JsonStream stream("items");
//   stream.Feed(chunk);
//   for (Part part = stream.Next(); part != Part::kMore; part = stream.Next()) ...
//
// Only finds the boundaries of values, in one pass. The decoder of a value validates its content.
// Threads: like a plain struct. text() is valid until the next Feed, key() until the next Next.
class JsonStream {
 public:
  // `array`: the member that is split into items; empty: none.
  explicit JsonStream(std::string_view array = "", size_t limit = kMaxStreamedBytes)
      : array_(array), limit_(limit) {}

  void Feed(std::string_view bytes);
  Part Next();

  // The raw key, without quotes.
  const std::string& key() const { return key_; }
  std::string_view text() const {
    return std::string_view(buffer_).substr(text_begin_, text_end_ - text_begin_);
  }
  // True if no document is open.
  bool between() const { return state_ == State::kOutside; }

 private:
  enum class State : uint8_t {
    kOutside,
    kFirstKey,
    kNextKey,
    kKey,
    kColon,
    kValueStart,
    kValue,
    kAfterValue,
    kFirstItem,
    kNextItem,
    kItem,
    kAfterItem,
    kBroken,
  };

  // Processes `c`, which is not white space; returns what it completed.
  Part Step(char c);
  Part Expect(bool as_expected, State next);
  // Skips the rest of a value; false if it is incomplete.
  bool ScanValue();
  bool ScanString();
  void BeginValue(State state);
  Part Emit(State next, Part part);

  const std::string_view array_;
  const size_t limit_;
  std::string buffer_;
  size_t at_ = 0;    // bytes before it are scanned
  size_t keep_ = 0;  // bytes before it can be discarded
  State state_ = State::kOutside;
  // State of the value that is being skipped.
  int64_t depth_ = 0;
  bool scalar_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  std::string key_;
  size_t text_begin_ = 0;
  size_t text_end_ = 0;
};

}  // namespace cox::sdk
