// SPDX-License-Identifier: Apache-2.0
#include "net/client/pool.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <utility>
#include <vector>

#include "net/client/dial_error.h"
#include "net/client/http1_client_session.h"
#include "net/client/http2_client_session.h"
#include "net/client/not_sent.h"
#include "net/client/proxy_tunnel.h"

namespace cox::net {
namespace {

// Maximum attempts for a request that servers do not process.
constexpr int kMaxAttempts = 3;
// Concurrent connection attempts: a server may take a burst of thousands for an attack.
constexpr size_t kMaxConnecting = 128;

// Checks whether a connection has become idle, per idle timeout.
constexpr int kIdleChecks = 4;

// Contains nothing that could end the request line.
bool IsToken(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c != '\x7f'; });
}

Status NotAllowed() { return Status::BadRequest("address not allowed"); }

// The authority in requests: without a default port.
std::string Authority(const ClientOptions& options) {
  const bool default_port = options.port == (options.tls ? 443 : 80);
  return HostAndPort(options.host, default_port ? 0 : options.port);
}

}  // namespace

Result<ClientContexts> MakeClientContexts(const ClientOptions& options) {
  ClientContexts made;
  if (options.tls) {
    COX_ASSIGN_OR_RETURN(made.server, MakeClientContext(options.tls_options, options.http2));
  }
  if (options.proxy && options.proxy->kind == Proxy::Kind::kHttps) {
    // Uses the same CAs, but not the client certificate, which is for the server only.
    const ClientTls trust{.ca_pem = options.tls_options.ca_pem,
                          .insecure = options.tls_options.insecure};
    COX_ASSIGN_OR_RETURN(made.proxy, MakeClientContext(trust, /*http2=*/false));
  }
  return made;
}

ClientPool::ClientPool(ClientOptions options, ClientContexts tls, std::shared_ptr<EventLoop> loop)
    : options_(std::move(options)),
      tls_(std::move(tls)),
      loop_(std::move(loop)),
      alive_(std::make_shared<ClientPool*>(this)) {}

ClientPool::~ClientPool() { Close(); }

void ClientPool::Close() {
  if (closed()) return;
  *alive_ = nullptr;
  const Status why = Status::Unavailable("the client was closed");
  for (auto at = connections_.begin(); at != connections_.end();) (*at++)->Fail(why);
  connections_.clear();
  dead_.clear();
  for (const auto& call : std::exchange(waiting_, {})) call->OnEnd(MarkNotSent(why));
}

void ClientPool::Begin(std::shared_ptr<ClientCall> call) {
  if (closed()) return call->OnEnd(MarkNotSent(Status::Unavailable("the client was closed")));
  if (!IsToken(call->request.method) || !IsToken(call->request.target)) {
    return call->OnEnd(Status::BadRequest("a method or target with blanks or control characters"));
  }
  waiting_.push_back(std::move(call));
  Distribute();
}

ClientConnection* ClientPool::LeastBusy() {
  ClientConnection* best = nullptr;
  for (const auto& connection : connections_) {
    if (connection->capacity() == 0) continue;
    if (best == nullptr || connection->active() < best->active()) best = connection.get();
    if (best->active() == 0) break;
  }
  return best;
}

bool ClientPool::NeedsMore() const {
  if (connections_.size() < static_cast<size_t>(std::max(options_.connections, 1))) return true;
  size_t coming = 0;
  for (const auto& connection : connections_) coming += connection->connecting() ? 1 : 0;
  if (coming >= kMaxConnecting) return false;  // opening continues when one of these is up
  return waiting_.size() > coming * (options_.http2 ? expected_streams_ : 1);
}

void ClientPool::Distribute() {
  // Ending or submitting a call may call this function again.
  if (closed() || std::exchange(distributing_, true)) return;
  while (!waiting_.empty()) {
    if (waiting_.front()->ended()) {  // canceled while waiting
      waiting_.pop_front();
      continue;
    }
    ClientConnection* const connection = LeastBusy();
    if (connection == nullptr) break;
    std::shared_ptr<ClientCall> call = std::move(waiting_.front());
    waiting_.pop_front();
    connection->was_used_ = true;
    connection->idle_since_ = {};
    connection->session().Submit(std::move(call));
  }
  while (!waiting_.empty() && NeedsMore()) Open();
  distributing_ = false;
  ScheduleCheck();
}

