// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <list>
#include <memory>
#include <string>

#include "net/client/call.h"
#include "net/io/channel.h"
#include "net/tls/client_identity.h"
#include "net/tls/client_tls.h"

namespace cox::net {

class ClientConnection;

// The TLS contexts of a client's connections.
struct ClientContexts {
  SslContextPtr server;  // null: plain text
  SslContextPtr proxy;   // null: no TLS proxy
  // The client certificate, if `server` has none because several clients share it. May be null.
  std::shared_ptr<const ParsedIdentity> identity;
};
// BadRequest for PEM that does not parse.
Result<ClientContexts> MakeClientContexts(const ClientOptions& options);

// The connections of a client, and the calls that wait for one. Loop thread only, except
// construction and size(). Clients and calls share it, so any thread may destroy it after Close.
class ClientPool final : public CallServer {
 public:
  ClientPool(ClientOptions options, ClientContexts tls, std::shared_ptr<EventLoop> loop);
  ~ClientPool() override;

  void Begin(std::shared_ptr<ClientCall> call) override;
  // Ends all calls. Functions that the pool has posted to the loop do nothing when they run later.
  // REQUIRES: the loop has stopped, or this is its thread.
  void Close();
  size_t size() const { return size_.load(std::memory_order_relaxed); }

  const ClientOptions& options() const { return options_; }

 private:
  friend class ClientConnection;
  using List = std::list<std::unique_ptr<ClientConnection>>;

  bool closed() const { return *alive_ == nullptr; }
  // Assigns waiting calls to connections with capacity, and opens more connections if necessary.
  void Distribute();
  ClientConnection* LeastBusy();
  bool NeedsMore() const;
  void Open();
  void Remove(ClientConnection& connection, const Status& why);
  void DistributeSoon();
  // The shortest of the options' timeouts; the maximum if there is none.
  Clock::Duration ShortestLimit() const;
  // Schedules a check for when the first timeout of a connection can expire.
  void ScheduleCheck();
  void Check();

  const ClientOptions options_;
  const ClientContexts tls_;
  const std::shared_ptr<EventLoop> loop_;
  std::atomic<size_t> size_ = 0;
  std::deque<std::shared_ptr<ClientCall>> waiting_;
  List connections_;
  List dead_;
  size_t expected_streams_ = 100;  // streams per connection: the usual limit, then the observed one
  bool distributing_ = false;
  bool distribute_queued_ = false;
  bool check_scheduled_ = false;
  Clock::SteadyTime check_at_{};  // if check_scheduled_
  Timer timer_;
  const std::shared_ptr<ClientPool*> alive_;  // shared with posted functions; null when closed
};

// One connection: first connecting, then carrying a session.
class ClientConnection final : public Channel::User, public ClientSession::Host {
 public:
  explicit ClientConnection(ClientPool& pool);
  ~ClientConnection() override;

  void Connect();
  // Not usable yet, but soon.
  bool connecting() const { return session_ == nullptr || (active() == 0 && capacity() == 0); }
  size_t capacity() const { return session_ == nullptr ? 0 : session_->capacity(); }
  size_t active() const { return session_ == nullptr ? 0 : session_->active(); }
  ClientSession& session() { return *session_; }
  void CheckTime(Clock::SteadyTime now);
  // When CheckTime may have something to do. kNever: there is no timeout.
  Clock::SteadyTime NextCheck(Clock::SteadyTime now) const;
  // OK: the server closed it.
  void Fail(const Status& why);

 private:
  friend class ClientPool;

  void OnOpen() override;
  void OnBytes(std::string_view bytes) override;
  size_t OnOutput(char* to, size_t room) override;
  void OnFlushed() override;
  bool OnInputEnd() override;
  void OnEnd(const Status& why) override;
  void OnOutputReady() override;
  void OnCapacity() override;
  void OnUnprocessed(std::shared_ptr<ClientCall> call) override;

  void OnResolved(const boost::asio::ip::tcp::resolver::results_type& ends);
  void OnConnected(boost::asio::ip::tcp::socket socket);
  bool IsAllowed(const boost::asio::ip::tcp::endpoint& end) const;
  Status ErrorOf(const boost::system::error_code& error) const;
  // The address of the socket: the proxy's if there is one, else the server's.
  const std::string& dialed_host() const;
  uint16_t dialed_port() const;
  Result<std::unique_ptr<Tunnel>> MakeTunnel() const;
  void UpdateReading();

  ClientPool& pool_;
  std::shared_ptr<ClientConnection*> alive_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<Channel> channel_;
  std::unique_ptr<ClientSession> session_;
  bool http1_ = false;
  bool was_up_ = false;      // it reached a usable state
  bool was_used_ = false;    // it carried a request
  Clock::SteadyTime since_;  // start of connecting, later the time of the last input
  Clock::SteadyTime pinged_{};
  Clock::SteadyTime idle_since_{};  // zero: in use, or not checked yet
  ClientPool::List::iterator self_;
};

}  // namespace cox::net
