// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/messages.h"

#include <memory>
#include <utility>

#include "object/codec/protobuf/fields.h"

namespace cox::storage::etcd {
namespace {

using proto::BackWriter;
using proto::Fields;

// Fields with the default value are not sent.
void Int(BackWriter& writer, uint32_t number, int64_t value) {
  if (value != 0) writer.VarintField(number, static_cast<uint64_t>(value));
}
void Text(BackWriter& writer, uint32_t number, std::string_view value) {
  if (!value.empty()) writer.BytesField(number, value);
}

Status Malformed(std::string_view what) {
  return Status::Internal("etcd sent a malformed " + std::string(what));
}

// The buffer of a response; values may keep a reference to it.
class Source {
 public:
  explicit Source(std::string message)
      : message_(std::make_shared<const std::string>(std::move(message))) {}

  std::string_view view() const { return *message_; }
  Bytes Value(std::string_view value) const {
    const bool most = value.size() >= message_->capacity() / 4 * 3;
    return most ? Bytes(message_, value) : Bytes::Copy(value);
  }

 private:
  std::shared_ptr<const std::string> message_;
};

struct StoredKey {
  std::string_view key;
  std::string_view value;
  Revision created = 0;
  Revision modified = 0;
  int64_t version = 0;
};

bool ReadKey(std::string_view bytes, StoredKey& out) {
  Fields fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        out.key = fields.bytes();
        break;
      case 2:
        out.created = fields.value();
        break;
      case 3:
        out.modified = fields.value();
        break;
      case 4:
        out.version = fields.value();
        break;
      case 5:
        out.value = fields.bytes();
        break;
      default:
        break;
    }
  }
  return fields.good();
}

bool ReadHeader(std::string_view bytes, Revision& revision, uint64_t* member = nullptr) {
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 3) revision = fields.value();
    if (fields.number() == 2 && member != nullptr) *member = static_cast<uint64_t>(fields.value());
  }
  return fields.good();
}

bool ReadRange(const Source& source, std::string_view bytes, RangeResponse& out) {
  Fields fields(bytes);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        if (!ReadHeader(fields.bytes(), out.revision)) return false;
        break;
      case 2: {
        StoredKey kv;
        if (!ReadKey(fields.bytes(), kv)) return false;
        out.kvs.push_back({std::string(kv.key), source.Value(kv.value), kv.modified});
        out.version = kv.version;
        break;
      }
      case 3:
        out.more = fields.flag();
        break;
      case 4:
        out.count = fields.value();
        break;
      default:
        break;
    }
  }
  return fields.good();
}

bool ReadTxnOperation(const Source& source, std::string_view bytes, TxnResponse& out) {
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 1) {  // range
      RangeResponse range;
      if (!ReadRange(source, fields.bytes(), range)) return false;
      out.current_version = range.version;
      if (!range.kvs.empty()) out.current = std::move(range.kvs.front());
    } else if (fields.number() == 3) {  // delete
      Fields deletion(fields.bytes());
      while (deletion.Next()) {
        if (deletion.number() == 2) out.deleted = deletion.value();
      }
      if (!deletion.good()) return false;
    }
  }
  return fields.good();
}

bool ReadEvent(const Source& source, std::string_view bytes, std::vector<Event>& out) {
  Event event;
  StoredKey kv;
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 1) {
      event.type = fields.value() == 1 ? Event::Type::kDelete : Event::Type::kPut;
    } else if (fields.number() == 2 && !ReadKey(fields.bytes(), kv)) {
      return false;
    }
  }
  event.kv = {std::string(kv.key), source.Value(kv.value), kv.modified};
  event.created = event.type == Event::Type::kPut && kv.created == kv.modified;
  out.push_back(std::move(event));
  return fields.good();
}

}  // namespace

Message::Message(BackWriter writer) : writer_(std::move(writer)) {
  const auto size = static_cast<uint32_t>(writer_.size());
  const char prefix[] = {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                         static_cast<char>(size >> 8), static_cast<char>(size)};
  writer_.Raw({prefix, sizeof prefix});
}

// BackWriter writes backwards, so fields are written from the last to the first.

Message Encode(const RangeRequest& request) {
  BackWriter writer(request.key.size() + request.range_end.size() + 64);
  Int(writer, 8, request.keys_only ? 1 : 0);
  Int(writer, 4, request.revision);
  Int(writer, 3, request.limit);
  Text(writer, 2, request.range_end);
  Text(writer, 1, request.key);
  return Message(std::move(writer));
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty()) {
    auto last = static_cast<unsigned char>(end.back());
    if (last < 0xff) {
      end.back() = static_cast<char>(last + 1);
      return end;
    }
    end.pop_back();
  }
  return std::string(1, '\0');  // no end: "\0" means all keys from the start key on
}

