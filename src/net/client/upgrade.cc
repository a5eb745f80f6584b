// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <utility>

#include "base/strings.h"
#include "net/byte_stream.h"
#include "net/client/call.h"
#include "net/client/pool.h"
#include "net/client/response_collector.h"
#include "net/upgrade/raw_link.h"

namespace cox::net {
namespace {

// Timeout for sending the remaining output.
constexpr std::chrono::seconds kLastWords{5};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameToken(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// A stream with its own event loop and connection pool.
class ClientByteStream final : public ByteStream {
 public:
  ClientByteStream(const Context& ctx, ClientOptions client, ClientContexts tls,
                   std::shared_ptr<EventLoop> loop)
      : root_(ctx.clock(), ctx.log()),
        loop_(std::move(loop)),
        core_(std::make_shared<RawCore>(loop_)),
        pool_(std::make_shared<ClientPool>(std::move(client), std::move(tls), loop_)) {}
  ~ClientByteStream() override {
    if (ended_) static_cast<void>(core_->AwaitSent(root_.WithTimeout(kLastWords)));
    loop_->Stop();
    pool_->Close();
  }

  // Returns the server's response; the stream is usable if it is 101.
  Result<Response> Connect(Context& ctx, Request request, std::string protocol) {
    request.headers.Clean();
    const auto answered = std::make_shared<ResponseCollector>();
    const auto call =
        std::make_shared<ClientCall>(loop_, pool_, std::move(request), answered, /*reads=*/false);
    call->protocol = protocol;
    call->upgrade = [this, protocol](const Headers& headers) -> Result<std::unique_ptr<Link>> {
      const std::string_view chosen = headers.Get("upgrade").value_or("");
      if (!SameToken(chosen, protocol)) {
        return Status::BadRequest("the server switched to " + Quote(chosen) + " instead of " +
                                  protocol);
      }
      return std::unique_ptr<Link>(std::make_unique<RawLink>(core_));
    };
    call->Start();
    if (Status status = answered->Wait(ctx); !status.ok()) {
      call->Cancel();
      return status;
    }
    return answered->Take();
  }

  Result<Bytes> Read(const Context& ctx) override { return core_->Read(ctx); }
  Status Write(const Context& ctx, std::string_view bytes) override {
    return core_->Write(ctx, bytes);
  }
  void EndWriting() override {
    ended_ = true;
    core_->EndWriting();
  }

 private:
  const Context root_;  // outlives the caller's context
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<RawCore> core_;
  std::atomic<bool> ended_ = false;
  const std::shared_ptr<ClientPool> pool_;
};

}  // namespace

std::string_view UpgradeOf(const Request& request) {
  for (const std::string_view line : request.headers.All("connection")) {
    for (const std::string_view token : Split(line, ',')) {
      if (SameToken(TrimSpace(token), "upgrade")) {
        return TrimSpace(request.headers.Get("upgrade").value_or(""));
      }
    }
  }
  return {};
}

Result<Upgraded> ConnectUpgrade(Context& ctx, ClientOptions client, Request request) {
  std::string protocol(TrimSpace(request.headers.Get("upgrade").value_or("")));
  if (protocol.empty()) return Status::BadRequest("the request names no protocol to upgrade to");
  client.http2 = false;
  COX_ASSIGN_OR_RETURN(ClientContexts tls, MakeClientContexts(client));
  auto loop = std::make_shared<EventLoop>(ctx.clock());
  COX_RETURN_IF_ERROR(loop->Start("upgrade"));
  auto stream =
      std::make_unique<ClientByteStream>(ctx, std::move(client), std::move(tls), std::move(loop));
  if (request.target.empty()) request.target = "/";
  Upgraded upgraded;
  COX_ASSIGN_OR_RETURN(upgraded.answer,
                       stream->Connect(ctx, std::move(request), std::move(protocol)));
  if (upgraded.answer.status == 101) upgraded.stream = std::move(stream);
  return upgraded;
}

}  // namespace cox::net
