// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/codec/protobuf/wire.h"
#include "storage/store.h"

// The messages of etcd's v3 API that Coxswain uses, with encoding and decoding. Names and numbers
// are those of etcd's rpc.proto and kv.proto. Unused fields are not sent, and are skipped on
// receipt.
namespace cox::storage::etcd {

inline constexpr std::string_view kRange = "/etcdserverpb.KV/Range";
inline constexpr std::string_view kTxn = "/etcdserverpb.KV/Txn";
inline constexpr std::string_view kCompact = "/etcdserverpb.KV/Compact";
inline constexpr std::string_view kWatch = "/etcdserverpb.Watch/Watch";
inline constexpr std::string_view kLeaseGrant = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr std::string_view kStatus = "/etcdserverpb.Maintenance/Status";

// An encoded request, including gRPC's prefix of five bytes.
class Message {
 public:
  explicit Message(proto::BackWriter writer);
  std::string_view framed() const { return writer_.view(); }

 private:
  proto::BackWriter writer_;
};

struct RangeRequest {
  std::string_view key;
  std::string_view range_end;  // exclusive; empty: just `key`
  int64_t limit = 0;
  Revision revision = 0;
  bool keys_only = false;
};
Message Encode(const RangeRequest& request);

// The end of the range of all keys that begin with `prefix`.
std::string PrefixEnd(std::string_view prefix);

// A transaction that compares one key and optionally a second one (the guard). If both match, it
// writes the key, otherwise it reads the key.
struct TxnRequest {
  enum class Compare : uint8_t { kVersion = 0, kModRevision = 2 };
  Compare compare = Compare::kModRevision;
  int64_t equals = 0;  // 0: the key does not exist
  std::string_view key;
  std::optional<std::string_view> put;  // none: the key is deleted
  int64_t lease = 0;
  std::string_view guard = {};  // second key to compare; empty: none
  Revision guard_revision = 0;  // of its last write
};
Message Encode(const TxnRequest& request);

struct WatchCreateRequest {
  std::string_view prefix;
  Revision start = 0;
};
Message Encode(const WatchCreateRequest& request);
Message EncodeWatchProgress();

Message EncodeCompact(Revision revision);
Message EncodeLeaseGrant(int64_t ttl_seconds);
Message EncodeStatus();

// A value that makes up most of a response refers to the response's buffer; a smaller one is
// copied, so that it does not keep the whole response in memory.
// Errors: Internal if the message is malformed.

struct RangeResponse {
  Revision revision = 0;  // of the store
  std::vector<KeyValue> kvs;
  int64_t version = 0;  // of the last kv: number of writes since its creation
  bool more = false;
  int64_t count = 0;
};
Result<RangeResponse> DecodeRange(std::string message);

struct TxnResponse {
  Revision revision = 0;
  bool succeeded = false;
  int64_t deleted = 0;              // number of deleted keys, if succeeded
  std::optional<KeyValue> current;  // if not succeeded
  int64_t current_version = 0;
};
Result<TxnResponse> DecodeTxn(std::string message);

struct WatchResponse {
  Revision revision = 0;  // of the store
  int64_t watch_id = 0;   // -1: for all watches of the stream
  bool created = false;
  bool canceled = false;
  Revision compact_revision = 0;
  std::string cancel_reason;
  bool fragment = false;  // more events of this response follow
  std::vector<Event> events;
};
Result<WatchResponse> DecodeWatch(std::string message);

struct LeaseGrantResponse {
  int64_t id = 0;
  int64_t ttl_seconds = 0;
};
Result<LeaseGrantResponse> DecodeLeaseGrant(std::string_view message);

struct StatusResponse {
  std::string version;
  int64_t db_size = 0;
  uint64_t member = 0;
  uint64_t leader = 0;  // 0: no leader
};
Result<StatusResponse> DecodeStatus(std::string_view message);

}  // namespace cox::storage::etcd
