// SPDX-License-Identifier: Apache-2.0
#include "net/fetch.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <utility>

#include "net/client/dial_error.h"
#include "net/io/event_loop.h"

namespace cox::net {
namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;

// Work on a loop that ends once: by itself, or when a context stops. It keeps itself alive until
// then. All members are used on the loop's thread.
class LoopWork : public std::enable_shared_from_this<LoopWork> {
 public:
  virtual ~LoopWork() = default;

  void Begin(const Context& ctx, const std::shared_ptr<EventLoop>& loop) {
    loop->Post([self = shared_from_this(), ctx, loop] {
      self->self_ = self;
      self->stop_ = ctx.OnStop([weak = std::weak_ptr<LoopWork>(self), ctx, loop] {
        // Not at once: the context may stop on any thread.
        loop->Post([weak, ctx] {
          if (const auto work = weak.lock()) work->Finish(ctx.status());
        });
      });
      self->Start();
    });
  }

 protected:
  virtual void Start() = 0;
  // Delivers the result and releases what the work holds.
  virtual void End(const Status& status) = 0;

  void Finish(const Status& status) {
    const std::shared_ptr<LoopWork> self = std::exchange(self_, nullptr);
    if (self == nullptr) return;  // it has ended before
    stop_ = StopHandle();
    End(status);
  }

 private:
  std::shared_ptr<LoopWork> self_;  // null before the start and after the end
  StopHandle stop_;
};

class FetchWork final : public LoopWork {
 public:
  FetchWork(const Context& ctx, ClientOptions options, Request request,
            std::function<void(Result<Fetched>)> done)
      : ctx_(ctx),
        options_(std::move(options)),
        request_(std::move(request)),
        done_(std::move(done)) {}

 private:
  // Receives the response. It is separate, because the call holds it.
  class Observer final : public ResponseObserver {
   public:
    explicit Observer(std::weak_ptr<FetchWork> work) : work_(std::move(work)) {}
    void OnHeaders(int status, Headers headers) override {
      const auto work = work_.lock();
      if (work == nullptr) return;
      work->fetched_.status = status;
      work->fetched_.headers = std::move(headers);
    }
    void OnData(std::string_view bytes) override {
      const auto work = work_.lock();
      if (work == nullptr) return;
      const size_t room = work->options_.max_response_bytes - work->fetched_.body.size();
      work->fetched_.body.append(bytes.substr(0, room));
      if (bytes.size() >= room) work->Finish({});
    }
    void OnEnd(const Status& status) override {
      if (const auto work = work_.lock()) work->Finish(status);
    }

   private:
    const std::weak_ptr<FetchWork> work_;
  };

  void Start() override {
    Result<std::unique_ptr<Client>> client = Client::Create(ctx_, options_);
    if (!client.ok()) return Finish(client.status());
    client_ = *std::move(client);
    call_ = client_->Observe(
        std::move(request_),
        std::make_shared<Observer>(std::static_pointer_cast<FetchWork>(shared_from_this())));
  }
  void End(const Status& status) override {
    call_.reset();
    client_.reset();
    const auto done = std::exchange(done_, nullptr);
    if (!status.ok()) return done(status);
    done(std::move(fetched_));
  }

  const Context ctx_;
  const ClientOptions options_;
  Request request_;
  std::function<void(Result<Fetched>)> done_;
  Fetched fetched_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Observation> call_;
};

class ConnectWork final : public LoopWork {
 public:
  ConnectWork(const std::shared_ptr<EventLoop>& loop, std::string host, uint16_t port,
              std::function<void(Status)> done)
      : host_(std::move(host)),
        port_(port),
        done_(std::move(done)),
        resolver_(loop->io()),
        socket_(loop->io()) {}

 private:
  void Start() override {
    const std::weak_ptr<ConnectWork> weak =
        std::static_pointer_cast<ConnectWork>(shared_from_this());
    Error invalid;
    const auto address = boost::asio::ip::make_address(host_, invalid);
    if (!invalid) {
      socket_.async_connect({address, port_}, [weak](const Error& error) {
        if (const auto work = weak.lock()) work->OnConnected(error);
      });
      return;
    }
    resolver_.async_resolve(host_, std::to_string(port_),
                            [weak](const Error& error, const tcp::resolver::results_type& ends) {
                              const auto work = weak.lock();
                              if (work == nullptr) return;
                              if (error) return work->Finish(LookupError(work->host_));
                              boost::asio::async_connect(
                                  work->socket_, ends,
                                  [weak](const Error& failed, const tcp::endpoint&) {
                                    if (const auto again = weak.lock()) {
                                      again->OnConnected(failed);
                                    }
                                  });
                            });
  }
  void OnConnected(const Error& error) {
    Finish(error ? DialError("dial tcp " + HostAndPort(host_, port_), error) : Status());
  }
  void End(const Status& status) override {
    Error ignored;
    resolver_.cancel();
    socket_.close(ignored);
    std::exchange(done_, nullptr)(status);
  }

  const std::string host_;
  const uint16_t port_;
  std::function<void(Status)> done_;
  tcp::resolver resolver_;
  tcp::socket socket_;
};

}  // namespace

void Fetch(const Context& ctx, ClientOptions options, Request request,
           std::function<void(Result<Fetched>)> done) {
  const std::shared_ptr<EventLoop> loop = options.loop;
  options.connect_timeout = options.ping_after = options.idle_timeout = {};
  std::make_shared<FetchWork>(ctx, std::move(options), std::move(request), std::move(done))
      ->Begin(ctx, loop);
}

void TryConnect(const Context& ctx, const std::shared_ptr<EventLoop>& loop, const std::string& host,
                uint16_t port, std::function<void(Status)> done) {
  std::make_shared<ConnectWork>(loop, host, port, std::move(done))->Begin(ctx, loop);
}

}  // namespace cox::net
