// SPDX-License-Identifier: Apache-2.0
#include "net/server/connection.h"

#include <algorithm>
#include <utility>

#include "net/server/http1_session.h"
#include "net/server/http2_session.h"

namespace cox::net {
namespace {

constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0";
// How long to wait for the peer's close after the server's own.
constexpr std::chrono::seconds kLinger{2};

std::string AddressOf(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto end = socket.remote_endpoint(error);
  if (error) return "unknown";
  const auto address = end.address();
  const std::string host =
      address.is_v6() && address.to_v6().is_v4_mapped()
          ? boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6())
                .to_string()
          : address.to_string();
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(end.port());
}

}  // namespace

Connection::Connection(ConnectionSet& set, boost::asio::ip::tcp::socket socket)
    : set_(set), peer_(std::make_shared<Peer>()), since_(set.shared_.loop->clock().Monotonic()) {
  peer_->address = AddressOf(socket);
  SslPtr ssl;
  if (const ServerTls* tls = set_.shared_.options.tls.get(); tls != nullptr) {
    peer_->tls = true;
    ssl.reset(SSL_new(tls->context()));
    SSL_set_accept_state(ssl.get());
  }
  channel_ =
      std::make_shared<Channel>(*set_.shared_.loop, std::move(socket), std::move(ssl), *this);
}

Connection::~Connection() { channel_->Close(); }

void Connection::Start() { channel_->Start(); }

void Connection::OnOpen() {
  set_.HandshakeDone(*this);
  since_ = set_.shared_.loop->clock().Monotonic();
  if (channel_->tls() == nullptr) return;  // Sniff detects the protocol
  peer_->certificates = channel_->tls()->PeerCertificates();
  MakeSession(channel_->tls()->protocol() == "h2");
}

void Connection::MakeSession(bool http2) {
  if (http2) {
    session_ = std::make_unique<Http2Session>(set_.shared_, peer_, *this);
  } else {
    session_ = std::make_unique<Http1Session>(set_.shared_, peer_, *this);
  }
  if (set_.draining_) session_->Drain();
}

void Connection::Sniff(std::string_view bytes) {
  sniffed_.append(bytes);
  const size_t size = std::min(sniffed_.size(), kHttp2Preface.size());
  const bool may_be = std::string_view(sniffed_).substr(0, size) == kHttp2Preface.substr(0, size);
  if (may_be && size < kHttp2Preface.size()) return;
  MakeSession(may_be);
  session_->Receive(std::exchange(sniffed_, {}));
}

void Connection::OnBytes(std::string_view bytes) {
  if (session_ == nullptr) {
    Sniff(bytes);
  } else {
    session_->Receive(bytes);
  }
  if (session_ != nullptr) channel_->SetReading(session_->wants_input());
}

size_t Connection::OnOutput(char* to, size_t room) {
  if (session_ == nullptr) return 0;
  const size_t size = session_->Produce(to, room);
  channel_->SetReading(session_->wants_input());
  return size;
}

void Connection::OnFlushed() {
  if (session_ == nullptr) return;
  if (!session_->finished()) {
    if (session_->output_ended()) channel_->EndOutput();
    return;
  }
  since_ = set_.shared_.loop->clock().Monotonic();
  channel_->Shutdown();
}

bool Connection::OnInputEnd() { return session_ != nullptr && session_->InputEnded(); }

void Connection::OnEnd(const Status&) { set_.Remove(*this); }

void Connection::OnOutputReady() {
  if (session_ != nullptr) {
    if (session_->aborted()) return Close();
    // Also while output is blocked: otherwise two ends that wait for each other to read would
    // deadlock.
    channel_->SetReading(session_->wants_input());
  }
  set_.shared_.loop->FlushSoon(*channel_);
}

