// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/client.h"
#include "object/codec.h"
#include "sdk/client/answer/json_stream.h"
#include "sdk/client/answer/list_decoder.h"

namespace cox::sdk {

// The events of a watch, out of the bytes of its answer however they are cut: JSON documents one
// after the other, or protobuf messages with their length before them.
//
// Threads: as a plain struct.
// Errors of Next, after which there is nothing more: what an ERROR event says (Expired for 410);
//   Internal for what cannot be read, and for events larger than kMaxStreamedBytes.
class WatchDecoder {
 public:
  WatchDecoder(ObjectForm form, Format format) : form_(std::move(form)), format_(format) {}

  void Feed(std::string_view bytes);
  // None if no further event is whole.
  Result<std::optional<WatchEvent<Object>>> Next();
  // Whether what came so far ends where an event does.
  bool between() const;

 private:
  using Event = std::optional<WatchEvent<Object>>;
  Result<Event> NextJson();
  Result<Event> NextProto();
  // `object` is JSON, or protobuf in its envelope.
  Result<Event> Decode(std::string_view type, std::string_view object);
  Result<Event> DecodeBookmark(std::string_view object) const;
  Status DecodeError(std::string_view object) const;

  const ObjectForm form_;
  const Format format_;
  // JSON.
  JsonStream json_;
  std::string type_;    // of the document that is being read
  std::string object_;  // of it, where that came before its type
  bool given_ = false;  // it became an event already
  // Protobuf.
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace cox::sdk
