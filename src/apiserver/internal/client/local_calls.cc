// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/client/local_calls.h"

#include <atomic>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/request/call.h"
#include "base/mutex.h"
#include "coxswain/client.h"
#include "sdk/client/response/stored_events.h"

namespace cox::apiserver {
namespace {

constexpr int64_t kRetryAfterSeconds = 1;

net::Response StoppedResponse() {
  const Status status(Reason::kServiceUnavailable, "the server is stopping",
                      StatusDetails{.retry_after_seconds = kRetryAfterSeconds});
  net::Response response{.status = status.code(), .headers = {}, .body = {}};
  response.headers.Add("content-type", "application/json");
  response.headers.Add("retry-after", std::to_string(kRetryAfterSeconds));
  response.body.emplace_back(EncodeStatus(status, Accepted{.format = Format::kJson}));
  return response;
}

}  // namespace

// A streamed response: owns its source until the stream has ended or the server stops.
struct LocalCalls::Running {
  Mutex mu;
  std::unique_ptr<net::BodySource> source COX_GUARDED_BY(mu);
  std::weak_ptr<net::Waker> waker COX_GUARDED_BY(mu);  // weak: it may own this object

  // REQUIRES: `mu` is not held, because destroying a source may wake other threads.
  void End() {
    std::unique_ptr<net::BodySource> ended;
    std::shared_ptr<net::Waker> wake;
    {
      MutexLock lock(mu);
      ended = std::move(source);
      wake = waker.lock();
    }
    ended.reset();
    if (wake != nullptr) wake->Wake();
  }
};

struct LocalCalls::SharedState {
  SharedState(const Context& parent, net::Handler handler)
      : ctx(parent), serve(std::move(handler)) {}

  const Context ctx;
  const net::Handler serve;
  Mutex mu;
  CondVar changed;
  bool open COX_GUARDED_BY(mu) = true;  // accepts calls
  bool stopped COX_GUARDED_BY(mu) = false;
  size_t entering COX_GUARDED_BY(mu) = 0;    // calls of `serve` that have not returned
  size_t unanswered COX_GUARDED_BY(mu) = 0;  // exchanges without a response
  std::set<std::shared_ptr<Running>> running COX_GUARDED_BY(mu);

  bool Enter() {
    MutexLock lock(mu);
    if (!open) return false;
    ++entering;
    ++unanswered;
    return true;
  }
  void Entered() {
    MutexLock lock(mu);
    if (--entering == 0) changed.NotifyAll();
  }
  void ResponseCollector() {
    MutexLock lock(mu);
    if (--unanswered == 0) changed.NotifyAll();
  }
  // False if the server has stopped and ends all streams.
  bool Begin(const std::shared_ptr<Running>& stream) {
    MutexLock lock(mu);
    if (stopped) return false;
    running.insert(stream);
    return true;
  }
  void Ended(const std::shared_ptr<Running>& stream) {
    MutexLock lock(mu);
    running.erase(stream);
  }
};

// The source that the caller reads.
class LocalCalls::LocalSource final : public net::BodySource, public sdk::StoredEventSource {
 public:
  LocalSource(std::shared_ptr<SharedState> shared, std::shared_ptr<Running> running)
      : shared_(std::move(shared)), running_(std::move(running)) {
    MutexLock lock(running_->mu);
    if (const StoredEventSource* const events = Events()) kind_ = &events->kind();
  }
  ~LocalSource() override {
    shared_->Ended(running_);
    running_->End();
  }

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    MutexLock lock(running_->mu);
    return running_->source == nullptr ? State::kEnd : running_->source->Pull(budget, out);
  }

  net::Content* content() override { return kind_ == nullptr ? nullptr : this; }
  const KindInfo& kind() const override { return *kind_; }
  Result<std::optional<sdk::StoredEvent>> Take() override {
    MutexLock lock(running_->mu);
    StoredEventSource* const events = Events();
    if (events == nullptr) return EndOfWatch();
    return events->Take();
  }

