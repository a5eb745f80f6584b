// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/event_writer.h"

#include <optional>
#include <string>
#include <utility>

#include "api/meta/v1.h"
#include "base/strings.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/initial_events.h"
#include "storage/unreadable.h"

namespace cox::apiserver {

Status CheckReadable(const storage::Entry& entry) {
  const auto why = storage::WhyUnreadable(entry.stored());
  if (!why) return {};
  return Status::Internal("Internal error occurred: unable to transform key " + Quote(entry.key()) +
                          ": " + std::string(*why));
}

Status EventWriter::Write(std::string_view type, const storage::Entry& entry,
                          std::vector<Bytes>* out) {
  if (accepted_.transform == Transform::kNone && !accepted_.pretty) {
    Result<Bytes> object = resource_.Encoded(entry, accepted_.format);
    if (object.ok()) Frame(type, std::move(*object), out);
  } else {
    const Result<Object> hub = resource_.store().Decode(entry.stored(), entry.revision());
    if (hub.ok()) WriteObject(type, *hub, out);
  }
  return CheckReadable(entry);
}

void EventWriter::WriteObject(std::string_view type, const Object& hub, std::vector<Bytes>* out) {
  Result<std::string> text = EncodeShaped(resource_, hub, accepted_, include_, NowOf(clock_),
                                          /*with_columns=*/!columns_sent_);
  if (!text.ok()) return;
  columns_sent_ = true;
  if (accepted_.format == Format::kJson && text->ends_with('\n')) text->pop_back();
  Frame(type, Bytes(std::move(*text)), out);
}

void EventWriter::WriteStatus(const Status& status, std::vector<Bytes>* out) {
  const Accepted plain{.format = accepted_.format};
  std::string text = EncodeStatus(status, plain);
  if (plain.format == Format::kJson) text.pop_back();
  Frame("ERROR", Bytes(std::move(text)), out);
}

void EventWriter::WriteBookmark(storage::Revision revision, bool initial_end,
                                std::vector<Bytes>* out) {
  Object object(resource_.strategy().kind());
  object.object_meta()->resourceVersion = std::to_string(revision);
  if (initial_end) object.object_meta()->annotations[kInitialEventsEnd] = "true";
  WriteObject("BOOKMARK", object, out);
}

void EventWriter::Frame(std::string_view type, Bytes object, std::vector<Bytes>* out) {
  if (accepted_.format == Format::kJson) {
    out->emplace_back("{\"type\":\"" + std::string(type) + "\",\"object\":");
    out->push_back(std::move(object));
    out->push_back(Bytes::Static("}\n"));
    return;
  }
  // A WatchEvent message, preceded by its length in four bytes: the type in field 1, a
  // RawExtension with the encoded object in field 2.
  std::string raw_head;
  proto::AppendLengthPrefix(&raw_head, 1, object.size());
  std::string head;
  proto::AppendLengthPrefix(&head, 1, type.size());
  head += type;
  proto::AppendLengthPrefix(&head, 2, raw_head.size() + object.size());
  head += raw_head;
  const size_t size = head.size() + object.size();
  std::string length;
  for (int shift = 24; shift >= 0; shift -= 8) length += static_cast<char>(size >> shift);
  out->emplace_back(length + head);
  out->push_back(std::move(object));
}

}  // namespace cox::apiserver
