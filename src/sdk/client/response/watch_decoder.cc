// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/watch_decoder.h"

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/fields.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/initial_events.h"
#include "sdk/client/response/status_response.h"

namespace cox {

Status EndOfWatch() {
  static const Status kEnd(Reason::kUnknown, "the server ended the watch");
  return kEnd;
}

bool IsEndOfWatch(const Status& status) { return !status.ok() && status == EndOfWatch(); }

}  // namespace cox

namespace cox::sdk {
namespace {

constexpr size_t kLengthBytes = 4;

Status Malformed(std::string_view what) {
  return Status::Internal("an event of the watch cannot be read: " + std::string(what));
}

std::string VersionOf(const Object& object) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) return meta->resourceVersion;
  if (object.is_typed()) return "";
  const Value* version = object.value().At({"metadata", "resourceVersion"});
  return version != nullptr && version->is_string() ? std::string(version->as_string()) : "";
}

}  // namespace

void WatchDecoder::Feed(std::string_view bytes) {
  if (format_ == Format::kJson) {
    json_.Feed(bytes);
    return;
  }
  if (at_ == buffer_.size() && buffer_.capacity() > 256 * 1024) {
    buffer_ = std::string();  // release the buffer of a large event
  } else {
    buffer_.erase(0, at_);
  }
  at_ = 0;
  buffer_.append(bytes);
}

bool WatchDecoder::between() const {
  return format_ == Format::kJson ? json_.between() : at_ == buffer_.size();
}

Result<std::optional<WatchEvent<Object>>> WatchDecoder::Next() {
  return format_ == Format::kJson ? NextJson() : NextProto();
}

Result<WatchDecoder::Event> WatchDecoder::NextJson() {
  while (true) {
    switch (json_.Next()) {
      case Part::kMore:
        return Event();
      case Part::kBroken:
        return Malformed("it is no JSON object, or too large");
      case Part::kItem:
        break;  // not requested
      case Part::kMember:
        if (json_.key() == "type") {
          if (json_.text().size() >= 2) type_ = json_.text().substr(1, json_.text().size() - 2);
        } else if (json_.key() == "object" && !given_) {
          // Servers write the type first, so that the object can be decoded without a copy.
          if (type_.empty()) {
            object_ = json_.text();
          } else {
            given_ = true;
            return Decode(type_, json_.text());
          }
        }
        break;
      case Part::kEnd: {
        const bool given = std::exchange(given_, false);
        const std::string type = std::exchange(type_, "");
        const std::string object = std::exchange(object_, "");
        if (given) break;
        return Decode(type, object);
      }
    }
  }
}

Result<WatchDecoder::Event> WatchDecoder::NextProto() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < kLengthBytes) return Event();
  size_t size = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) size = size << 8 | static_cast<unsigned char>(rest[i]);
  if (size > kMaxStreamedBytes) return Malformed("it has " + std::to_string(size) + " bytes");
  if (rest.size() - kLengthBytes < size) return Event();
  std::string_view frame = rest.substr(kLengthBytes, size);
  at_ += kLengthBytes + size;
  if (proto::HasEnvelope(frame)) {
    COX_ASSIGN_OR_RETURN(const proto::Envelope envelope, proto::Open(frame));
    frame = envelope.raw;
  }
  std::string_view type, extension, object;
  proto::Fields fields(frame);
  while (fields.Next()) {
    if (fields.number() == 1) type = fields.bytes();
    if (fields.number() == 2) extension = fields.bytes();
  }
  proto::Fields raw(extension);
  while (raw.Next()) {
    if (raw.number() == 1) object = raw.bytes();
  }
  if (!fields.good() || !raw.good()) return Malformed("it is no WatchEvent");
  return Decode(type, object);
}

Result<WatchDecoder::Event> WatchDecoder::Decode(std::string_view type, std::string_view object) {
  WatchEvent<Object> event;
  if (type == "ADDED") {
    event.type = EventType::kAdded;
  } else if (type == "MODIFIED") {
    event.type = EventType::kModified;
  } else if (type == "DELETED") {
    event.type = EventType::kDeleted;
  } else if (type == "BOOKMARK") {
    return DecodeBookmark(object);
  } else if (type == "ERROR") {
    return DecodeError(object);
  } else {
    return Malformed("its type is " + Quote(type.substr(0, 100)));
  }
  if (format_ == Format::kProtobuf) {
    const Result<proto::Envelope> envelope = proto::Open(object);
    if (!envelope.ok()) return Malformed(envelope.status().message());
    if (envelope->kind != form_.gvk.kind) {
      return Malformed("its object is a " + Quote(envelope->kind.substr(0, 100)));
    }
    object = envelope->raw;
  }
  COX_ASSIGN_OR_RETURN(Object decoded, DecodeAs(form_, object, format_));
  event.resource_version = VersionOf(decoded);
  event.object = std::make_shared<const Object>(std::move(decoded));
  return Event(std::move(event));
}

Result<WatchDecoder::Event> WatchDecoder::DecodeBookmark(std::string_view object) const {
  // A bookmark contains only metadata, which is encoded the same way for all kinds.
  if (format_ == Format::kProtobuf) {
    const Result<proto::Envelope> envelope = proto::Open(object);
    if (!envelope.ok()) return Malformed(envelope.status().message());
    object = envelope->raw;
  }
  const Result<meta::v1::PartialObjectMetadata> partial =
      format_ == Format::kJson ? json::Decode<meta::v1::PartialObjectMetadata>(object)
                               : proto::Decode<meta::v1::PartialObjectMetadata>(object);
  if (!partial.ok()) return Malformed(partial.status().message());
  WatchEvent<Object> event{.type = EventType::kBookmark};
  event.resource_version = partial->metadata.resourceVersion;
  const auto& annotations = partial->metadata.annotations;
  const auto end = annotations.find(kInitialEventsEnd);
  event.initial_events_end = end != annotations.end() && end->second == "true";
  return Event(std::move(event));
}

Status WatchDecoder::DecodeError(std::string_view object) const {
  std::optional<Status> status = StatusFromBody(object);
  if (!status || status->ok()) return Malformed("an ERROR without a Status");
  return *status;
}

}  // namespace cox::sdk
