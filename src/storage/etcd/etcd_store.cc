// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/etcd_store.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/file_watch.h"
#include "storage/errors.h"
#include "storage/etcd/client.h"
#include "storage/etcd/lease_pool.h"
#include "storage/etcd/server_url.h"
#include "storage/etcd/watch.h"

namespace cox::storage {
namespace {

// Limit for a response: a page of a list, or the events of a transaction. etcd itself limits only
// requests.
constexpr size_t kMaxMessage = size_t{512} * 1024 * 1024;

using etcd::Client;
using etcd::Encode;
using etcd::Message;
using etcd::RangeRequest;
using etcd::TxnRequest;
using std::chrono::seconds;

// A key that does not exist: a linearizable read of it returns only the revision.
constexpr std::string_view kNoKey = "health";

class Impl final : public EtcdStore {
 public:
  explicit Impl(std::shared_ptr<Client> client)
      : client_(std::move(client)),
        leases_([this](const Context& ctx, seconds ttl) { return GrantLease(ctx, ttl); }) {}

  ~Impl() override { client_->Close(); }

  Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                          seconds ttl) override {
    COX_ASSIGN_OR_RETURN(const etcd::TxnResponse response, Put(ctx, key, value, 0, ttl));
    if (!response.succeeded) return KeyExistsError(key);
    return response.revision;
  }

  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    RangeRequest request;
    request.key = key;
    COX_ASSIGN_OR_RETURN(etcd::RangeResponse response, Range(ctx, request));
    GetResult result{std::nullopt, response.revision};
    if (!response.kvs.empty()) result.kv = std::move(response.kvs.front());
    return result;
  }

  Result<Page> List(Context& ctx, std::string_view prefix, const ListOptions& options) override {
    const std::string end = etcd::PrefixEnd(prefix);
    RangeRequest request;
    request.key = std::max<std::string_view>(prefix, options.start);
    request.range_end = end;
    request.limit = options.limit;
    request.revision = options.at;
    request.keys_only = options.keys_only;
    if (request.key >= end) return PastTheEnd(ctx, options.at);
    Result<etcd::RangeResponse> response = Range(ctx, request);
    if (!response.ok()) return ListError(ctx, options.at, response.status());
    Page page;
    page.items = std::move(response->kvs);
    page.revision = options.at != 0 ? options.at : response->revision;
    page.more = response->more;
    page.count = response->count;
    return page;
  }

