// SPDX-License-Identifier: Apache-2.0
#include "net/client.h"

#include <deque>
#include <utility>

#include "base/mutex.h"
#include "net/client/call.h"
#include "net/client/pool.h"
#include "net/client/response_collector.h"
#include "net/many_clients.h"

namespace cox::net {
namespace {

// Buffers the unread response.
class Inbox final : public ResponseObserver {
 public:
  void OnHeaders(int status, Headers headers) override {
    MutexLock lock(mu_);
    status_ = status;
    headers_ = std::move(headers);
    changed_.NotifyAll();
  }
  void OnData(std::string_view bytes) override {
    Bytes copy = Bytes::Copy(bytes);
    MutexLock lock(mu_);
    pieces_.push_back(std::move(copy));
    NotifyReader(lock);
  }
  void OnEnd(const Status& status) override {
    MutexLock lock(mu_);
    ended_ = true;
    end_ = status;
    NotifyReader(lock);
  }

  Status WaitForHeaders(Context& ctx, int* status, Headers* headers) {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(
        ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return status_ != 0 || ended_; }));
    if (status_ == 0) return end_.ok() ? Status::Unavailable("no response") : end_;
    *status = status_;
    *headers = std::move(headers_);
    return {};
  }
  Result<Bytes> Next(Context& ctx) {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(
        mu_, changed_, [this]() COX_REQUIRES(mu_) { return !pieces_.empty() || ended_; }));
    return Take();
  }
  Result<std::optional<Bytes>> TryNext(const std::function<void()>& ready) {
    MutexLock lock(mu_);
    if (pieces_.empty() && !ended_) {
      ready_ = ready;
      return std::optional<Bytes>();
    }
    COX_ASSIGN_OR_RETURN(Bytes piece, Take());
    return std::optional<Bytes>(std::move(piece));
  }

 private:
  Result<Bytes> Take() COX_REQUIRES(mu_) {
    if (pieces_.empty()) {
      if (!end_.ok()) return end_;
      return Bytes();
    }
    Bytes piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }
  // Releases the lock: `ready_` may call anything but this object.
  void NotifyReader(MutexLock& lock) COX_REQUIRES(mu_) COX_NO_THREAD_SAFETY_ANALYSIS {
    changed_.NotifyAll();
    const std::function<void()> ready = std::exchange(ready_, nullptr);
    lock.Unlock();
    if (ready) ready();
  }

  Mutex mu_;
  CondVar changed_;
  int status_ COX_GUARDED_BY(mu_) = 0;
  Headers headers_ COX_GUARDED_BY(mu_);
  std::deque<Bytes> pieces_ COX_GUARDED_BY(mu_);
  bool ended_ COX_GUARDED_BY(mu_) = false;
  Status end_ COX_GUARDED_BY(mu_);
  std::function<void()> ready_ COX_GUARDED_BY(mu_);  // of TryNext
};

class LoopStream final : public ClientStream {
 public:
  LoopStream(std::shared_ptr<ClientCall> call, std::shared_ptr<Inbox> inbox)
      : call_(std::move(call)), inbox_(std::move(inbox)) {}
  ~LoopStream() override { call_->Cancel(); }

  Status WaitForHeaders(Context& ctx) { return inbox_->WaitForHeaders(ctx, &status_, &headers_); }

  int status() const override { return status_; }
  const Headers& headers() const override { return headers_; }
  Result<Bytes> Read(Context& ctx) override {
    auto piece = inbox_->Next(ctx);
    if (piece.ok()) Report(piece->size());
    return piece;
  }
  Result<std::optional<Bytes>> TryRead(const std::function<void()>& ready) override {
    auto piece = inbox_->TryNext(ready);
    if (piece.ok() && piece->has_value()) Report((*piece)->size());
    return piece;
  }

 private:
  void Report(size_t size) {
    // Not for each piece: the window is much larger than kReport.
    unreported_ += size;
    if (unreported_ >= kReport) call_->Consume(std::exchange(unreported_, 0));
  }

  static constexpr size_t kReport = 128 * 1024;

  const std::shared_ptr<ClientCall> call_;
  const std::shared_ptr<Inbox> inbox_;
  int status_ = 0;
  Headers headers_;
  size_t unreported_ = 0;
};

class CallHandle final : public Observation {
 public:
  explicit CallHandle(std::shared_ptr<ClientCall> call) : call_(std::move(call)) {}
  ~CallHandle() override { call_->Cancel(); }

 private:
  const std::shared_ptr<ClientCall> call_;
};

// Closes a pool on the thread of its loop, or where the task is dropped, after the loop has
// stopped.
class PoolCloser final : public LoopTask {
 public:
  explicit PoolCloser(std::shared_ptr<ClientPool> pool) : pool_(std::move(pool)) {}
  ~PoolCloser() override { pool_->Close(); }

 private:
  void Run() override { pool_->Close(); }

  const std::shared_ptr<ClientPool> pool_;
};

