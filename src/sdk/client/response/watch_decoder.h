// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/client.h"
#include "object/codec.h"
#include "sdk/client/response/json_stream.h"
#include "sdk/client/response/list_decoder.h"

namespace cox::sdk {

// Incremental decoder for watch events: consecutive JSON documents, or length-prefixed protobuf
// messages.
//
// Threads: like a plain struct.
// Errors: Next returns the Status of an ERROR event (Expired for 410), or Internal for undecodable
//   events and events larger than kMaxStreamedBytes. No events follow an error.
class WatchDecoder {
 public:
  WatchDecoder(ObjectForm form, Format format) : form_(std::move(form)), format_(format) {}

  void Feed(std::string_view bytes);
  // No value if no further event is complete.
  Result<std::optional<WatchEvent<Object>>> Next();
  // True if the input so far ends at an event boundary.
  bool between() const;

 private:
  using Event = std::optional<WatchEvent<Object>>;
  Result<Event> NextJson();
  Result<Event> NextProto();
  // `object` is JSON, or protobuf with its envelope.
  Result<Event> Decode(std::string_view type, std::string_view object);
  Result<Event> DecodeBookmark(std::string_view object) const;
  Status DecodeError(std::string_view object) const;

  const ObjectForm form_;
  const Format format_;
  // JSON.
  JsonStream json_;
  std::string type_;    // of the current document
  std::string object_;  // set if it came before the type
  bool given_ = false;  // the event was already returned
  // Protobuf.
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace cox::sdk
