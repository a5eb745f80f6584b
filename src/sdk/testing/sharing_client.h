// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coxswain/forwarding_client.h"
#include "sdk/client/response/stored_events.h"
#include "sdk/testing/shared_object.h"

// For tests: a client whose watches of one kind also offer stored events, as in the process of an
// API server.
namespace cox::sdk {

class SharingClient final : public ForwardingClient {
 public:
  SharingClient(Client& under, const KindInfo& kind) : ForwardingClient(under), kind_(kind) {}

  // The number of stored events that watches have delivered.
  int taken() const { return *taken_; }

  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    COX_ASSIGN_OR_RETURN(auto watch, next().Watch(ctx, resource, options));
    if (resource.info != &kind_) return watch;
    return std::unique_ptr<WatchStream>(std::make_unique<Sharing>(std::move(watch), kind_, taken_));
  }

 private:
  using Counter = std::shared_ptr<std::atomic<int>>;

  class Events final : public StoredEventStream {
   public:
    Events(WatchStream& under, const KindInfo& kind, Counter taken)
        : under_(under), kind_(kind), taken_(std::move(taken)) {}

    const KindInfo& kind() const override { return kind_; }
    Result<StoredEvent> Next(const Context& ctx) override {
      Context own = ctx.Child();
      COX_ASSIGN_OR_RETURN(const WatchEvent<Object> event, under_.Next(own));
      return ToStored(event);
    }
    Result<std::optional<StoredEvent>> TryNext(const std::function<void()>& ready) override {
      COX_ASSIGN_OR_RETURN(const std::optional<WatchEvent<Object>> event, under_.TryNext(ready));
      return event ? std::optional(ToStored(*event)) : std::nullopt;
    }

   private:
    StoredEvent ToStored(const WatchEvent<Object>& event) {
      ++*taken_;
      StoredEvent stored{.type = event.type,
                         .version = std::stoll(event.resource_version),
                         .initial_events_end = event.initial_events_end};
      if (event.object != nullptr) {
        stored.object = std::make_shared<const SharedObject>(*event.object);
      }
      return stored;
    }

    WatchStream& under_;
    const KindInfo& kind_;
    const Counter taken_;
  };

  class Sharing final : public WatchStream {
   public:
    Sharing(std::unique_ptr<WatchStream> under, const KindInfo& kind, Counter taken)
        : under_(std::move(under)), events_(*under_, kind, std::move(taken)) {}

    Result<WatchEvent<Object>> Next(Context& ctx) override { return under_->Next(ctx); }
    Result<std::optional<WatchEvent<Object>>> TryNext(const std::function<void()>& ready) override {
      return under_->TryNext(ready);
    }
    StoredEventStream* stored_events() override { return &events_; }

   private:
    const std::unique_ptr<WatchStream> under_;
    Events events_;
  };

  const KindInfo& kind_;
  const Counter taken_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace cox::sdk
