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
  // "https://10.0.0.1:2379" or "http://...", members of one cluster. They are tried in this order.
  std::vector<std::string> servers;
  // For https. Where a file is named, it is read when connecting, and stands for the PEM in `tls`.
  net::ClientTls tls;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;

  std::chrono::milliseconds dial_timeout{5'000};
  // A server that is silent while somebody waits for it is asked for a sign of life after the one,
  // and given up after the other. etcd wants to be asked no more often than every 5 s.
  std::chrono::milliseconds keepalive_time{10'000};
  std::chrono::milliseconds keepalive_timeout{10'000};
};

// A Store in an etcd cluster (>= 3.5.13).
//
// Every write is one transaction that compares the key's revision; if it does not match, the same
// transaction reads the key. Two connections carry everything: one the calls, one the watches, each
// watch on an HTTP/2 stream of its own. That costs etcd some kilobytes per watch and buys: a slow
// reader holds up nobody else, a progress notification is about this watch only (etcd answers it
// when all watches of a stream have caught up), and one that ends takes no other with it.
//
// Beyond Store's errors: Internal with etcd's words where etcd cannot serve (its database is full);
//   TooManyRequests when etcd has too much to do.
// Threads: all methods may be called concurrently.
// Ownership: watches may outlive the store; they end as Unavailable.
class EtcdStore : public Store {
 public:
  // What the member behind the calls says of itself.
  struct Member {
    std::string version;  // "3.5.30"
    int64_t db_size = 0;  // bytes on disk
    uint64_t id = 0;
    uint64_t leader = 0;  // 0: it knows none
  };
  virtual Result<Member> GetMember(Context& ctx) = 0;

  // Writes if the key has been written `version` times since it was created (0: there is none). For
  // agreements between servers, see compactor.h.
  struct VersionedWrite {
    bool written = false;
    Revision revision = 0;            // of the store
    int64_t version = 0;              // of the key, after the write or as it is
    std::optional<KeyValue> current;  // if not written
  };
  virtual Result<VersionedWrite> PutIfVersion(Context& ctx, std::string_view key, int64_t version,
                                              std::string_view value) = 0;
};

// Does not wait for a server: calls find out. BadRequest if the options cannot be used. The store's
// threads stop with `ctx` or the store, whichever is first.
Result<std::unique_ptr<EtcdStore>> ConnectEtcd(const Context& ctx, EtcdOptions options);

}  // namespace cox::storage
