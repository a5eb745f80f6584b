// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/translate.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "apiserver/request/call.h"
#include "base/scope.h"
#include "net/spdy/session.h"

namespace cox::apiserver {
namespace {

constexpr uint8_t kStdin = 0;
constexpr uint8_t kStdout = 1;
constexpr uint8_t kStderr = 2;
constexpr uint8_t kError = 3;
constexpr uint8_t kResize = 4;
constexpr uint8_t kCloseSignal = 255;
constexpr std::chrono::seconds kCloseTimeout{5};
// The maximum size of one message to the client.
constexpr size_t kMaxMessage = size_t{32} * 1024;

Status SendOn(Context& ctx, net::WebSocket& client, uint8_t channel, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxMessage);
    bytes.remove_prefix(piece.size());
    std::string message(1, static_cast<char>(channel));
    COX_RETURN_IF_ERROR(client.Send(ctx, message.append(piece)));
  }
  return {};
}

// The node's side: opens a stream for each channel and forwards their data to the client.
class NodeStreams final : public net::spdy::Events {
 public:
  NodeStreams(const Context& ctx, net::WebSocket& client, net::ByteStream& node)
      : ctx_(ctx), client_(client), session_(node, net::spdy::Session::Role::kClient) {}

  Status Open(const StreamOptions& options) {
    COX_RETURN_IF_ERROR(OpenOne("error", kError));
    if (options.in) COX_RETURN_IF_ERROR(OpenOne("stdin", kStdin));
    if (options.out) COX_RETURN_IF_ERROR(OpenOne("stdout", kStdout));
    // With a TTY, stdout carries all output.
    if (options.err && !options.tty) COX_RETURN_IF_ERROR(OpenOne("stderr", kStderr));
    if (options.tty) COX_RETURN_IF_ERROR(OpenOne("resize", kResize));
    return {};
  }

  // Returns when the process has ended and all its output is sent to the client.
  Status Run() {
    Status status = session_.Run(ctx_, *this);
    if (all_written_) return {};
    if (!status.ok()) return status;
    return Status::Unavailable("the connection to the node ended before the process did");
  }

  bool client_closed() const { return client_closed_; }

  // Forwards the client's messages until it closes the WebSocket.
  Status Listen() {
    while (true) {
      COX_ASSIGN_OR_RETURN(const std::optional<Bytes> message, client_.Receive(ctx_));
      if (!message) return {};
      COX_RETURN_IF_ERROR(PassOn(message->view()));
    }
  }

 private:
  Status OpenOne(const char* type, uint8_t channel) {
    COX_ASSIGN_OR_RETURN(const uint32_t stream, session_.Open(ctx_, {{"streamtype", type}}));
    channels_[stream] = channel;
    streams_[channel] = stream;
    if (channel == kError || channel == kStdout || channel == kStderr) open_.insert(channel);
    return {};
  }

  Status PassOn(std::string_view message) {
    if (message.empty()) return {};
    const uint8_t channel = static_cast<uint8_t>(message[0]);
    message.remove_prefix(1);
    if (channel == kCloseSignal) {
      const auto closed =
          message.empty() ? streams_.end() : streams_.find(static_cast<uint8_t>(message[0]));
      return closed == streams_.end() ? Status() : session_.Finish(ctx_, closed->second);
    }
    if (channel != kStdin && channel != kResize) return {};
    const auto stream = streams_.find(channel);
    return stream == streams_.end() ? Status() : session_.Send(ctx_, stream->second, message);
  }

  // The node must not open streams.
  Status OnStream(uint32_t stream, const net::spdy::HeaderList&) override {
    return session_.Reset(ctx_, stream);
  }
  Status OnData(uint32_t stream, std::string_view bytes) override {
    const uint8_t channel = channels_[stream];
    if (channel != kStdout && channel != kStderr && channel != kError) return {};
    Status sent = SendOn(ctx_, client_, channel, bytes);
    if (!sent.ok()) client_closed_ = true;
    return sent;
  }
  Status OnFinished(uint32_t stream) override { return OnOver(channels_[stream]); }
  Status OnReset(uint32_t stream) override { return OnOver(channels_[stream]); }
  Status OnOver(uint8_t channel) {
    // A stream may be finished and then reset; this counts as one end.
    if (open_.erase(channel) == 0 || !open_.empty()) return {};
    all_written_ = true;
    return Status::Expired("all was said");  // ends Run
  }

  Context ctx_;
  net::WebSocket& client_;
  net::spdy::Session session_;
  // Constant after Open.
  std::map<uint32_t, uint8_t> channels_;
  std::map<uint8_t, uint32_t> streams_;
  // Used by Run only: channels on which the node has not finished sending.
  std::set<uint8_t> open_;
  bool all_written_ = false;
  bool client_closed_ = false;
};

}  // namespace

Status TranslateStreams(const Context& ctx, net::WebSocket& client, net::ByteStream& node,
                        const StreamOptions& options) {
  Scope scope(ctx, "translate");
  NodeStreams streams(scope.context(), client, node);
  COX_RETURN_IF_ERROR(streams.Open(options));
  COX_RETURN_IF_ERROR(scope.Go("translate-in", [&](Context&) {
    // If the client disconnects, the connection to the node is closed, too.
    static_cast<void>(streams.Listen());
    scope.Stop();
  }));
  Status status = streams.Run();
  const bool left = streams.client_closed() || (scope.stop_requested() && !ctx.Done());
  if (status.ok()) {
    Context closing = ctx.WithTimeout(kCloseTimeout);
    static_cast<void>(client.Close(closing));
  }
  scope.Stop();
  scope.Wait();
  return left ? Status() : status;
}

void SendFailure(const Context& ctx, net::WebSocket& client, const Status& why) {
  Context closing = ctx.WithTimeout(kCloseTimeout);
  const std::string text = EncodeStatus(why, Accepted{.format = Format::kJson});
  static_cast<void>(SendOn(closing, client, kError, text));
  static_cast<void>(client.Close(closing));
}

}  // namespace cox::apiserver
