// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/watch.h"

#include <iterator>
#include <string>
#include <utility>

#include "storage/errors.h"

namespace cox::storage::etcd {

EtcdWatch::EtcdWatch(std::shared_ptr<Client> client,
                     std::unique_ptr<net::grpc::MessageStream> stream, std::string_view prefix,
                     Revision after)
    : client_(std::move(client)), stream_(std::move(stream)), delivered_(after) {
  // Never send 0: for etcd it means "from now on", which loses changes before the watch is created.
  stream_->Send(Encode(WatchCreateRequest{prefix, after + 1}).framed());
}

Result<WatchBatch> EtcdWatch::Next(Context& ctx) {
  {
    MutexLock lock(mu_);
    if (!ended_.ok()) return ended_;
  }
  while (true) {
    net::grpc::Reply reply = stream_->Receive(ctx);
    if (reply.outcome == net::grpc::Reply::Outcome::kStopped) return ctx.status();
    Status end;
    if (reply.outcome != net::grpc::Reply::Outcome::kMessage) {
      end = Ended(reply);
    } else {
      Result<WatchResponse> response = DecodeWatch(std::move(reply.message));
      WatchBatch batch;
      Result<bool> deliver =
          response.ok() ? Take(*std::move(response), batch) : Result<bool>(response.status());
      if (deliver.ok() && *deliver) return batch;
      end = deliver.status();
    }
    if (end.ok()) continue;
    MutexLock lock(mu_);
    ended_ = end;
    return end;
  }
}

Result<bool> EtcdWatch::Take(WatchResponse response, WatchBatch& batch) {
  if (response.canceled) {
    if (response.compact_revision > 0) {
      return CompactedError(delivered_ + 1, response.compact_revision);
    }
    return Status::Unavailable("etcd ended the watch: " + response.cancel_reason);
  }
  fragments_.insert(fragments_.end(), std::make_move_iterator(response.events.begin()),
                    std::make_move_iterator(response.events.end()));
  if (response.fragment) return false;
  batch.events = std::exchange(fragments_, {});

  MutexLock lock(mu_);
  if (batch.events.empty()) {
    // Not a progress notification: the watch was just created, or it starts at a future revision.
    if (response.created || response.revision < delivered_) {
      if (progress_wanted_) stream_->Send(EncodeWatchProgress().framed());
      return false;
    }
    progress_wanted_ = false;
    delivered_ = batch.revision = response.revision;
    return true;
  }
  for (const Event& event : batch.events) {
    if (event.kv.revision <= delivered_) {
      return Status::Expired("etcd brought a change of revision " +
                             std::to_string(event.kv.revision) + " after having been at " +
                             std::to_string(delivered_));
    }
    // Several events can have the same revision, so compare only with the previous batch.
    batch.revision = std::max(batch.revision, event.kv.revision);
  }
  delivered_ = batch.revision;
  // etcd drops a progress request that arrives while the watch is behind, so send it again.
  if (progress_wanted_) stream_->Send(EncodeWatchProgress().framed());
  return true;
}

Status EtcdWatch::Ended(const net::grpc::Reply& reply) {
  if (reply.outcome != net::grpc::Reply::Outcome::kStatus) {
    return Status::Unavailable("the watch broke off: " + reply.text);
  }
  client_->AvoidStreamServer(*stream_);
  return Status::Unavailable("etcd ended the watch: " + reply.text);
}

Status EtcdWatch::RequestProgress() {
  MutexLock lock(mu_);
  if (!ended_.ok()) return ended_;
  progress_wanted_ = true;
  stream_->Send(EncodeWatchProgress().framed());
  return {};
}

}  // namespace cox::storage::etcd
