// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/in_process_exchange.h"

#include <utility>

#include "base/check.h"
#include "net/websocket/handshake.h"

namespace cox::sdk {
namespace {

// The same as for a connection.
constexpr size_t kPullBudget = size_t{64} * 1024;

}  // namespace

// If the last reference is destroyed without a response, the request is answered with 500.
class InProcessExchange::Handle final : public net::Exchange {
 public:
  explicit Handle(std::shared_ptr<InProcessExchange> core) : core_(std::move(core)) {}
  ~Handle() override { core_->Drop(); }

  net::Request& request() override { return core_->request_; }
  Context& context() override { return core_->context_; }

  void Send(net::Response response) override {
    core_->Deliver({response.status, std::move(response.headers), std::move(response.body), {}});
  }
  std::shared_ptr<net::Waker> Stream(int status, net::Headers headers,
                                     std::unique_ptr<net::BodySource> source) override {
    COX_CHECK(source != nullptr) << "a stream has a source";
    core_->Deliver({status, std::move(headers), {}, std::move(source)});
    return core_;
  }
  Result<std::unique_ptr<net::WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                                  const net::WebSocketOptions& options) override {
    COX_ASSIGN_OR_RETURN(net::ServerHandshake handshake,
                         net::AcceptClientHandshake(core_->request_, protocols));
    auto [near, far] = net::MakeWebSocketPair(handshake.protocol, options);
    core_->Deliver({101, std::move(handshake.headers), {}, {}, std::move(far)});
    return std::move(near);
  }

 private:
  const std::shared_ptr<InProcessExchange> core_;
};

InProcessExchange::InProcessExchange(const Context& server, net::Request request)
    : request_(std::move(request)), context_(server.Child()) {
  on_stop_ = context_.OnStop([this] { Notify(); });
}

InProcessExchange::~InProcessExchange() = default;

net::ExchangePtr InProcessExchange::MakeHandle() {
  return std::make_shared<Handle>(shared_from_this());
}

void InProcessExchange::Deliver(Answer answer) {
  COX_CHECK(!answered_.exchange(true, std::memory_order_relaxed)) << "a request is answered once";
  answer.headers.Clean();
  {
    MutexLock lock(mu_);
    // The caller has left: the source is destroyed on return, without the lock.
    if (phase_ == Phase::kAbandoned) return;
    answer_ = std::move(answer);
    phase_ = Phase::kResponded;
  }
  changed_.NotifyAll();
}

void InProcessExchange::Drop() {
  if (!answered_.load(std::memory_order_relaxed)) {
    Answer answer;
    answer.headers.Add("content-type", "text/plain");
    answer.body.push_back(Bytes::Static("the request was not answered\n"));
    Deliver(std::move(answer));
  }
  // A stream keeps its waker, and therefore this object, for hours: release the request.
  request_ = {};
}

void InProcessExchange::Notify() {
  std::function<void()> ready;
  {
    // A waiter that checked the condition before the change is blocked once the lock is free.
    MutexLock lock(mu_);
    ready.swap(ready_);
  }
  changed_.NotifyAll();
  if (ready) ready();
}

void InProcessExchange::Wake() {
  if (!woken_.exchange(true, std::memory_order_acq_rel)) Notify();
}

Status InProcessExchange::AwaitResponse(const Context& ctx) {
  MutexLock lock(mu_);
  COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
    return phase_ == Phase::kResponded || context_.Done();
  }));
  if (phase_ == Phase::kResponded) return {};
  return Status::Unavailable("the server is going away");
}

bool InProcessExchange::Pull() {
  answer_.body.clear();
  next_ = 0;
  woken_.exchange(false, std::memory_order_acq_rel);
  const net::BodySource::State state = answer_.source->Pull(kPullBudget, &answer_.body);
  if (state == net::BodySource::State::kEnd) answer_.source.reset();
  return state != net::BodySource::State::kWait || !answer_.body.empty();
}

std::optional<Bytes> InProcessExchange::TakeAvailable() {
  for (;;) {
    while (next_ < answer_.body.size()) {
      Bytes piece = std::move(answer_.body[next_++]);
      if (!piece.empty()) return piece;
    }
    if (answer_.source == nullptr) {
      complete_ = true;
      return Bytes();
    }
    // The order matters: data that the source has before the stop is read by the pull after it.
    const bool ending = context_.Done();
    if (Pull()) continue;
    if (ending) {
      answer_.source.reset();
      continue;
    }
    answer_.body.shrink_to_fit();  // it may wait for hours
    return std::nullopt;
  }
}

Result<Bytes> InProcessExchange::Next(const Context& ctx) {
  for (;;) {
    if (next_ >= answer_.body.size() && answer_.source != nullptr) {
      COX_RETURN_IF_ERROR(ctx.status());
    }
    if (std::optional<Bytes> piece = TakeAvailable()) return *std::move(piece);
    COX_RETURN_IF_ERROR(AwaitWake(ctx));
  }
}

Result<std::optional<Bytes>> InProcessExchange::TryNext(const std::function<void()>& ready) {
  for (;;) {
    if (std::optional<Bytes> piece = TakeAvailable()) return piece;
    if (CallWhenWoken(ready)) return std::optional<Bytes>();
  }
}

Status InProcessExchange::AwaitWake(const Context& ctx) {
  MutexLock lock(mu_);
  return ctx.Await(mu_, changed_,
                   [this]() { return woken_.load(std::memory_order_acquire) || context_.Done(); });
}

bool InProcessExchange::CallWhenWoken(const std::function<void()>& ready) {
  MutexLock lock(mu_);
  if (woken_.load(std::memory_order_acquire) || context_.Done()) return false;
  ready_ = ready;
  return true;
}

StoredEventSource* InProcessExchange::events() {
  if (answer_.source == nullptr) return nullptr;
  return dynamic_cast<StoredEventSource*>(answer_.source->content());
}

Result<std::optional<StoredEvent>> InProcessExchange::TakeEvent() {
  if (answer_.source == nullptr) return EndOfWatch();
  // The order matters: events that occurred before the stop are read by the call after it.
  const bool ending = context_.Done();
  woken_.exchange(false, std::memory_order_acq_rel);
  Result<std::optional<StoredEvent>> event = events()->Take();
  if (event.ok() && (event->has_value() || !ending)) return event;
  answer_.source.reset();
  complete_ = true;
  if (event.ok()) return EndOfWatch();
  return event;
}

Result<StoredEvent> InProcessExchange::NextEvent(const Context& ctx) {
  for (;;) {
    COX_RETURN_IF_ERROR(ctx.status());
    COX_ASSIGN_OR_RETURN(std::optional<StoredEvent> event, TakeEvent());
    if (event) return *std::move(event);
    COX_RETURN_IF_ERROR(AwaitWake(ctx));
  }
}

Result<std::optional<StoredEvent>> InProcessExchange::TryNextEvent(
    const std::function<void()>& ready) {
  for (;;) {
    COX_ASSIGN_OR_RETURN(std::optional<StoredEvent> event, TakeEvent());
    if (event) return event;
    if (CallWhenWoken(ready)) return std::optional<StoredEvent>();
  }
}

void InProcessExchange::Abandon() {
  bool answered = false;
  {
    MutexLock lock(mu_);
    answered = std::exchange(phase_, Phase::kAbandoned) == Phase::kResponded;
  }
  // A WebSocket is open until Abandon.
  const bool whole = answer_.source == nullptr && answer_.status != 101;
  if (answered && whole) complete_ = true;
  if (!complete_) context_.Stop();
  if (answered) answer_ = {};
}

}  // namespace cox::sdk