void Connection::CheckTime(Clock::SteadyTime now) {
  const ServerOptions& options = set_.shared_.options;
  const auto passed = now - since_;
  bool over = false;
  if (channel_->handshaking()) {
    over = passed > options.handshake_timeout;
  } else if (channel_->lingering()) {
    over = passed > kLinger;
  } else if (session_ == nullptr) {
    over = passed > options.header_timeout;
  } else {
    over = channel_->blocked() && !session_->patient() &&
           now - channel_->blocked_since() > options.write_timeout;
    if (!over) session_->CheckTime(now);
  }
  if (!over) return;
  if (!channel_->lingering()) {
    set_.shared_.counters.refused.fetch_add(1, std::memory_order_relaxed);
  }
  Close();
}

void Connection::Drain() {
  if (session_ != nullptr) return session_->Drain();
  if (channel_->tls() == nullptr) Close();  // no request has begun
}

void Connection::StopStreams() {
  if (session_ != nullptr) session_->StopStreams();
}

void Connection::Close() {
  channel_->Close();
  set_.Remove(*this);
}

ConnectionSet::ConnectionSet(SessionShared shared, Clock::Duration period)
    : shared_(std::move(shared)), period_(period), alive_(std::make_shared<ConnectionSet*>(this)) {}

ConnectionSet::~ConnectionSet() {
  *alive_ = nullptr;
  CloseAll();
}

void ConnectionSet::Adopt(boost::asio::ip::tcp::socket socket) {
  ServerCounters& counters = shared_.counters;
  if (draining_ ||
      counters.connections.load(std::memory_order_relaxed) >= shared_.options.max_connections) {
    counters.refused.fetch_add(draining_ ? 0 : 1, std::memory_order_relaxed);
    return;  // the socket's destructor closes it
  }
  // Closes the oldest connection in the handshake: a normal client finishes within milliseconds, so
  // this affects clients that open connections and leave them unused.
  if (counters.half_open.load(std::memory_order_relaxed) >= shared_.options.max_half_open &&
      !half_open_.empty()) {
    counters.refused.fetch_add(1, std::memory_order_relaxed);
    half_open_.front()->Close();
  }
  counters.connections.fetch_add(1, std::memory_order_relaxed);
  connections_.push_back(std::make_unique<Connection>(*this, std::move(socket)));
  Connection& connection = *connections_.back();
  connection.self_ = std::prev(connections_.end());
  if (shared_.options.tls != nullptr) {
    counters.half_open.fetch_add(1, std::memory_order_relaxed);
    half_open_.push_back(&connection);
    connection.half_open_ = std::prev(half_open_.end());
    connection.is_half_open_ = true;
  }
  connection.Start();
  ScheduleCheck();
}

void ConnectionSet::HandshakeDone(Connection& connection) {
  if (!std::exchange(connection.is_half_open_, false)) return;
  half_open_.erase(connection.half_open_);
  shared_.counters.half_open.fetch_sub(1, std::memory_order_relaxed);
}

void ConnectionSet::Remove(Connection& connection) {
  HandshakeDone(connection);
  if (dead_.empty()) {
    shared_.loop->Post([alive = alive_] {
      if (*alive != nullptr) (*alive)->dead_.clear();
    });
  }
  dead_.splice(dead_.end(), connections_, connection.self_);
  shared_.counters.Closed(1);
}

void ConnectionSet::Drain() {
  draining_ = true;
  for (auto at = connections_.begin(); at != connections_.end();) (*at++)->Drain();
}

void ConnectionSet::StopStreams() {
  for (auto at = connections_.begin(); at != connections_.end();) (*at++)->StopStreams();
}

void ConnectionSet::CloseAll() {
  half_open_.clear();
  shared_.counters.Closed(connections_.size());
  connections_.clear();
  dead_.clear();
}

void ConnectionSet::ScheduleCheck() {
  if (check_scheduled_ || connections_.empty()) return;
  check_scheduled_ = true;
  timer_ = shared_.loop->clock().After(period_, [loop = shared_.loop, alive = alive_] {
    loop->Post([alive] {
      if (*alive != nullptr) (*alive)->Check();
    });
  });
}

void ConnectionSet::Check() {
  check_scheduled_ = false;
  const Clock::SteadyTime now = shared_.loop->clock().Monotonic();
  for (auto at = connections_.begin(); at != connections_.end();) (*at++)->CheckTime(now);
  ScheduleCheck();
}

}  // namespace cox::net