void ClientPool::DistributeSoon() {
  if (waiting_.empty() || std::exchange(distribute_queued_, true)) return;
  loop_->Post([alive = alive_] {
    if (*alive == nullptr) return;
    (*alive)->distribute_queued_ = false;
    (*alive)->Distribute();
  });
}

void ClientPool::Open() {
  connections_.push_back(std::make_unique<ClientConnection>(*this));
  ClientConnection& connection = *connections_.back();
  connection.self_ = std::prev(connections_.end());
  size_.fetch_add(1, std::memory_order_relaxed);
  // The next check may be too late for the new connection: Distribute schedules an earlier one.
  if (check_scheduled_ && check_at_ - connection.since_ > ShortestLimit()) check_scheduled_ = false;
  connection.Connect();
}

void ClientPool::Remove(ClientConnection& connection, const Status& why) {
  // Includes connections that the server closed before it sent SETTINGS or before they carried a
  // request: a retry would fail the same way.
  const bool was_connecting = !connection.was_up_ || !connection.was_used_;
  if (dead_.empty()) {
    loop_->Post([alive = alive_] {
      if (*alive != nullptr) (*alive)->dead_.clear();
    });
  }
  dead_.splice(dead_.end(), connections_, connection.self_);
  size_.fetch_sub(1, std::memory_order_relaxed);
  // No connection is left and none could be opened: fail the waiting calls.
  if (was_connecting && connections_.empty()) {
    for (const auto& call : std::exchange(waiting_, {})) call->OnEnd(MarkNotSent(why));
  }
  DistributeSoon();
}

Clock::Duration ClientPool::ShortestLimit() const {
  Clock::Duration shortest = Clock::Duration::max();
  for (const Clock::Duration limit :
       {Clock::Duration(options_.connect_timeout), Clock::Duration(options_.ping_after),
        Clock::Duration(options_.idle_timeout) / kIdleChecks}) {
    if (limit.count() > 0) shortest = std::min(shortest, limit);
  }
  return shortest;
}

// Not periodically: a process with thousands of clients would spend most of its idle time on it.
void ClientPool::ScheduleCheck() {
  if (check_scheduled_ || connections_.empty() || closed()) return;
  const Clock::SteadyTime now = loop_->clock().Monotonic();
  check_at_ = Clock::kNever;
  for (const auto& connection : connections_) {
    check_at_ = std::min(check_at_, connection->NextCheck(now));
  }
  if (check_at_ == Clock::kNever) return;
  check_scheduled_ = true;
  const Clock::Duration wait =
      std::max(Clock::Duration(check_at_ - now), Clock::Duration(std::chrono::milliseconds(1)));
  timer_ = loop_->clock().After(wait, [loop = loop_, alive = alive_] {
    loop->Post([alive] {
      if (*alive != nullptr) (*alive)->Check();
    });
  });
}

void ClientPool::Check() {
  check_scheduled_ = false;
  const Clock::SteadyTime now = loop_->clock().Monotonic();
  for (auto at = connections_.begin(); at != connections_.end();) (*at++)->CheckTime(now);
  ScheduleCheck();
}

ClientConnection::ClientConnection(ClientPool& pool)
    : pool_(pool),
      alive_(std::make_shared<ClientConnection*>(this)),
      resolver_(pool.loop_->io()),
      socket_(pool.loop_->io()),
      since_(pool.loop_->clock().Monotonic()) {}

ClientConnection::~ClientConnection() {
  *alive_ = nullptr;
  if (channel_ != nullptr) channel_->Close();
}

const std::string& ClientConnection::dialed_host() const {
  return pool_.options_.proxy ? pool_.options_.proxy->host : pool_.options_.host;
}

uint16_t ClientConnection::dialed_port() const {
  return pool_.options_.proxy ? pool_.options_.proxy->port : pool_.options_.port;
}

void ClientConnection::Connect() {
  const std::string& host = dialed_host();
  const uint16_t port = dialed_port();
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (!error) {
    if (!IsAllowed({address, port})) {
      return pool_.loop_->Post([alive = alive_] {
        if (*alive != nullptr) (*alive)->Fail(NotAllowed());
      });
    }
    socket_.async_connect({address, port},
                          [alive = alive_](const boost::system::error_code& failed) {
                            if (*alive == nullptr) return;
                            if (failed) return (*alive)->Fail((*alive)->ErrorOf(failed));
                            (*alive)->OnConnected(std::move((*alive)->socket_));
                          });
    return;
  }
  resolver_.async_resolve(
      host, std::to_string(port),
      [alive = alive_](const boost::system::error_code& failed,
                       const boost::asio::ip::tcp::resolver::results_type& ends) {
        if (*alive == nullptr) return;
        if (failed) {
          return (*alive)->Fail(LookupError((*alive)->dialed_host()));
        }
        (*alive)->OnResolved(ends);
      });
}

