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
  scope_.Wait();
}

Result<std::shared_ptr<Connection>> Channel::Get(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(ctx.status());
  while (true) {
    if (connection_ != nullptr && connection_->usable()) return connection_;
    if (!dialing_) break;
    const uint64_t seen = attempts_;
    COX_RETURN_IF_ERROR(ctx.Await(mu_, dialed_, [&]() {
      mu_.AssertHeld();
      return attempts_ != seen;
    }));
    // The dialing thread's context may have stopped before a server responded: then this thread
    // dials.
    if (failure_.Is(Reason::kServiceUnavailable)) return failure_;
  }
  dialing_ = true;
  size_t chosen = next_;
  const size_t first = next_;
  lock.Unlock();
  Result<std::shared_ptr<Connection>> dialed = Dial(ctx, first, &chosen);
  lock.Lock();
  dialing_ = false;
  ++attempts_;
  failure_ = dialed.status();
  if (dialed.ok()) {
    connection_ = *dialed;
    next_ = chosen;
  }
  dialed_.NotifyAll();
  return dialed;
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

Result<std::shared_ptr<Connection>> Channel::Dial(const Context& ctx, size_t first,
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
                                                   std::move(*socket), options_.connection);
    COX_RETURN_IF_ERROR(scope_.Go(name_, [connection](Context& work) {
      const StopHandle on_stop = work.OnStop([connection]() { connection->Close(); });
      connection->Run();
    }));
    *chosen = index;
    return connection;
  }
  return last;
}

void Channel::Avoid(const std::shared_ptr<Connection>& connection) {
  MutexLock lock(mu_);
  if (connection_ != connection || options_.endpoints.size() == 1) return;
  next_ = (next_ + 1) % options_.endpoints.size();
  connection_->Retire();
  connection_ = nullptr;
}

}  // namespace cox::net::grpc
