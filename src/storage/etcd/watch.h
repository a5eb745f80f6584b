// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "storage/etcd/client.h"
#include "storage/store.h"

namespace cox::storage::etcd {

// One etcd watch on a stream of its own. It trusts etcd no further than it can see: events that
// come late, after etcd said that nothing more would come up to their revision, make the watch
// Expired, because only reading everything anew repairs what was missed.
//
// Threads: Next() one at a time, RequestProgress() from any.
class EtcdWatch final : public Watch {
 public:
  EtcdWatch(std::shared_ptr<Client> client, std::unique_ptr<net::grpc::MessageStream> stream,
            std::string_view prefix, Revision after);

  Result<WatchBatch> Next(Context& ctx) override;
  Status RequestProgress() override;

 private:
  // Adds what came to what is there. True if there is a batch to deliver now.
  Result<bool> Take(WatchResponse response, WatchBatch& batch);
  Status Ended(const net::grpc::Reply& reply);

  const std::shared_ptr<Client> client_;
  const std::unique_ptr<net::grpc::MessageStream> stream_;
  // Of the thread in Next().
  Revision delivered_;
  std::vector<Event> fragments_;

  Mutex mu_;
  bool progress_wanted_ COX_GUARDED_BY(mu_) = false;
  Status ended_ COX_GUARDED_BY(mu_);  // why there is no more
};

}  // namespace cox::storage::etcd