Message Encode(const TxnRequest& request) {
  BackWriter writer(request.key.size() * 3 + request.guard.size() +
                    request.put.value_or("").size() + 128);
  BackWriter& w = writer;
  size_t operation = w.size();  // else: range
  size_t body = w.size();
  Text(w, 1, request.key);
  w.MessageField(1, body);
  w.MessageField(3, operation);

  operation = w.size();  // then: put or delete
  body = w.size();
  if (request.put.has_value()) {
    Int(w, 3, request.lease);
    Text(w, 2, *request.put);
    Text(w, 1, request.key);
    w.MessageField(2, body);
  } else {
    Text(w, 1, request.key);
    w.MessageField(3, body);
  }
  w.MessageField(2, operation);

  if (!request.guard.empty()) {  // if, the second condition
    const size_t guard = w.size();
    w.VarintField(6, static_cast<uint64_t>(request.guard_revision));
    Text(w, 3, request.guard);
    Int(w, 2, static_cast<int64_t>(TxnRequest::Compare::kModRevision));
    w.MessageField(1, guard);
  }
  const size_t compare = w.size();  // if
  const bool version = request.compare == TxnRequest::Compare::kVersion;
  // A member of a oneof is sent even if it is 0.
  w.VarintField(version ? 4 : 6, static_cast<uint64_t>(request.equals));
  Text(w, 3, request.key);
  Int(w, 2, static_cast<int64_t>(request.compare));
  w.MessageField(1, compare);
  return Message(std::move(writer));
}

Message Encode(const WatchCreateRequest& request) {
  BackWriter writer(request.prefix.size() * 2 + 64);
  const size_t create = writer.size();
  Int(writer, 8, 1);  // fragment: large responses may be split
  Int(writer, 4, 1);  // progress_notify: send periodic progress notifications
  Int(writer, 3, request.start);
  Text(writer, 2, PrefixEnd(request.prefix));
  Text(writer, 1, request.prefix);
  writer.MessageField(1, create);
  return Message(std::move(writer));
}

Message EncodeWatchProgress() {
  BackWriter writer(16);
  writer.MessageField(3, writer.size());
  return Message(std::move(writer));
}

Message EncodeCompact(Revision revision) {
  BackWriter writer(32);
  Int(writer, 1, revision);
  return Message(std::move(writer));
}

Message EncodeLeaseGrant(int64_t ttl_seconds) {
  BackWriter writer(32);
  Int(writer, 1, ttl_seconds);
  return Message(std::move(writer));
}

Message EncodeStatus() { return Message(BackWriter(16)); }

Result<RangeResponse> DecodeRange(std::string message) {
  const Source source(std::move(message));
  RangeResponse response;
  if (!ReadRange(source, source.view(), response)) return Malformed("RangeResponse");
  return response;
}

Result<TxnResponse> DecodeTxn(std::string message) {
  const Source source(std::move(message));
  TxnResponse response;
  Fields fields(source.view());
  bool good = true;
  while (good && fields.Next()) {
    switch (fields.number()) {
      case 1:
        good = ReadHeader(fields.bytes(), response.revision);
        break;
      case 2:
        response.succeeded = fields.flag();
        break;
      case 3:
        good = ReadTxnOperation(source, fields.bytes(), response);
        break;
      default:
        break;
    }
  }
  if (!good || !fields.good()) return Malformed("TxnResponse");
  return response;
}

Result<WatchResponse> DecodeWatch(std::string message) {
  const Source source(std::move(message));
  WatchResponse response;
  Fields fields(source.view());
  bool good = true;
  while (good && fields.Next()) {
    switch (fields.number()) {
      case 1:
        good = ReadHeader(fields.bytes(), response.revision);
        break;
      case 2:
        response.watch_id = fields.value();
        break;
      case 3:
        response.created = fields.flag();
        break;
      case 4:
        response.canceled = fields.flag();
        break;
      case 5:
        response.compact_revision = fields.value();
        break;
      case 6:
        response.cancel_reason = fields.bytes();
        break;
      case 7:
        response.fragment = fields.flag();
        break;
      case 11:
        good = ReadEvent(source, fields.bytes(), response.events);
        break;
      default:
        break;
    }
  }
  if (!good || !fields.good()) return Malformed("WatchResponse");
  return response;
}

Result<LeaseGrantResponse> DecodeLeaseGrant(std::string_view message) {
  LeaseGrantResponse response;
  std::string error;
  Fields fields(message);
  while (fields.Next()) {
    switch (fields.number()) {
      case 2:
        response.id = fields.value();
        break;
      case 3:
        response.ttl_seconds = fields.value();
        break;
      case 4:
        error = fields.bytes();
        break;
      default:
        break;
    }
  }
  if (!fields.good()) return Malformed("LeaseGrantResponse");
  if (!error.empty()) return Status::Internal("etcd granted no lease: " + error);
  return response;
}

Result<StatusResponse> DecodeStatus(std::string_view message) {
  StatusResponse response;
  Revision revision = 0;
  Fields fields(message);
  bool good = true;
  while (good && fields.Next()) {
    switch (fields.number()) {
      case 1:
        good = ReadHeader(fields.bytes(), revision, &response.member);
        break;
      case 2:
        response.version = fields.bytes();
        break;
      case 3:
        response.db_size = fields.value();
        break;
      case 4:
        response.leader = static_cast<uint64_t>(fields.value());
        break;
      default:
        break;
    }
  }
  if (!good || !fields.good()) return Malformed("StatusResponse");
  return response;
}

}  // namespace cox::storage::etcd
