// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/event_reader.h"

#include <optional>

#include "object/codec/protobuf/fields.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/initial_events.h"

namespace cox::simulate {
namespace {

using WatchedType = WatchedEvent::Type;

// Field numbers of the API's messages.
constexpr uint32_t kMetadata = 1;
constexpr uint32_t kName = 1, kNamespace = 3, kUid = 5, kResourceVersion = 6, kAnnotations = 12;
constexpr uint32_t kMapKey = 1, kMapValue = 2;
constexpr uint32_t kEventType = 1, kEventObject = 2, kRaw = 1;
constexpr uint32_t kStatusCode = 6;

constexpr size_t kLengthBytes = 4;
constexpr size_t kKeptCapacity = 4096;

bool IsInitialEventsEnd(std::string_view entry) {
  std::string_view key, value;
  proto::Fields fields(entry);
  while (fields.Next()) {
    if (fields.number() == kMapKey) key = fields.bytes();
    if (fields.number() == kMapValue) value = fields.bytes();
  }
  return key == kInitialEventsEnd && value == "true";
}

std::optional<WatchedType> TypeOf(std::string_view name) {
  if (name == "ADDED") return WatchedType::kAdded;
  if (name == "MODIFIED") return WatchedType::kModified;
  if (name == "DELETED") return WatchedType::kDeleted;
  if (name == "BOOKMARK") return WatchedType::kBookmark;
  if (name == "ERROR") return WatchedType::kError;
  return std::nullopt;
}

Status Malformed() { return Status::Internal("the response is no stream of watch events"); }

bool OpenEnvelope(std::string_view* bytes) {
  if (!proto::HasEnvelope(*bytes)) return true;
  const Result<proto::Envelope> envelope = proto::Open(*bytes);
  if (!envelope.ok()) return false;
  *bytes = envelope->raw;
  return true;
}

// False if the frame is no event.
bool ReadEvent(std::string_view frame, WatchedEvent* event) {
  if (!OpenEnvelope(&frame)) return false;
  std::string_view type, extension;
  proto::Fields fields(frame);
  while (fields.Next()) {
    if (fields.number() == kEventType) type = fields.bytes();
    if (fields.number() == kEventObject) extension = fields.bytes();
  }
  proto::Fields raw(extension);
  while (raw.Next()) {
    if (raw.number() == kRaw) event->object = raw.bytes();
  }
  const std::optional<WatchedType> known = TypeOf(type);
  if (!fields.good() || !raw.good() || !known) return false;
  event->type = *known;
  return OpenEnvelope(&event->object);
}

// The size of the frame at the front of `bytes`, without its length. No value if the length is
// incomplete.
std::optional<size_t> FrameSize(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return std::nullopt;
  size_t size = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) size = size << 8 | static_cast<unsigned char>(bytes[i]);
  return size;
}

}  // namespace

bool ReadObjectView(std::string_view object, ObjectView* view) {
  std::string_view metadata;
  proto::Fields fields(object);
  // The metadata is the first field: the rest of the object is not read.
  while (fields.Next()) {
    if (fields.number() != kMetadata) continue;
    metadata = fields.bytes();
    break;
  }
  if (!fields.good()) return false;
  proto::Fields meta(metadata);
  while (meta.Next()) {
    switch (meta.number()) {
      case kName:
        view->name = meta.bytes();
        break;
      case kNamespace:
        view->ns = meta.bytes();
        break;
      case kUid:
        view->uid = meta.bytes();
        break;
      case kResourceVersion:
        view->resource_version = meta.bytes();
        break;
      case kAnnotations:
        if (IsInitialEventsEnd(meta.bytes())) view->initial_events_end = true;
        break;
      default:
        break;
    }
  }
  return meta.good();
}

int CodeOfStatus(std::string_view object) {
  proto::Fields fields(object);
  while (fields.Next()) {
    if (fields.number() == kStatusCode) return static_cast<int>(fields.value());
  }
  return 0;
}

Status EventReader::Feed(std::string_view bytes, const Take& take) {
  const bool buffered = !rest_.empty();
  if (buffered) rest_.append(bytes);
  std::string_view input = buffered ? std::string_view(rest_) : bytes;
  bool wanted = true;
  while (wanted) {
    const std::optional<size_t> size = FrameSize(input);
    if (!size) break;
    if (*size > kMaxEventBytes) return Malformed();
    if (input.size() - kLengthBytes < *size) break;
    WatchedEvent event;
    if (!ReadEvent(input.substr(kLengthBytes, *size), &event)) return Malformed();
    wanted = take(event);
    input.remove_prefix(kLengthBytes + *size);
  }
  if (!buffered) {
    rest_.assign(input);
  } else if (input.empty() && rest_.capacity() > kKeptCapacity) {
    rest_ = std::string();  // thousands of watches keep no large buffers
  } else {
    rest_.erase(0, rest_.size() - input.size());
  }
  return {};
}

}  // namespace cox::simulate
