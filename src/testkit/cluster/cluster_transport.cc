// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/cluster_transport.h"

#include "net/client/not_sent.h"
#include "net/websocket.h"
#include "sdk/client/response/stored_events.h"

namespace cox::testkit {
namespace {

Status Refused() {
  return net::MarkNotSent(Status::Unavailable("connecting to the test cluster: refused"));
}

// Stored events that end when the server stops.
class ClusterEvents final : public sdk::StoredEventStream {
 public:
  ClusterEvents(sdk::StoredEventStream& under, Context life)
      : under_(under), life_(std::move(life)) {}

  const KindInfo& kind() const override { return under_.kind(); }
  Result<sdk::StoredEvent> Next(const Context& ctx) override {
    if (life_.Done()) return life_.status();
    BothContexts both(ctx, life_);
    return under_.Next(both.get());
  }
  Result<std::optional<sdk::StoredEvent>> TryNext(const std::function<void()>& ready) override {
    on_end_ = life_.OnStop(ready);
    if (life_.Done()) return life_.status();
    return under_.TryNext(ready);
  }

 private:
  sdk::StoredEventStream& under_;
  const Context life_;
  StopHandle on_end_;  // of TryNext
};

// A stream that breaks when its server stops.
class ClusterStream final : public net::ClientStream {
 public:
  ClusterStream(std::unique_ptr<net::ClientStream> under, Context life)
      : under_(std::move(under)), life_(std::move(life)) {
    if (auto* const events = dynamic_cast<sdk::StoredEventStream*>(under_->content())) {
      events_.emplace(*events, life_);
    }
  }

  int status() const override { return under_->status(); }
  const net::Headers& headers() const override { return under_->headers(); }
  Result<Bytes> Read(Context& ctx) override {
    // Data in flight is lost when the connection breaks.
    if (life_.Done()) return life_.status();
    BothContexts both(ctx, life_);
    return under_->Read(both.get());
  }
  Result<std::optional<Bytes>> TryRead(const std::function<void()>& ready) override {
    on_end_ = life_.OnStop(ready);
    if (life_.Done()) return life_.status();
    return under_->TryRead(ready);
  }
  net::Content* content() override { return events_ ? &*events_ : nullptr; }

 private:
  const std::unique_ptr<net::ClientStream> under_;
  const Context life_;
  std::optional<ClusterEvents> events_;
  StopHandle on_end_;  // of TryRead
};

}  // namespace

void ServerSlot::Put(net::Handler handler, Context life) {
  MutexLock lock(mu_);
  server_.emplace(Server{std::move(handler), std::move(life)});
}

void ServerSlot::Clear() {
  MutexLock lock(mu_);
  server_.reset();
}

std::optional<ServerSlot::Server> ServerSlot::Get() const {
  MutexLock lock(mu_);
  return server_;
}

ClusterTransport::ClusterTransport(const Context& ctx, std::shared_ptr<const ServerSlot> slot,
                                   std::string authorization)
    : slot_(std::move(slot)),
      under_(MakeInProcessTransport(
          ctx,
          [slot = slot_](net::ExchangePtr exchange) {
            // The server was stopped meanwhile; its handler would return the same.
            if (auto server = slot->Get()) return server->handler(std::move(exchange));
            exchange->Send({.status = 503, .headers = {}, .body = {}});
          },
          std::move(authorization))) {}

Result<net::Response> ClusterTransport::Do(Context& ctx, net::Request request) {
  std::optional<ServerSlot::Server> server = slot_->Get();
  if (!server) return Refused();
  BothContexts both(ctx, server->life);
  return under_->Do(both.get(), std::move(request));
}

Result<std::unique_ptr<net::ClientStream>> ClusterTransport::Start(Context& ctx,
                                                                   net::Request request) {
  std::optional<ServerSlot::Server> server = slot_->Get();
  if (!server) return Refused();
  BothContexts both(ctx, server->life);
  COX_ASSIGN_OR_RETURN(std::unique_ptr<net::ClientStream> stream,
                       under_->Start(both.get(), std::move(request)));
  return std::unique_ptr<net::ClientStream>(
      std::make_unique<ClusterStream>(std::move(stream), server->life));
}

Result<std::unique_ptr<net::WebSocket>> ClusterTransport::OpenWebSocket(
    Context& ctx, net::Request request, std::vector<std::string> protocols) {
  if (!slot_->Get()) return Refused();
  return under_->OpenWebSocket(ctx, std::move(request), std::move(protocols));
}

}  // namespace cox::testkit
