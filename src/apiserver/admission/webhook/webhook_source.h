// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "apiserver/admission/webhook/webhook.h"
#include "apiserver/registry/served/registry.h"
#include "base/mutex.h"
#include "base/published.h"

namespace cox::apiserver {

// The webhooks of all configurations of one kind in call order: configurations by name, webhooks in
// the order of the configuration.
//
// The list is read from the watch cache and compiled by the first request after a change. The cache
// signals changes, so that requests without a change only read a flag.
// Threads: Current may be called concurrently.
class WebhookSource {
 public:
  // `kind` is MutatingWebhookConfiguration or ValidatingWebhookConfiguration. The registry must
  // outlive the source.
  WebhookSource(const Registry& registry, const KindInfo& kind,
                std::shared_ptr<WebhookConnections> connections);

  // Null until the cache is synced, because the webhooks are not known before.
  std::shared_ptr<const WebhookList> Current() const;

 private:
  // Returns false if nothing has changed.
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
