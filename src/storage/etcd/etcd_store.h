// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "net/tls.h"
#include "storage/store.h"

namespace cox::storage {

struct EtcdOptions {
  // "https://10.0.0.1:2379" or "http://...", members of one cluster, tried in this order.
  std::vector<std::string> servers;
  // For https. A file, if given, is read for each connection and overrides the PEM in `tls`. A file
  // that becomes invalid is ignored.
  net::ClientTls tls;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;

  std::chrono::milliseconds dial_timeout{5'000};
  // If a connection with pending calls receives nothing for keepalive_time, it sends a ping, and it
  // is closed if keepalive_timeout passes without an answer. etcd permits one ping every 5 s.
  std::chrono::milliseconds keepalive_time{10'000};
  std::chrono::milliseconds keepalive_timeout{10'000};
};

// A Store in an etcd cluster (>= 3.5.13).
//
// Every write is one transaction that compares the key's revision; if it does not match, the same
// transaction reads the key. There are two connections: one for calls and one for watches, with an
// HTTP/2 stream for each watch. That costs etcd some kilobytes per watch, but a slow reader does
// not block other watches, a progress notification concerns a single watch (etcd sends it when all
// watches of a stream have caught up), and the end of one watch does not end others.
//
// Errors: in addition to Store's, Internal with etcd's message if etcd cannot serve (its database
//   is full); TooManyRequests if etcd is overloaded.
// Threads: all methods may be called concurrently.
// Ownership: watches may outlive the store; they end as Unavailable.
class EtcdStore : public Store {
 public:
  // The status of the member that serves the calls.
  struct Member {
    std::string version;  // "3.5.30"
    int64_t db_size = 0;  // bytes on disk
    uint64_t id = 0;
    uint64_t leader = 0;  // 0: it has no leader
  };
  virtual Result<Member> GetMember(Context& ctx) = 0;

  // Writes if the key's version (number of writes since its creation) is `version`; 0: the key does
  // not exist. For coordination between servers, see compactor.h.
  struct VersionedWrite {
    bool written = false;
    Revision revision = 0;            // of the store
    int64_t version = 0;              // of the key, after the write or as stored
    std::optional<KeyValue> current;  // if not written
  };
  virtual Result<VersionedWrite> PutIfVersion(Context& ctx, std::string_view key, int64_t version,
                                              std::string_view value) = 0;
};

// Does not wait for a server; connection errors are reported by the calls. Errors: BadRequest if
// the options are invalid. The store's threads stop with `ctx` or the store, whichever is first.
Result<std::unique_ptr<EtcdStore>> ConnectEtcd(const Context& ctx, EtcdOptions options);

}  // namespace cox::storage
