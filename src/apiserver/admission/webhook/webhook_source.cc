// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/webhook_source.h"

namespace cox::apiserver {
namespace {

using admissionregistration::v1::MutatingWebhookConfiguration;
using admissionregistration::v1::ValidatingWebhookConfiguration;

constexpr size_t kBatch = 256;

}  // namespace

WebhookSource::WebhookSource(const Registry& registry, const KindInfo& kind,
                             std::shared_ptr<WebhookConnections> connections)
    : store_(registry.Hub(kind).store()), connections_(std::move(connections)) {}

std::shared_ptr<const WebhookList> WebhookSource::Current() const {
  if (!changed_.load(std::memory_order_acquire)) {
    // Null: another thread is compiling the first list.
    if (auto list = list_.Load()) return list;
  }
  MutexLock lock(mu_);
  // Reset the flag before reading, so that later changes set it again.
  if (!changed_.exchange(false)) return list_.Load();
  const Result<bool> caught_up = CatchUp();
  if (!caught_up.ok()) {
    changed_.store(true);
    return list_.Load();
  }
  if (*caught_up) list_.Store(Compile());
  return list_.Load();
}

Result<bool> WebhookSource::CatchUp() const {
  bool changed = false;
  for (;;) {
    if (watcher_ == nullptr) {
      const storage::SnapshotPtr now = store_.cache()->Current();
      if (now == nullptr) return Status::Unavailable("the cache is not filled yet");
      COX_ASSIGN_OR_RETURN(watcher_, store_.cache()->Watch(store_.root_prefix(), now->revision(),
                                                           [this] { changed_.store(true); }));
      changed = true;
    }
    const Result<storage::Watcher::Batch> batch = watcher_->Take(kBatch);
    if (!batch.ok()) {
      watcher_ = nullptr;  // the watcher is too far behind, or the cache was restarted
      continue;
    }
    changed = changed || !batch->changes.empty();
    if (!batch->more) return changed;
  }
}

std::shared_ptr<const WebhookList> WebhookSource::Compile() const {
  auto list = std::make_shared<WebhookList>();
  // The snapshot contains the changes that the watcher reported. Keys are ordered by name.
  store_.cache()->Current()->Visit(store_.root_prefix(), {}, [&](const storage::EntryPtr& entry) {
    const Result<Object> object = store_.Decode(entry->stored(), entry->revision());
    if (!object.ok()) return true;  // skip configurations that cannot be decoded
    if (const auto* mutating = object->As<MutatingWebhookConfiguration>()) {
      AppendWebhooks(*mutating, connections_, list.get());
    }
    if (const auto* validating = object->As<ValidatingWebhookConfiguration>()) {
      AppendWebhooks(*validating, connections_, list.get());
    }
    return true;
  });
  return list;
}

}  // namespace cox::apiserver