  Result<WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                             Revision expected, seconds ttl) override {
    COX_ASSIGN_OR_RETURN(etcd::TxnResponse response, Put(ctx, key, value, expected, ttl));
    if (response.succeeded) return WriteResult{true, response.revision, std::nullopt};
    return WriteResult{false, 0, std::move(response.current)};
  }

  Result<WriteResult> Delete(Context& ctx, std::string_view key, Revision expected) override {
    return Remove(ctx, key, expected, {});
  }

  Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                   const Guard& guard) override {
    if (!write.value) return Remove(ctx, write.key, write.expected, guard);
    COX_ASSIGN_OR_RETURN(etcd::TxnResponse response,
                         Put(ctx, write.key, *write.value, write.expected, write.ttl, guard));
    if (response.succeeded) return WriteResult{true, response.revision, std::nullopt};
    return WriteResult{false, 0, std::move(response.current)};
  }
  const void* key_space() const override { return this; }

  Result<std::unique_ptr<Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                            Revision after) override {
    COX_ASSIGN_OR_RETURN(auto stream, client_->Start(ctx, etcd::kWatch));
    return std::unique_ptr<Watch>(
        std::make_unique<etcd::EtcdWatch>(client_, std::move(stream), prefix, after));
  }

  Result<Revision> CurrentRevision(Context& ctx) override {
    RangeRequest request;
    request.key = kNoKey;
    request.keys_only = true;
    COX_ASSIGN_OR_RETURN(const etcd::RangeResponse response, Range(ctx, request));
    return response.revision;
  }

  Status Compact(Context& ctx, Revision revision) override {
    const Result<std::string> response =
        client_->Call(ctx, etcd::kCompact, etcd::EncodeCompact(revision), Client::Repeat::kWrite);
    return response.ok() ? Status() : ListError(ctx, revision, response.status());
  }

  Status Healthy(Context& ctx) override { return CurrentRevision(ctx).status(); }

  Result<Member> GetMember(Context& ctx) override {
    COX_ASSIGN_OR_RETURN(
        const std::string bytes,
        client_->Call(ctx, etcd::kStatus, etcd::EncodeStatus(), Client::Repeat::kRead));
    COX_ASSIGN_OR_RETURN(etcd::StatusResponse status, etcd::DecodeStatus(bytes));
    return Member{std::move(status.version), status.db_size, status.member, status.leader};
  }

  Result<VersionedWrite> PutIfVersion(Context& ctx, std::string_view key, int64_t version,
                                      std::string_view value) override {
    TxnRequest request;
    request.compare = TxnRequest::Compare::kVersion;
    request.equals = version;
    request.key = key;
    request.put = value;
    COX_ASSIGN_OR_RETURN(etcd::TxnResponse response, Txn(ctx, request));
    const int64_t now = response.succeeded ? version + 1 : response.current_version;
    return VersionedWrite{response.succeeded, response.revision, now, std::move(response.current)};
  }

 private:
  Result<etcd::RangeResponse> Range(const Context& ctx, const RangeRequest& request) {
    COX_ASSIGN_OR_RETURN(std::string bytes,
                         client_->Call(ctx, etcd::kRange, Encode(request), Client::Repeat::kRead));
    return etcd::DecodeRange(std::move(bytes));
  }

  Result<etcd::TxnResponse> Txn(const Context& ctx, const TxnRequest& request) {
    COX_ASSIGN_OR_RETURN(std::string bytes,
                         client_->Call(ctx, etcd::kTxn, Encode(request), Client::Repeat::kWrite));
    return etcd::DecodeTxn(std::move(bytes));
  }

  Result<WriteResult> Remove(Context& ctx, std::string_view key, Revision expected,
                             const Guard& guard) {
    TxnRequest request;
    request.key = key;
    request.equals = expected;
    request.guard = guard.key;
    request.guard_revision = guard.revision;
    COX_ASSIGN_OR_RETURN(etcd::TxnResponse response, Txn(ctx, request));
    if (response.succeeded && response.deleted > 0) {
      return WriteResult{true, response.revision, std::nullopt};
    }
    return WriteResult{false, 0, std::move(response.current)};
  }

  Result<etcd::TxnResponse> Put(const Context& ctx, std::string_view key, std::string_view value,
                                Revision expected, seconds ttl, const Guard& guard = {}) {
    TxnRequest request;
    request.key = key;
    request.equals = expected;
    request.put = value;
    request.guard = guard.key;
    request.guard_revision = guard.revision;
    if (ttl.count() <= 0) return Txn(ctx, request);
    // The pooled lease may no longer exist, for example after a restore from a backup. Then etcd
    // has not written the key, so retry once with a new lease.
    for (bool second = false;; second = true) {
      COX_ASSIGN_OR_RETURN(request.lease, leases_.LeaseFor(ctx, ttl));
      Result<etcd::TxnResponse> response = Txn(ctx, request);
      if (second || response.ok() || !etcd::IsLeaseNotFound(response.status())) return response;
      leases_.Forget(request.lease);
    }
  }

  Result<int64_t> GrantLease(const Context& ctx, seconds ttl) {
    // Safe to retry: an unused lease expires.
    COX_ASSIGN_OR_RETURN(const std::string bytes,
                         client_->Call(ctx, etcd::kLeaseGrant, etcd::EncodeLeaseGrant(ttl.count()),
                                       Client::Repeat::kRead));
    COX_ASSIGN_OR_RETURN(const etcd::LeaseGrantResponse lease, etcd::DecodeLeaseGrant(bytes));
    return lease.id;
  }

  // etcd rejects a range that ends before it starts; Store returns an empty page.
  Result<Page> PastTheEnd(Context& ctx, Revision at) {
    COX_ASSIGN_OR_RETURN(const Revision current, CurrentRevision(ctx));
    Page page;
    page.revision = at != 0 ? at : current;
    return page;
  }

  // Replaces etcd's text of an error about revision `at` with that of all Stores.
  Status ListError(Context& ctx, Revision at, Status error) {
    if (error.Is(Reason::kExpired)) return CompactedError(at, 0);
    if (!IsFutureRevision(error)) return error;
    COX_ASSIGN_OR_RETURN(const Revision current, CurrentRevision(ctx));
    return FutureRevisionError(at, current);
  }

  const std::shared_ptr<Client> client_;
  etcd::LeasePool leases_;
};

// Does not change `out` if `path` is empty.
Status ReadIfGiven(const std::string& path, std::string& out) {
  if (path.empty()) return {};
  Result<std::string> text = ReadBoundedFile(path);
  if (!text.ok()) return Status::BadRequest(text.status().message());
  out = *std::move(text);
  return {};
}

}  // namespace

Result<std::unique_ptr<EtcdStore>> ConnectEtcd(const Context& ctx, EtcdOptions options) {
  net::grpc::Channel::Options channel;
  for (const std::string& server : options.servers) {
    COX_ASSIGN_OR_RETURN(net::grpc::Endpoint endpoint, ParseServerUrl(server));
    channel.endpoints.push_back(std::move(endpoint));
  }
  // The files are read for each connection, so that renewed certificates are used without a
  // restart.
  channel.current_tls = [base = std::move(options.tls), ca = std::move(options.ca_file),
                         certificate = std::move(options.certificate_file),
                         key = std::move(options.key_file)]() -> Result<net::ClientTls> {
    net::ClientTls tls = base;
    COX_RETURN_IF_ERROR(ReadIfGiven(ca, tls.ca_pem));
    COX_RETURN_IF_ERROR(ReadIfGiven(certificate, tls.certificate_pem));
    COX_RETURN_IF_ERROR(ReadIfGiven(key, tls.key_pem));
    return tls;
  };
  COX_RETURN_IF_ERROR(channel.current_tls().status());
  channel.connection.dial_timeout = options.dial_timeout;
  channel.connection.keepalive_time = options.keepalive_time;
  channel.connection.keepalive_timeout = options.keepalive_timeout;
  channel.connection.max_message_bytes = kMaxMessage;
  // With "hasleader", a member without a leader fails requests instead of blocking them.
  channel.connection.metadata = {{"hasleader", "true"}};
  COX_ASSIGN_OR_RETURN(auto calls, net::grpc::Channel::Create(ctx, "etcd-calls", channel));
  COX_ASSIGN_OR_RETURN(auto streams, net::grpc::Channel::Create(ctx, "etcd-watches", channel));
  return std::unique_ptr<EtcdStore>(
      std::make_unique<Impl>(std::make_shared<Client>(std::move(calls), std::move(streams))));
}

}  // namespace cox::storage