void ClientConnection::OnResolved(const boost::asio::ip::tcp::resolver::results_type& ends) {
  std::vector<boost::asio::ip::tcp::endpoint> allowed;
  for (const auto& end : ends) {
    if (IsAllowed(end.endpoint())) allowed.push_back(end.endpoint());
  }
  if (allowed.empty()) return Fail(NotAllowed());
  boost::asio::async_connect(socket_, allowed,
                             [alive = alive_](const boost::system::error_code& failed,
                                              const boost::asio::ip::tcp::endpoint&) {
                               if (*alive == nullptr) return;
                               if (failed) return (*alive)->Fail((*alive)->ErrorOf(failed));
                               (*alive)->OnConnected(std::move((*alive)->socket_));
                             });
}

bool ClientConnection::IsAllowed(const boost::asio::ip::tcp::endpoint& end) const {
  const ClientOptions& options = pool_.options_;
  return options.allow_address == nullptr || options.proxy ||
         options.allow_address(end.address().to_string(), end.port());
}

Status ClientConnection::ErrorOf(const boost::system::error_code& error) const {
  const std::string dial = pool_.options_.proxy ? "proxyconnect tcp: dial tcp " : "dial tcp ";
  return DialError(dial + HostAndPort(dialed_host(), dialed_port()), error);
}

void ClientConnection::OnConnected(boost::asio::ip::tcp::socket socket) {
  SslPtr ssl;
  if (pool_.options_.tls) {
    auto made =
        MakeClientSsl(pool_.tls_.server.get(), pool_.options_.tls_options, pool_.options_.host);
    if (!made.ok()) return Fail(made.status());
    ssl = *std::move(made);
    if (const auto& identity = pool_.tls_.identity) {
      if (const Status applied = identity->ApplyTo(ssl.get()); !applied.ok()) return Fail(applied);
    }
  }
  auto tunnel = MakeTunnel();
  if (!tunnel.ok()) return Fail(tunnel.status());
  channel_ = std::make_shared<Channel>(*pool_.loop_, std::move(socket), std::move(ssl), *this,
                                       *std::move(tunnel));
  channel_->Start();
}

Result<std::unique_ptr<Tunnel>> ClientConnection::MakeTunnel() const {
  const ClientOptions& options = pool_.options_;
  if (!options.proxy) return std::unique_ptr<Tunnel>();
  SslPtr ssl;
  if (options.proxy->kind == Proxy::Kind::kHttps) {
    const ClientTls tls{.insecure = options.tls_options.insecure};
    COX_ASSIGN_OR_RETURN(ssl, MakeClientSsl(pool_.tls_.proxy.get(), tls, options.proxy->host));
  }
  return MakeProxyTunnel(*options.proxy, options.host, options.port, std::move(ssl));
}

void ClientConnection::OnOpen() {
  const ClientOptions& options = pool_.options_;
  const bool http2 =
      channel_->tls() != nullptr ? channel_->tls()->protocol() == "h2" : options.http2;
  const std::string authority = Authority(options);
  if (http2) {
    session_ = std::make_unique<Http2ClientSession>(authority, options.tls ? "https" : "http",
                                                    options.max_header_bytes,
                                                    static_cast<ClientSession::Host&>(*this));
  } else {
    http1_ = true;
    session_ = std::make_unique<Http1ClientSession>(authority, options.max_header_bytes,
                                                    static_cast<ClientSession::Host&>(*this));
  }
  since_ = pool_.loop_->clock().Monotonic();
  was_up_ = http1_;
  pool_.DistributeSoon();
}

void ClientConnection::OnBytes(std::string_view bytes) {
  since_ = pool_.loop_->clock().Monotonic();
  pinged_ = {};
  session_->Receive(bytes);
  UpdateReading();
}

void ClientConnection::UpdateReading() {
  if (http1_) {
    channel_->SetReading(static_cast<Http1ClientSession&>(*session_).wants_input());
  }
}

size_t ClientConnection::OnOutput(char* to, size_t room) {
  if (session_ == nullptr) return 0;
  UpdateReading();
  return session_->Produce(to, room);
}

