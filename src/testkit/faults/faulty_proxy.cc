// SPDX-License-Identifier: Apache-2.0
#include "testkit/faulty_proxy.h"

#include <boost/asio/ip/tcp.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "testkit/faults/proxy_link.h"

namespace cox::testkit {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

class ProxyImpl final : public FaultyProxy {
 public:
  ProxyImpl(Clock& clock, uint16_t to)
      : to_(to), loop_(std::make_shared<net::EventLoop>(clock)), acceptor_(loop_->io()) {}

  ~ProxyImpl() override {
    if (!running_) return;
    OnLoop([this] {
      error_code ignored;
      acceptor_.close(ignored);
      ResetAll();
    });
    loop_->Stop();
  }

  Status Listen() {
    error_code error;
    const tcp::endpoint end(boost::asio::ip::address_v4::loopback(), 0);
    acceptor_.open(end.protocol(), error);
    if (!error) acceptor_.bind(end, error);
    if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) return Status::Unavailable("listening on the loopback: " + error.message());
    COX_RETURN_IF_ERROR(loop_->Start("faulty-proxy"));
    running_ = true;
    loop_->Post([this] { Accept(); });
    return {};
  }

  uint16_t port() const override { return port_; }

  void Pause() override {
    OnLoop([this] { rules_.paused = true; });
  }
  void Resume() override {
    OnLoop([this] {
      rules_.paused = false;
      GoOn();
    });
  }
  void Reset() override {
    OnLoop([this] { ResetAll(); });
  }
  void CutAfter(size_t bytes) override { SetCut(bytes); }
  void SetDelay(Clock::Duration delay) override {
    OnLoop([this, delay] { rules_.delay = delay; });
  }
  void SetRefusing(bool refusing) override {
    OnLoop([this, refusing] { rules_.refusing = refusing; });
  }
  void Heal() override {
    SetCut(std::nullopt);
    OnLoop([this] {
      rules_ = {};
      GoOn();
    });
  }

  size_t connections() const override {
    MutexLock lock(mu_);
    return connections_;
  }
  uint64_t accepted() const override {
    MutexLock lock(mu_);
    return accepted_;
  }
  Status AwaitAccepted(Context& ctx, uint64_t count) const override {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return accepted_ >= count; });
  }

 private:
  // Runs `work` on the event loop's thread and waits until it returns.
  void OnLoop(std::function<void()> work) {
    Mutex mu;
    CondVar changed;
    bool done = false;
    loop_->Post([&] {
      work();
      MutexLock lock(mu);
      done = true;
      changed.NotifyAll();
    });
    MutexLock lock(mu);
    while (!done) changed.Wait(mu);
  }

  void SetCut(std::optional<size_t> bytes) {
    OnLoop([this, bytes] {
      rules_.cut_after = bytes;
      for (const auto& link : links_) link->set_cut_after(bytes);
    });
  }

  void Accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error) Adopt(std::move(socket));
      Accept();
    });
  }

  void Adopt(tcp::socket socket) {
    auto link = std::make_shared<ProxyLink>(*loop_, rules_, std::move(socket),
                                            [this](ProxyLink& ended) { Forget(ended); });
    links_.insert(link);
    Count(/*accepted=*/1);
    rules_.refusing ? link->Reset() : link->Connect(to_);
  }

  void Forget(ProxyLink& link) {
    links_.erase(link.shared_from_this());
    Count(/*accepted=*/0);
  }

  void Count(uint64_t accepted) {
    MutexLock lock(mu_);
    connections_ = links_.size();
    accepted_ += accepted;
    changed_.NotifyAll();
  }

  void ResetAll() {
    for (const auto& link : std::set(links_)) link->Reset();
  }
  void GoOn() {
    for (const auto& link : std::set(links_)) link->GoOn();
  }

  const uint16_t to_;
  const std::shared_ptr<net::EventLoop> loop_;
  uint16_t port_ = 0;
  bool running_ = false;
  // Used on the event loop's thread only.
  tcp::acceptor acceptor_;
  ProxyRules rules_;
  std::set<std::shared_ptr<ProxyLink>> links_;

  mutable Mutex mu_;
  mutable CondVar changed_;
  size_t connections_ COX_GUARDED_BY(mu_) = 0;
  uint64_t accepted_ COX_GUARDED_BY(mu_) = 0;
};

}  // namespace

Result<std::unique_ptr<FaultyProxy>> FaultyProxy::Start(const Context& ctx, uint16_t to) {
  auto proxy = std::make_unique<ProxyImpl>(ctx.clock(), to);
  COX_RETURN_IF_ERROR(proxy->Listen());
  return std::unique_ptr<FaultyProxy>(std::move(proxy));
}

}  // namespace cox::testkit
