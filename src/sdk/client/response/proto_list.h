// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sdk/client/response/json_stream.h"

namespace cox::sdk {

// The equivalent of JsonStream for lists in protobuf: "k8s\0" and an envelope with the list
// message, whose metadata is field 1 and whose items are field 2 for all kinds.
//
// Returns kMember for the metadata and kItem for each item, with their bytes. The list ends with
// the response: complete() returns whether it is complete.
// Threads: like a plain struct. text() is valid until the next Feed.
class ProtoListStream {
 public:
  explicit ProtoListStream(size_t limit = kMaxStreamedBytes) : limit_(limit) {}

  void Feed(std::string_view bytes);
  Part Next();
  std::string_view text() const { return std::string_view(buffer_).substr(text_, text_size_); }
  // The list's kind, "PodList"; set before the first item.
  const std::string& kind() const { return kind_; }
  bool complete() const { return list_seen_ && in_list_ == 0 && at_ == buffer_.size(); }

 private:
  static constexpr uint64_t kMetadata = 1, kItems = 2;
  static constexpr uint64_t kTypeMeta = 1, kRaw = 2;

  // The field at at_: its number, and the begin and end of its content. kMore if it is incomplete.
  struct FieldAt {
    uint64_t number = 0;
    size_t begin = 0;
    size_t end = 0;
  };
  // A field with the number `open` counts as complete as soon as its length is known.
  Part ReadField(uint64_t open, FieldAt* field) const;
  Part NextOfEnvelope();
  Part NextOfList();

  const size_t limit_;
  std::string buffer_;
  size_t at_ = 0;
  size_t text_ = 0, text_size_ = 0;
  bool magic_seen_ = false;
  bool list_seen_ = false;
  bool broken_ = false;
  uint64_t in_list_ = 0;  // remaining bytes of the list message
  std::string kind_;
};

}  // namespace cox::sdk
