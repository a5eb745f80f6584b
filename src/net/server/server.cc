// SPDX-License-Identifier: Apache-2.0
#include "net/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "base/mutex.h"
#include "net/server/connection.h"

namespace cox::net {
namespace {

using boost::asio::ip::tcp;

// Pause after accept has run out of file descriptors: an immediate retry would fail again.
constexpr std::chrono::milliseconds kAcceptPause{50};
// Connections accepted before the loop's other work continues.
constexpr int kAcceptBatch = 64;

class LoopServer final : public Server {
 public:
  LoopServer(const Context& ctx, ServerOptions options, Handler handler)
      : options_(std::move(options)), handler_(std::move(handler)), context_(ctx.Child()) {}
  ~LoopServer() override { Stop(); }

  Status Init();

  uint16_t port() const override { return port_; }
  Status Drain(Context& ctx) override;
  void StopStreams() override;
  void Stop() override;
  Stats stats() const override;

 private:
  // Deadlines are checked four times within the shortest of them.
  Clock::Duration CheckPeriod() const;
  Status Listen();
  void WaitToAccept();
  void Accept();
  void HandOver(int fd);
  void StopAccepting();
  template <class Work>
  void OnEachLoop(Work work);

  // Constant after Init.
  const ServerOptions options_;
  const Handler handler_;
  Context context_;
  uint16_t port_ = 0;
  tcp protocol_ = tcp::v4();
  std::vector<std::shared_ptr<EventLoop>> loops_;
  // Thread-safe.
  ServerCounters counters_;
  // One for each loop; used on the loop's thread.
  std::vector<std::unique_ptr<ConnectionSet>> sets_;
  // First loop's thread only.
  std::unique_ptr<tcp::acceptor> acceptor_;
  size_t next_loop_ = 0;
  Timer accept_again_;
  Mutex mu_;
  bool stopped_ COX_GUARDED_BY(mu_) = false;
};

Clock::Duration LoopServer::CheckPeriod() const {
  const auto shortest =
      std::min({options_.header_timeout, options_.handshake_timeout, options_.idle_timeout,
                options_.write_timeout, options_.body_timeout, std::chrono::milliseconds(4000)});
  return std::max<Clock::Duration>(shortest / 4, std::chrono::milliseconds(5));
}

Status LoopServer::Init() {
  for (int i = 0; i < std::max(options_.loops, 1); ++i) {
    loops_.push_back(std::make_shared<EventLoop>(context_.clock()));
    sets_.push_back(std::make_unique<ConnectionSet>(
        SessionShared{options_, handler_, counters_, context_, loops_.back()}, CheckPeriod()));
  }
  COX_RETURN_IF_ERROR(Listen());
  for (size_t i = 0; i < loops_.size(); ++i) {
    COX_RETURN_IF_ERROR(loops_[i]->Start("http-loop-" + std::to_string(i)));
  }
  loops_.front()->Post([this] { Accept(); });
  return {};
}

Status LoopServer::Listen() {
  boost::system::error_code error;
  acceptor_ = std::make_unique<tcp::acceptor>(loops_.front()->io());
  const std::string where = options_.bind_address + ":" + std::to_string(options_.port);
  const auto failed = [&](std::string_view what) {
    return Status::Unavailable(std::string(what) + " " + where + ": " + error.message());
  };
  if (options_.listen_fd >= 0) {
    sockaddr_storage name{};
    socklen_t size = sizeof(name);
    const bool known =
        getsockname(options_.listen_fd, reinterpret_cast<sockaddr*>(&name), &size) == 0;
    if (!known) return Status::BadRequest("the inherited descriptor is no socket");
    acceptor_->assign(name.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), options_.listen_fd,
                      error);
    if (error) return failed("taking over");
  } else {
    const auto address = boost::asio::ip::make_address(options_.bind_address, error);
    if (error) return Status::BadRequest("bind address " + options_.bind_address + ": no IP");
    const tcp::endpoint end(address, options_.port);
    acceptor_->open(end.protocol(), error);
    if (error) return failed("opening");
    acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    acceptor_->bind(end, error);
    if (error) return failed("binding");
    acceptor_->listen(boost::asio::socket_base::max_listen_connections, error);
    if (error) return failed("listening on");
  }
  const tcp::endpoint bound = acceptor_->local_endpoint(error);
  if (error) return failed("asking for the address of");
  port_ = bound.port();
  protocol_ = bound.protocol();
  acceptor_->non_blocking(true, error);
  return {};
}

void LoopServer::WaitToAccept() {
  acceptor_->async_wait(tcp::acceptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error && acceptor_->is_open()) Accept();
  });
}

void LoopServer::Accept() {
  if (!acceptor_->is_open()) return;
  for (int i = 0; i < kAcceptBatch; ++i) {
    const int fd =
        accept4(acceptor_->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      HandOver(fd);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    COX_WARNING(context_.log(), "Could not accept a connection", {"err", std::strerror(errno)});
    accept_again_ = context_.clock().After(kAcceptPause,
                                           [this] { loops_.front()->Post([this] { Accept(); }); });
    return;
  }
  WaitToAccept();
}

void LoopServer::HandOver(int fd) {
  // As a bare descriptor: a socket belongs to one loop, and the loops stop in no particular order.
  const auto descriptor = std::make_shared<Fd>(fd);
  const size_t index = next_loop_++ % loops_.size();
  loops_[index]->Post([this, index, descriptor] {
    boost::system::error_code error;
    tcp::socket socket(loops_[index]->io());
    socket.assign(protocol_, descriptor->get(), error);
    if (error) return;
    descriptor->Release();
    sets_[index]->Adopt(std::move(socket));
  });
}

template <class Work>
void LoopServer::OnEachLoop(Work work) {
  for (size_t i = 0; i < loops_.size(); ++i) {
    loops_[i]->Post([this, i, work] { work(*sets_[i]); });
  }
}

void LoopServer::StopAccepting() {
  if (acceptor_ == nullptr) return;
  boost::system::error_code ignored;
  acceptor_->close(ignored);
}

Status LoopServer::Drain(Context& ctx) {
  loops_.front()->Post([this] { StopAccepting(); });
  OnEachLoop([](ConnectionSet& set) { set.Drain(); });
  MutexLock lock(counters_.mu);
  return ctx.Await(counters_.mu, counters_.all_closed,
                   [this] { return counters_.connections.load(std::memory_order_acquire) == 0; });
}

void LoopServer::StopStreams() {
  OnEachLoop([](ConnectionSet& set) { set.StopStreams(); });
}

void LoopServer::Stop() {
  MutexLock lock(mu_);
  if (std::exchange(stopped_, true)) return;
  context_.Stop();  // cancels requests that are still being handled
  for (const auto& loop : loops_) loop->Stop();
  accept_again_.Cancel();
  // All loops have stopped: this thread may use their state now.
  StopAccepting();
  sets_.clear();
}

Server::Stats LoopServer::stats() const {
  return {counters_.connections.load(std::memory_order_relaxed),
          counters_.streams.load(std::memory_order_relaxed),
          counters_.requests.load(std::memory_order_relaxed),
          counters_.refused.load(std::memory_order_relaxed)};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const Context& ctx, ServerOptions options,
                                              Handler handler) {
  auto server = std::make_unique<LoopServer>(ctx, std::move(options), std::move(handler));
  COX_RETURN_IF_ERROR(server->Init());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace cox::net
