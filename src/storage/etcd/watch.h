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

// One etcd watch on its own stream. It verifies the order of events: an event with a revision that
// an earlier batch or progress notification already covered makes the watch Expired, because only a
// new list can repair missed events.
//
// Threads: one thread at a time in Next(); RequestProgress() from any thread.
class EtcdWatch final : public Watch {
 public:
  EtcdWatch(std::shared_ptr<Client> client, std::unique_ptr<net::grpc::MessageStream> stream,
            std::string_view prefix, Revision after);

  Result<WatchBatch> Next(Context& ctx) override;
  Status RequestProgress() override;

 private:
  // Adds a response to `batch`. True if the batch is ready for delivery.
  Result<bool> Take(WatchResponse response, WatchBatch& batch);
  Status Ended(const net::grpc::Reply& reply);

  const std::shared_ptr<Client> client_;
  const std::unique_ptr<net::grpc::MessageStream> stream_;
  // Used only by the thread in Next().
  Revision delivered_;
  std::vector<Event> fragments_;

  Mutex mu_;
  bool progress_wanted_ COX_GUARDED_BY(mu_) = false;
  Status ended_ COX_GUARDED_BY(mu_);  // the error that ended the watch
};

}  // namespace cox::storage::etcd
