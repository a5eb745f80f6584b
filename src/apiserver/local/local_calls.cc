// SPDX-License-Identifier: Apache-2.0
#include "apiserver/local/local_calls.h"

#include <atomic>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/handlers/call.h"
#include "base/mutex.h"

namespace cox::apiserver {
namespace {

constexpr int64_t kRetryAfterSeconds = 1;

net::Response StoppedAnswer() {
  const Status status(Reason::kServiceUnavailable, "the server is stopping",
                      StatusDetails{.retry_after_seconds = kRetryAfterSeconds});
  net::Response response{.status = status.code(), .headers = {}, .body = {}};
  response.headers.Add("content-type", "application/json");
  response.headers.Add("retry-after", std::to_string(kRetryAfterSeconds));
  response.body.emplace_back(EncodeStatus(status, Accepted{.format = Format::kJson}));
  return response;
}

}  // namespace

// A response that streams: its source, until it has ended or the server wants it back.
struct LocalCalls::Running {
  Mutex mu;
  std::unique_ptr<net::BodySource> source COX_GUARDED_BY(mu);
  std::weak_ptr<net::Waker> waker COX_GUARDED_BY(mu);  // which may own what owns this

  // Without `mu` held: what a source lets go may wake others.
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

struct LocalCalls::State {
  State(const Context& parent, net::Handler handler) : ctx(parent), serve(std::move(handler)) {}

  const Context ctx;
  const net::Handler serve;
  Mutex mu;
  CondVar changed;
  bool open COX_GUARDED_BY(mu) = true;  // takes calls
  bool stopped COX_GUARDED_BY(mu) = false;
  size_t entering COX_GUARDED_BY(mu) = 0;    // calls of `serve` that have not returned
  size_t unanswered COX_GUARDED_BY(mu) = 0;  // exchanges
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
  void Answered() {
    MutexLock lock(mu);
    if (--unanswered == 0) changed.NotifyAll();
  }
  // False: the server does not wait for streams any more.
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

// What the caller's side pulls from.
class LocalCalls::LocalSource final : public net::BodySource {
 public:
  LocalSource(std::shared_ptr<State> state, std::shared_ptr<Running> running)
      : state_(std::move(state)), running_(std::move(running)) {}
  ~LocalSource() override {
    state_->Ended(running_);
    running_->End();
  }

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    MutexLock lock(running_->mu);
    return running_->source == nullptr ? State::kEnd : running_->source->Pull(budget, out);
  }

 private:
  const std::shared_ptr<LocalCalls::State> state_;
  const std::shared_ptr<Running> running_;
};

// The caller's exchange, with a context that the server can stop too.
class LocalCalls::LocalExchange final : public net::Exchange {
 public:
  LocalExchange(std::shared_ptr<State> state, net::ExchangePtr caller)
      : state_(std::move(state)),
        caller_(std::move(caller)),
        context_(state_->ctx.Child()),
        on_stop_(caller_->context().OnStop(
            [ctx = context_, theirs = caller_->context()]() mutable { ctx.Stop(theirs.status()); })) {}
  ~LocalExchange() override {
    if (answered_.exchange(true)) return;
    caller_->Send(StoppedAnswer());
    state_->Answered();
  }

  net::Request& request() override { return caller_->request(); }
  Context& context() override { return context_; }

  void Send(net::Response response) override {
    if (answered_.exchange(true)) return;
    caller_->Send(std::move(response));
    state_->Answered();
  }

  std::shared_ptr<net::Waker> Stream(int status, net::Headers headers,
                                     std::unique_ptr<net::BodySource> source) override {
    auto running = std::make_shared<Running>();
    {
      MutexLock lock(running->mu);
      running->source = std::move(source);
    }
    // One that comes too late is empty, and has ended.
    if (!state_->Begin(running)) running->End();
    answered_.store(true);
    std::shared_ptr<net::Waker> waker = caller_->Stream(
        status, std::move(headers), std::make_unique<LocalSource>(state_, running));
    state_->Answered();
    bool ended = false;
    {
      MutexLock lock(running->mu);
      running->waker = waker;
      ended = running->source == nullptr;
    }
    if (ended) waker->Wake();  // nobody could be woken when it was
    return waker;
  }

 private:
  const std::shared_ptr<State> state_;
  const net::ExchangePtr caller_;
  Context context_;
  const StopHandle on_stop_;
  std::atomic<bool> answered_ = false;
};

LocalCalls::LocalCalls(const Context& ctx, net::Handler serve)
    : state_(std::make_shared<State>(ctx, std::move(serve))) {}

net::Handler LocalCalls::handler() const {
  return [state = state_](net::ExchangePtr exchange) {
    if (!state->Enter()) return exchange->Send(StoppedAnswer());
    state->serve(std::make_shared<LocalExchange>(state, std::move(exchange)));
    state->Entered();
  };
}

Status LocalCalls::Drain(Context& ctx) {
  MutexLock lock(state_->mu);
  state_->open = false;
  return ctx.Await(state_->mu, state_->changed,
                   [this]() COX_REQUIRES(state_->mu) { return state_->unanswered == 0; });
}

void LocalCalls::Stop() {
  std::set<std::shared_ptr<Running>> running;
  {
    MutexLock lock(state_->mu);
    state_->open = false;
    state_->stopped = true;
    while (state_->entering > 0) state_->changed.Wait(state_->mu);
    running.swap(state_->running);
  }
  for (const std::shared_ptr<Running>& stream : running) stream->End();
}

}  // namespace cox::apiserver
