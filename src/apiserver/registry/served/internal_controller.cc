// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/internal_controller.h"

#include <algorithm>

#include "base/log.h"
#include "base/notification.h"

namespace cox::apiserver {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::milliseconds kLongestRetry{30'000};
constexpr size_t kBatch = 256;

class Runner {
 public:
  Runner(Context& ctx, const InternalController& loop) : ctx_(ctx), loop_(loop) {}

  void Run() {
    std::chrono::milliseconds retry = kFirstRetry;
    while (!ctx_.Done()) {
      const Status watching = CatchUp();
      const Status status = watching.ok() ? loop_.reconcile(ctx_) : watching;
      if (ctx_.Done()) return;
      if (status.ok()) {
        retry = kFirstRetry;
        changed_.Await(ctx_, loop_.resync);
        continue;
      }
      COX_ERROR(ctx_.log(), status, "Reconcile failed, will retry", {"loop", loop_.name});
      changed_.Await(ctx_, retry);
      retry = std::min(retry * 2, kLongestRetry);
    }
  }

 private:
  using Watchers = std::vector<std::unique_ptr<storage::Watcher>>;

  // Drains the watchers, so that the next change notifies. The changes themselves are not used.
  Status CatchUp() {
    if (watchers_.size() != loop_.watches.size()) watchers_.resize(loop_.watches.size());
    for (size_t i = 0; i < watchers_.size(); ++i) {
      bool more = true;
      while (more) {
        if (watchers_[i] == nullptr) COX_RETURN_IF_ERROR(Begin(i));
        Result<storage::Watcher::Batch> batch = watchers_[i]->Take(kBatch);
        if (!batch.ok()) watchers_[i] = nullptr;  // too far behind: start a new watch
        more = !batch.ok() || batch->more;
      }
    }
    return {};
  }

  Status Begin(size_t i) {
    const ResourceStore& store = loop_.watches[i]->store();
    const storage::SnapshotPtr now = store.cache()->Current();
    if (now == nullptr) return Status::Unavailable("the cache is not filled yet");
    COX_ASSIGN_OR_RETURN(watchers_[i], store.cache()->Watch(store.root_prefix(), now->revision(),
                                                            [this] { changed_.Notify(); }));
    return {};
  }

  Context& ctx_;
  const InternalController& loop_;
  Notification changed_;
  Watchers watchers_;  // last, so that it is destroyed before changed_
};

}  // namespace

void RunInternalController(Context& ctx, const InternalController& loop) {
  Runner(ctx, loop).Run();
}

}  // namespace cox::apiserver
