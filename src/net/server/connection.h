// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <string>

#include "net/io/channel.h"
#include "net/server/session.h"

namespace cox::net {

class Connection;

// The connections of one loop and their deadline timer. Loop thread only.
class ConnectionSet {
 public:
  ConnectionSet(SessionShared shared, Clock::Duration period);
  ~ConnectionSet();

  // Adds an accepted connection, or closes it when there are too many.
  void Adopt(boost::asio::ip::tcp::socket socket);
  void Drain();
  void StopStreams();
  void CloseAll();

  const SessionShared& shared() const { return shared_; }

 private:
  friend class Connection;
  using List = std::list<std::unique_ptr<Connection>>;

  // Called by connections. `connection` is destroyed later.
  void Remove(Connection& connection);
  void HandshakeDone(Connection& connection);

  void ScheduleCheck();
  void Check();

  SessionShared shared_;
  const Clock::Duration period_;  // between deadline checks
  List connections_;
  std::list<Connection*> half_open_;  // oldest first
  List dead_;                         // destroyed when no longer on the stack
  bool draining_ = false;
  bool check_scheduled_ = false;
  Timer timer_;
  // Late timer callbacks, which run on another thread, use this to detect a destroyed set.
  std::shared_ptr<ConnectionSet*> alive_;
};

// One accepted connection: its channel, and the session once the protocol is known.
class Connection final : public Channel::User, public Session::Host {
 public:
  Connection(ConnectionSet& set, boost::asio::ip::tcp::socket socket);
  ~Connection() override;

  void Start();
  void CheckTime(Clock::SteadyTime now);
  void Drain();
  void StopStreams();
  void Close();
  bool handshaking() const { return channel_->handshaking(); }

 private:
  friend class ConnectionSet;

  void OnOpen() override;
  void OnBytes(std::string_view bytes) override;
  size_t OnOutput(char* to, size_t room) override;
  void OnFlushed() override;
  bool OnInputEnd() override;
  void OnEnd(const Status& why) override;
  void OnOutputReady() override;

  void MakeSession(bool http2);
  // Detects the protocol of connections without TLS (and ALPN) by the HTTP/2 preface.
  void Sniff(std::string_view bytes);

  ConnectionSet& set_;
  std::shared_ptr<Peer> peer_;
  std::shared_ptr<Channel> channel_;
  std::unique_ptr<Session> session_;
  std::string sniffed_;
  Clock::SteadyTime since_;  // start of the handshake, later of the shutdown
  ConnectionSet::List::iterator self_;
  std::list<Connection*>::iterator half_open_;
  bool is_half_open_ = false;
};

}  // namespace cox::net
