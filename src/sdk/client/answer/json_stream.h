// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cox::sdk {

// What a stream decoder found next.
enum class Part : uint8_t {
  kMore,    // nothing whole: feed it
  kMember,  // a member of the document: key() and text()
  kItem,    // an item of the array that is taken apart: text()
  kEnd,     // the document is over; another may follow
  kBroken,  // it is no such document, or larger than the limit; stays so
};

// The largest object a list or a watch may hold. Upstream's streams have the same limit; etcd's is
// a tenth of it.
inline constexpr size_t kMaxStreamedBytes = size_t{16} * 1024 * 1024;

// Takes JSON objects that arrive in pieces apart: gives the members of each one as they become
// whole, and of one member that is an array its items. So an answer of any length needs no more
// memory than its largest member.
//
//   JsonStream stream("items");
//   stream.Feed(chunk);
//   for (Part part = stream.Next(); part != Part::kMore; part = stream.Next()) ...
//
// It finds where values begin and end, each byte looked at once. That they are well formed inside
// is for who decodes them.
// Threads: as a plain struct. text() is valid until the next Feed, key() until the next Next.
class JsonStream {
 public:
  // `array`: the member whose items are given one by one; empty: none.
  explicit JsonStream(std::string_view array = "", size_t limit = kMaxStreamedBytes)
      : array_(array), limit_(limit) {}

  void Feed(std::string_view bytes);
  Part Next();

  // As it stands in the text, without quotes.
  const std::string& key() const { return key_; }
  std::string_view text() const {
    return std::string_view(buffer_).substr(text_begin_, text_end_ - text_begin_);
  }
  // Whether no document has begun since the last one ended.
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

  // One step at the character `c`, which is no white space; what it completed, if anything.
  Part Step(char c);
  Part Expect(bool as_expected, State next);
  // Passes over the rest of a value; false if it goes on in the next piece.
  bool ScanValue();
  bool ScanString();
  void BeginValue(State state);
  Part Give(State next, Part part);

  const std::string_view array_;
  const size_t limit_;
  std::string buffer_;
  size_t at_ = 0;    // what is before has been looked at
  size_t keep_ = 0;  // what is before will not be asked for
  State state_ = State::kOutside;
  // Of the value that is being passed over.
  int64_t depth_ = 0;
  bool scalar_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  std::string key_;
  size_t text_begin_ = 0;
  size_t text_end_ = 0;
};

}  // namespace cox::sdk