void ClientConnection::OnFlushed() {
  if (session_ != nullptr && session_->finished()) {
    return Fail(Status::Unavailable("the server ended the connection"));
  }
  if (http1_ && static_cast<Http1ClientSession&>(*session_).OutputDone()) channel_->EndOutput();
}

bool ClientConnection::OnInputEnd() {
  return http1_ && static_cast<Http1ClientSession&>(*session_).InputEnded();
}

void ClientConnection::OnEnd(const Status& why) { Fail(why); }

void ClientConnection::OnOutputReady() {
  if (channel_ == nullptr) return;
  // A canceled HTTP/1.1 request may be partially written: blocked output never reaches OnFlushed.
  if (http1_ && session_ != nullptr && session_->finished() && active() == 0 &&
      channel_->blocked()) {
    return Fail(Status::Unavailable("the request was canceled"));
  }
  // Also while output is blocked: otherwise two ends that wait for each other to read would
  // deadlock.
  UpdateReading();
  pool_.loop_->FlushSoon(*channel_);
}

void ClientConnection::OnCapacity() {
  if (const size_t streams = active() + capacity(); streams > 0) {
    pool_.expected_streams_ = streams;
    was_up_ = true;
  }
  pool_.DistributeSoon();
}

void ClientConnection::OnUnprocessed(std::shared_ptr<ClientCall> call) {
  call->session = nullptr;
  if (++call->attempts >= kMaxAttempts || pool_.closed()) {
    return call->OnEnd(MarkNotSent(Status::Unavailable("the server refused the request")));
  }
  pool_.waiting_.push_back(std::move(call));
  pool_.DistributeSoon();
}

Clock::SteadyTime ClientConnection::NextCheck(Clock::SteadyTime now) const {
  const ClientOptions& options = pool_.options_;
  // A limit has expired when more than its time has passed.
  constexpr std::chrono::milliseconds kAfter{1};
  if (!was_up_) {
    // The limits of an open connection may be shorter than that of connecting.
    const Clock::Duration shortest = pool_.ShortestLimit();
    if (shortest == Clock::Duration::max()) return Clock::kNever;
    if (options.connect_timeout.count() <= 0) return now + shortest;
    return std::min(now + shortest, since_ + options.connect_timeout + kAfter);
  }
  Clock::SteadyTime next = Clock::kNever;
  if (options.idle_timeout.count() > 0) {
    next = idle_since_ == Clock::SteadyTime{} ? now + options.idle_timeout / kIdleChecks
                                              : idle_since_ + options.idle_timeout + kAfter;
  }
  if (options.ping_after.count() > 0 && !http1_) {
    next = std::min(next, (pinged_ == Clock::SteadyTime{} ? since_ + options.ping_after
                                                          : pinged_ + options.ping_after / 2) +
                              kAfter);
  }
  return next;
}

void ClientConnection::CheckTime(Clock::SteadyTime now) {
  const ClientOptions& options = pool_.options_;
  // A connection counts as open when the server has sent its SETTINGS.
  if (!was_up_) {
    if (options.connect_timeout.count() > 0 && now - since_ > options.connect_timeout) {
      Fail(ErrorOf(boost::asio::error::timed_out));
    }
    return;
  }
  if (active() > 0) {
    idle_since_ = {};
  } else if (idle_since_ == Clock::SteadyTime{}) {
    idle_since_ = now;
  }
  if (options.idle_timeout.count() > 0 && idle_since_ != Clock::SteadyTime{} &&
      now - idle_since_ > options.idle_timeout) {
    return Fail(Status::Unavailable("the connection was idle"));
  }
  if (options.ping_after.count() <= 0 || http1_) return;
  if (pinged_ != Clock::SteadyTime{}) {
    if (now - pinged_ > options.ping_after / 2) {
      Fail(Status::Unavailable("the server does not answer pings"));
    }
  } else if (now - since_ > options.ping_after) {
    pinged_ = now;
    session_->Ping();
  }
}

void ClientConnection::Fail(const Status& why) {
  if (channel_ != nullptr) channel_->Close();
  boost::system::error_code ignored;
  socket_.close(ignored);
  resolver_.cancel();
  *alive_ = nullptr;
  pool_.Remove(*this, why.ok() ? Status::Unavailable("the server closed the connection") : why);
  if (session_ != nullptr) session_->Fail(why);
}

}  // namespace cox::net