class LoopClient final : public Client {
 public:
  LoopClient(ClientOptions options, ClientContexts tls, std::shared_ptr<EventLoop> loop)
      : max_response_bytes_(options.max_response_bytes),
        owns_loop_(options.loop == nullptr),
        loop_(std::move(loop)),
        pool_(std::make_shared<ClientPool>(std::move(options), std::move(tls), loop_)) {}
  ~LoopClient() override {
    if (owns_loop_) {
      loop_->Stop();
      pool_->Close();
    } else {
      loop_->Enqueue(std::make_shared<PoolCloser>(pool_));
    }
  }

  Result<Response> Do(Context& ctx, Request request) override {
    const auto answered = std::make_shared<ResponseCollector>(max_response_bytes_);
    const auto call = MakeCall(std::move(request), answered, false);
    call->Start();
    const Status status = answered->Wait(ctx);
    if (!status.ok()) {
      call->Cancel();
      return status;
    }
    return answered->Take();
  }

  Result<std::unique_ptr<ClientStream>> Start(Context& ctx, Request request) override {
    auto inbox = std::make_shared<Inbox>();
    auto call = MakeCall(std::move(request), inbox, true);
    call->Start();
    auto stream = std::make_unique<LoopStream>(std::move(call), std::move(inbox));
    COX_RETURN_IF_ERROR(stream->WaitForHeaders(ctx));
    return std::unique_ptr<ClientStream>(std::move(stream));
  }

  std::unique_ptr<Observation> Observe(Request request,
                                       std::shared_ptr<ResponseObserver> observer) override {
    auto call = MakeCall(std::move(request), std::move(observer), false);
    call->Start();
    return std::make_unique<CallHandle>(std::move(call));
  }

  size_t connections() const override { return pool_->size(); }

 private:
  std::shared_ptr<ClientCall> MakeCall(Request request, std::shared_ptr<ResponseObserver> observer,
                                       bool reads) {
    if (request.method.empty()) request.method = "GET";
    if (request.target.empty()) request.target = "/";
    request.headers.Clean();
    return std::make_shared<ClientCall>(loop_, pool_, std::move(request), std::move(observer),
                                        reads);
  }

  const size_t max_response_bytes_;
  const bool owns_loop_;
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<ClientPool> pool_;
};

class SharedContextFactory final : public ClientFactory {
 public:
  SharedContextFactory(ClientOptions options, ClientContexts contexts)
      : options_(std::move(options)), contexts_(std::move(contexts)) {}

  std::unique_ptr<Client> Make(std::shared_ptr<const ClientIdentity> identity,
                               std::shared_ptr<EventLoop> loop) const override {
    ClientContexts contexts;
    contexts.server = Share(contexts_.server);
    contexts.proxy = Share(contexts_.proxy);
    contexts.identity = std::static_pointer_cast<const ParsedIdentity>(std::move(identity));
    ClientOptions options = options_;
    options.loop = loop;
    return std::make_unique<LoopClient>(std::move(options), std::move(contexts), std::move(loop));
  }

 private:
  static SslContextPtr Share(const SslContextPtr& context) {
    if (context != nullptr) SSL_CTX_up_ref(context.get());
    return SslContextPtr(context.get());
  }

  const ClientOptions options_;
  const ClientContexts contexts_;
};

}  // namespace

Result<std::optional<Bytes>> ClientStream::TryRead(const std::function<void()>&) {
  return Status(Reason::kMethodNotAllowed, "the stream cannot be read without blocking");
}

Result<std::unique_ptr<ClientFactory>> ClientFactory::Create(ClientOptions options) {
  options.loop = nullptr;
  ClientTls& tls = options.tls_options;
  tls.certificate_pem.clear();
  tls.key_pem.clear();
  COX_ASSIGN_OR_RETURN(ClientContexts contexts, MakeClientContexts(options));
  tls.ca_pem.clear();  // part of the context; not copied into each client
  return std::unique_ptr<ClientFactory>(
      std::make_unique<SharedContextFactory>(std::move(options), std::move(contexts)));
}

Result<std::shared_ptr<EventLoop>> StartEventLoop(const Context& ctx, const std::string& name) {
  auto loop = std::make_shared<EventLoop>(ctx.clock());
  COX_RETURN_IF_ERROR(loop->Start(name));
  return loop;
}

void StopEventLoop(EventLoop& loop) { loop.Stop(); }

Result<std::unique_ptr<Client>> Client::Create(const Context& ctx, ClientOptions options) {
  COX_ASSIGN_OR_RETURN(ClientContexts tls, MakeClientContexts(options));
  std::shared_ptr<EventLoop> loop = options.loop;
  if (loop == nullptr) {
    COX_ASSIGN_OR_RETURN(loop, StartEventLoop(ctx, "http-client"));
  }
  return std::unique_ptr<Client>(
      std::make_unique<LoopClient>(std::move(options), std::move(tls), std::move(loop)));
}

}  // namespace cox::net
