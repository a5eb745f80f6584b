// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/channel.h"

#include <algorithm>
#include <utility>

#include "net/tls/client_tls.h"

namespace cox::net::grpc {

Result<std::unique_ptr<Channel>> Channel::Create(const Context& ctx, std::string name,
                                                 Options options) {
  if (options.endpoints.empty()) return Status::BadRequest("no etcd server is given");
  TlsState tls{.options = options.connection.tls, .context = {}};
  if (std::any_of(options.endpoints.begin(), options.endpoints.end(),
                  [](const Endpoint& endpoint) { return endpoint.tls; })) {
    if (options.current_tls) {
      COX_ASSIGN_OR_RETURN(tls.options, options.current_tls());
    }
    COX_ASSIGN_OR_RETURN(tls.context, MakeClientContext(tls.options, true));
  }
  return std::make_unique<Channel>(ctx, std::move(name), std::move(options), std::move(tls));
}

Channel::Channel(const Context& ctx, std::string name, Options options, TlsState tls)
    : name_(std::move(name)),
      options_(std::move(options)),
      tls_(std::move(tls)),
      scope_(ctx, name_) {}

void Channel::Close() {
  scope_.Stop();
  {
    MutexLock lock(mu_);
    for (const auto& [loop, connection] : connections_) {
      if (connection != nullptr) connection->Close();
    }
  }
  scope_.Wait();
}

Channel::ConnectionPtr& Channel::ConnectionOf(EventLoop* loop) {
  for (auto& [owner, connection] : connections_) {
    if (owner == loop) return connection;
  }
  return connections_.emplace_back(loop, nullptr).second;
}

Result<std::shared_ptr<Connection>> Channel::Get(const Context& ctx) {
  EventLoop* const loop = EventLoop::OfFiber();
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(ctx.status());
  while (true) {
    const ConnectionPtr& connection = ConnectionOf(loop);
    if (connection != nullptr && connection->usable()) return connection;
    const uint64_t seen = attempts_;
    if (!dialing_) {
      dialing_ = true;
      auto keep = loop == nullptr ? nullptr : loop->shared_from_this();
      const Status started =
          scope_.Go(name_, [this, keep = std::move(keep)](Context& work) { Connect(work, keep); });
      if (!started.ok()) {
        dialing_ = false;
        return started;
      }
    }
    COX_RETURN_IF_ERROR(ctx.Await(mu_, dialed_, [&]() {
      mu_.AssertHeld();
      return attempts_ != seen;
    }));
    // The attempt of another loop may have been successful: then this one's follows.
    if (!failure_.ok()) return failure_;
  }
}

void Channel::Connect(Context& ctx, const std::shared_ptr<EventLoop>& loop) {
  size_t first = 0;
  {
    MutexLock lock(mu_);
    first = next_;
  }
  size_t chosen = first;
  const Result<ConnectionPtr> dialed = Dial(ctx, first, loop, &chosen);
  if (dialed.ok() && loop != nullptr) (*dialed)->Start();
  {
    MutexLock lock(mu_);
    dialing_ = false;
    ++attempts_;
    failure_ = dialed.status();
    if (dialed.ok()) {
      ConnectionOf(loop.get()) = *dialed;
      next_ = chosen;
    }
    dialed_.NotifyAll();
  }
  if (!dialed.ok() || loop != nullptr) return;
  const StopHandle on_stop = ctx.OnStop([connection = *dialed]() { connection->Close(); });
  (*dialed)->Run();
}

void Channel::UpdateTls(const Context& ctx) {
  if (tls_.context == nullptr || !options_.current_tls) return;
  Result<ClientTls> current = options_.current_tls();
  Result<SslContextPtr> made =
      current.ok() ? MakeClientContext(*current, true) : Result<SslContextPtr>(current.status());
  if (made.ok()) {
    tls_ = {.options = *std::move(current), .context = *std::move(made)};
  } else {
    COX_ERROR(ctx.log(), made.status(), "Could not read certificates, using the previous ones",
              {"connection", name_});
  }
}

Result<Channel::ConnectionPtr> Channel::Dial(const Context& ctx, size_t first,
                                             const std::shared_ptr<EventLoop>& loop,
                                             size_t* chosen) {
  UpdateTls(ctx);
  Status last;
  for (size_t i = 0; i < options_.endpoints.size(); ++i) {
    const size_t index = (first + i) % options_.endpoints.size();
    const Endpoint& endpoint = options_.endpoints[index];
    const Context attempt = ctx.WithTimeout(options_.connection.dial_timeout);
    Result<std::unique_ptr<Socket>> socket =
        Socket::Connect(attempt, endpoint, tls_.context.get(), tls_.options);
    COX_RETURN_IF_ERROR(ctx.status());
    if (!socket.ok()) {
      last = socket.status();
      if (attempt.Done()) {
        last = Status::Unavailable("connecting to " + endpoint.authority() + ": timed out");
      }
      COX_V(ctx.log(), 2, "Could not connect", {"server", endpoint.authority()},
            {"error", last.message()});
      continue;
    }
    // Uses the channel's clock, because the connection outlives the call that opened it.
    auto connection = std::make_shared<Connection>(scope_.context().clock(), endpoint,
                                                   std::move(*socket), options_.connection, loop);
    *chosen = index;
    return connection;
  }
  return last;
}

void Channel::Avoid(const std::shared_ptr<Connection>& connection) {
  MutexLock lock(mu_);
  if (options_.endpoints.size() == 1) return;
  for (auto& [loop, current] : connections_) {
    if (current != connection) continue;
    // Another loop may have avoided this server already.
    if (options_.endpoints[next_] == connection->endpoint()) {
      next_ = (next_ + 1) % options_.endpoints.size();
    }
    current->Retire();
    current = nullptr;
  }
}

}  // namespace cox::net::grpc
