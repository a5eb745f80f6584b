// SPDX-License-Identifier: Apache-2.0
#include "net/server/exchange.h"

#include <utility>

#include "base/check.h"
#include "net/upgrade/raw_link.h"
#include "net/websocket/handshake.h"
#include "net/websocket/link.h"

namespace cox::net {

void Exchange::RunFiber(std::function<void()> /*work*/) {  // NOLINT: a sink
  COX_CHECK(false) << "this exchange has no event loop";
}

// Destruction of the last reference without a response means that the handler dropped the request.
class ServerExchange::Handle final : public Exchange {
 public:
  explicit Handle(std::shared_ptr<ServerExchange> core) : core_(std::move(core)) {}
  ~Handle() override { core_->Abandon(); }

  Request& request() override { return core_->request_; }
  Context& context() override { return core_->context_; }

  void Send(Response response) override {
    core_->Deliver(
        {response.status, std::move(response.headers), std::move(response.body), {}, {}});
  }

  bool has_loop() const override { return true; }
  void RunFiber(std::function<void()> work) override { core_->loop_->RunFiber(std::move(work)); }

  std::shared_ptr<Waker> Stream(int status, Headers headers,
                                std::unique_ptr<BodySource> source) override {
    COX_CHECK(source != nullptr) << "a stream has a source";
    core_->Deliver({status, std::move(headers), {}, std::move(source), {}});
    return core_;
  }

  Result<std::unique_ptr<WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                             const WebSocketOptions& options) override {
    return core_->Upgrade(protocols, options);
  }
  Result<std::unique_ptr<ByteStream>> SwitchProtocols(Headers headers) override {
    return core_->SwitchProtocols(std::move(headers));
  }

 private:
  const std::shared_ptr<ServerExchange> core_;
};

ServerExchange::ServerExchange(std::shared_ptr<EventLoop> loop, const Context& parent,
                               Request request, ResponseSink& sink, InFlight in_flight)
    : loop_(std::move(loop)),
      context_(parent.Child()),
      request_(std::move(request)),
      sink_(&sink),
      in_flight_(std::move(in_flight)) {
  in_flight_->fetch_add(1, std::memory_order_relaxed);
}

ServerExchange::~ServerExchange() = default;

ExchangePtr ServerExchange::MakeHandle() {
  return std::make_shared<Handle>(std::static_pointer_cast<ServerExchange>(shared_from_this()));
}

void ServerExchange::Deliver(Answer answer) {
  COX_CHECK(!answered_.exchange(true, std::memory_order_relaxed)) << "a request is answered once";
  in_flight_->fetch_sub(1, std::memory_order_relaxed);
  answer.headers.Clean();
  if (loop_->InLoop()) {
    if (sink_ != nullptr) sink_->OnResponse(std::move(answer));
    return;
  }
  answer_ = std::move(answer);
  response_ready_.store(true, std::memory_order_release);
  loop_->Enqueue(shared_from_this());
}

Result<std::unique_ptr<WebSocket>> ServerExchange::Upgrade(
    const std::vector<std::string>& protocols, const WebSocketOptions& options) {
  COX_ASSIGN_OR_RETURN(ServerHandshake handshake, AcceptClientHandshake(request_, protocols));
  auto core = std::make_shared<WebSocketCore>(loop_, options, /*client=*/false);
  // If the peer has disconnected meanwhile, the link is dropped, which ends the socket.
  Deliver({101,
           std::move(handshake.headers),
           {},
           {},
           std::make_unique<WebSocketLink>(core),
           "websocket"});
  return MakeWebSocket(std::move(core), std::move(handshake.protocol));
}

Result<std::unique_ptr<ByteStream>> ServerExchange::SwitchProtocols(Headers headers) {
  std::string protocol(UpgradeOf(request_));
  if (request_.version != 1 || protocol.empty()) {
    return Status::BadRequest("Upgrade request required");
  }
  if (const auto chosen = headers.Get("upgrade")) protocol = *chosen;
  for (const char* name : {"upgrade", "connection", "content-length", "transfer-encoding"}) {
    headers.Remove(name);
  }
  auto core = std::make_shared<RawCore>(loop_);
  Deliver({101, std::move(headers), {}, {}, std::make_unique<RawLink>(core), std::move(protocol)});
  return MakeByteStream(std::move(core));
}

void ServerExchange::Abandon() {
  if (!answered_.load(std::memory_order_relaxed)) {
    Response response{.status = 500, .headers = {{"content-type", "text/plain"}}, .body = {}};
    response.body.push_back(Bytes::Static("the request was not answered\n"));
    Deliver({response.status, std::move(response.headers), std::move(response.body), {}, {}});
  }
  // A stream keeps its waker, and thereby this object, for hours: free the request.
  request_ = {};
}

void ServerExchange::Wake() { loop_->Enqueue(shared_from_this()); }

void ServerExchange::Run() {
  if (response_ready_.exchange(false, std::memory_order_acquire)) {
    Answer answer = std::move(answer_);
    if (sink_ != nullptr) sink_->OnResponse(std::move(answer));
    return;
  }
  if (sink_ != nullptr) sink_->OnWake();
}

void ServerExchange::Detach(bool complete) {
  sink_ = nullptr;
  if (!complete) context_.Stop();
}

}  // namespace cox::net
