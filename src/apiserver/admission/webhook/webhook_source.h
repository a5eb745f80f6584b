// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "apiserver/admission/webhook/webhook.h"
#include "apiserver/registry/served/registry.h"
#include "base/mutex.h"
#include "base/published.h"

namespace cox::apiserver {

// The webhooks of all configurations of one kind, in the order they are called: configurations by
// name, webhooks as they stand there.
//
// Read from the watch cache and compiled when something there has changed, by the first request
// that comes after; the cache tells of changes, and a request without any costs one look.
// Threads: Current may be called concurrently.
class WebhookSource {
 public:
  // `kind` is MutatingWebhookConfiguration or ValidatingWebhookConfiguration. The registry outlives
  // the source.
  WebhookSource(const Registry& registry, const KindInfo& kind,
                std::shared_ptr<WebhookConnections> connections);

  // Null until the cache is filled: nobody knows yet who wants to be asked.
  std::shared_ptr<const WebhookList> Current() const;

 private:
  // False if nothing has changed.
  Result<bool> CatchUp() const COX_REQUIRES(mu_);
  std::shared_ptr<const WebhookList> Compile() const;

  const ResourceStore& store_;
  const std::shared_ptr<WebhookConnections> connections_;
  mutable std::atomic<bool> changed_ = true;
  mutable Published<const WebhookList> list_;
  mutable Mutex mu_;
  mutable std::unique_ptr<storage::Watcher> watcher_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver
