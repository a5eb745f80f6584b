// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

// Reads watch responses in protobuf without decoding the objects.
namespace cox::simulate {

// Metadata of an object. All views point into the object's bytes.
struct ObjectView {
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view resource_version;
  bool initial_events_end = false;  // the annotation of a bookmark
};
// Reads the metadata from protobuf without envelope. False if it is malformed.
bool ReadObjectView(std::string_view object, ObjectView* view);

struct WatchedEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kAdded;
  std::string_view object;  // protobuf without envelope
};

// Splits a response into events. Only the incomplete end of the input is copied.
//
// Errors: Internal for input that is not a stream of events, or for an event that is too large.
class EventReader {
 public:
  // Objects of at most 3 MiB, and their envelope.
  static constexpr size_t kMaxEventBytes = size_t{4} * 1024 * 1024;

  // Calls `take` for each complete event. Stops if `take` returns false.
  using Take = std::function<bool(const WatchedEvent& event)>;
  Status Feed(std::string_view bytes, const Take& take);

 private:
  std::string rest_;
};

// The code of a Status object: that of an error event, protobuf without envelope. 0: none.
int CodeOfStatus(std::string_view object);

}  // namespace cox::simulate