 private:
  StoredEventSource* Events() const COX_REQUIRES(running_->mu) {
    if (running_->source == nullptr) return nullptr;
    return dynamic_cast<StoredEventSource*>(running_->source->content());
  }

  const std::shared_ptr<SharedState> shared_;
  const std::shared_ptr<Running> running_;
  const KindInfo* kind_ = nullptr;  // of the stored events; null if there are none
};

// The caller's exchange, with a context that the server can stop too.
class LocalCalls::LocalExchange final : public net::Exchange {
 public:
  LocalExchange(std::shared_ptr<SharedState> shared, net::ExchangePtr caller)
      : shared_(std::move(shared)),
        caller_(std::move(caller)),
        context_(shared_->ctx.Child()),
        on_stop_(caller_->context().OnStop([ctx = context_, theirs = caller_->context()]() mutable {
          ctx.Stop(theirs.status());
        })) {}
  ~LocalExchange() override {
    if (answered_.exchange(true)) return;
    caller_->Send(StoppedResponse());
    shared_->ResponseCollector();
  }

  net::Request& request() override { return caller_->request(); }
  Context& context() override { return context_; }

  void Send(net::Response response) override {
    if (answered_.exchange(true)) return;
    caller_->Send(std::move(response));
    shared_->ResponseCollector();
  }

  std::shared_ptr<net::Waker> Stream(int status, net::Headers headers,
                                     std::unique_ptr<net::BodySource> source) override {
    auto running = std::make_shared<Running>();
    {
      MutexLock lock(running->mu);
      running->source = std::move(source);
    }
    // A stream that starts after Stop is empty.
    if (!shared_->Begin(running)) running->End();
    answered_.store(true);
    std::shared_ptr<net::Waker> waker = caller_->Stream(
        status, std::move(headers), std::make_unique<LocalSource>(shared_, running));
    shared_->ResponseCollector();
    bool ended = false;
    {
      MutexLock lock(running->mu);
      running->waker = waker;
      ended = running->source == nullptr;
    }
    if (ended) waker->Wake();  // the waker was not set when the stream ended
    return waker;
  }

  Result<std::unique_ptr<net::WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                                  const net::WebSocketOptions& options) override {
    auto socket = caller_->Upgrade(protocols, options);
    if (socket.ok() && !answered_.exchange(true)) shared_->ResponseCollector();
    return socket;
  }
  Result<std::unique_ptr<net::ByteStream>> SwitchProtocols(net::Headers headers) override {
    auto stream = caller_->SwitchProtocols(std::move(headers));
    if (stream.ok() && !answered_.exchange(true)) shared_->ResponseCollector();
    return stream;
  }

 private:
  const std::shared_ptr<SharedState> shared_;
  const net::ExchangePtr caller_;
  Context context_;
  const StopHandle on_stop_;
  std::atomic<bool> answered_ = false;
};

LocalCalls::LocalCalls(const Context& ctx, net::Handler serve)
    : shared_(std::make_shared<SharedState>(ctx, std::move(serve))) {}

net::Handler LocalCalls::handler() const {
  return [shared = shared_](net::ExchangePtr exchange) {
    if (!shared->Enter()) return exchange->Send(StoppedResponse());
    shared->serve(std::make_shared<LocalExchange>(shared, std::move(exchange)));
    shared->Entered();
  };
}

Status LocalCalls::Drain(Context& ctx) {
  MutexLock lock(shared_->mu);
  shared_->open = false;
  return ctx.Await(shared_->mu, shared_->changed,
                   [this]() COX_REQUIRES(shared_->mu) { return shared_->unanswered == 0; });
}

void LocalCalls::Stop() {
  std::set<std::shared_ptr<Running>> running;
  {
    MutexLock lock(shared_->mu);
    shared_->open = false;
    shared_->stopped = true;
    while (shared_->entering > 0) shared_->changed.Wait(shared_->mu);
    running.swap(shared_->running);
  }
  for (const std::shared_ptr<Running>& stream : running) stream->End();
}

}  // namespace cox::apiserver
