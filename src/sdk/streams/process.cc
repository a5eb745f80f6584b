// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <utility>

#include "api/meta/v1.h"
#include "coxswain/pod_streams.h"
#include "net/websocket.h"
#include "object/codec/json/json.h"
#include "sdk/client/response/status_response.h"
#include "sdk/streams/channels.h"
#include "sdk/streams/pod_request.h"

namespace cox {
namespace {

using sdk::Channel;

// Maximum size of a Status.
constexpr size_t kMaxStatus = size_t{64} * 1024;

// The exit code in a failure; no value for other failures.
std::optional<int> ExitCodeOf(const Status& status) {
  for (const StatusCause& cause : status.details().causes) {
    if (cause.type != "ExitCode") continue;
    int code = 0;
    const char* const end = cause.message.data() + cause.message.size();
    const auto [at, error] = std::from_chars(cause.message.data(), end, code);
    if (error == std::errc() && at == end) return code;
  }
  return std::nullopt;
}

class SocketProcess final : public ContainerProcess {
 public:
  explicit SocketProcess(std::unique_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  Status Write(Context& ctx, std::string_view input) override {
    return sdk::SendOn(ctx, *socket_, Channel::kStdin, input);
  }

  Status CloseStdin(Context& ctx) override {
    if (!can_close_stdin()) {
      return {Reason::kMethodNotAllowed,
              "the server speaks " + socket_->protocol() + ", which cannot close stdin"};
    }
    return socket_->Send(
        ctx, std::string{static_cast<char>(Channel::kClose), static_cast<char>(Channel::kStdin)});
  }
  bool can_close_stdin() const override { return socket_->protocol() == sdk::kChannelV5; }

  Status Resize(Context& ctx, uint16_t width, uint16_t height) override {
    return sdk::SendOn(
        ctx, *socket_, Channel::kResize,
        "{\"Width\":" + std::to_string(width) + ",\"Height\":" + std::to_string(height) + "}");
  }

  Result<std::optional<ProcessOutput>> Read(Context& ctx) override {
    for (;;) {
      COX_ASSIGN_OR_RETURN(const std::optional<Bytes> message, socket_->Receive(ctx));
      if (!message) return std::optional<ProcessOutput>();
      // Servers open each channel with an empty message.
      if (message->size() < 2) continue;
      Bytes payload = message->Slice(1);
      switch (static_cast<Channel>(message->data()[0])) {
        case Channel::kStdout:
          return std::optional(ProcessOutput{ProcessOutput::Channel::kStdout, std::move(payload)});
        case Channel::kStderr:
          return std::optional(ProcessOutput{ProcessOutput::Channel::kStderr, std::move(payload)});
        case Channel::kError:
          if (status_.size() + payload.size() > kMaxStatus) {
            return Status::TooLarge("the status of the process is too large");
          }
          status_ += payload.view();
          break;
        default:
          break;  // the end of a channel (v5), or a channel of a later version
      }
    }
  }

  Result<int> Wait(Context& ctx) override {
    for (;;) {
      COX_ASSIGN_OR_RETURN(const std::optional<ProcessOutput> output, Read(ctx));
      if (!output) return Outcome();
    }
  }

 private:
  Result<int> Outcome() const {
    if (status_.empty()) {
      const auto closed = socket_->closed().value_or(net::WebSocketClose());
      return Status::Unavailable("the stream ended without a status: close code " +
                                 std::to_string(closed.code) + " " + closed.reason);
    }
    // The kubelet's Status has no kind.
    auto parsed = json::Decode<meta::v1::Status>(status_);
    if (!parsed.ok()) {
      return Status::Internal("how the process ended: " + parsed.status().message());
    }
    const Status status = sdk::ToStatus(*std::move(parsed));
    if (status.ok()) return 0;
    if (const std::optional<int> code = ExitCodeOf(status)) return *code;
    return status;
  }

  const std::unique_ptr<net::WebSocket> socket_;
  std::string status_;  // used by the reader
};

Result<std::unique_ptr<ContainerProcess>> Open(Context& ctx, Client& client, net::Request request) {
  COX_ASSIGN_OR_RETURN(
      auto socket,
      client.transport().OpenWebSocket(
          ctx, std::move(request), {std::string(sdk::kChannelV5), std::string(sdk::kChannelV4)}));
  return std::make_unique<SocketProcess>(std::move(socket));
}

template <class Options>
void AddStreams(const Options& options, sdk::PodRequest* request) {
  request->AddText("container", options.container)
      .AddFlag("stdin", options.attach_stdin)
      .AddFlag("stdout", options.attach_stdout)
      .AddFlag("stderr", options.attach_stderr && !options.tty)
      .AddFlag("tty", options.tty);
}

}  // namespace

Result<std::unique_ptr<ContainerProcess>> Exec(Context& ctx, Client& client, const ObjectKey& pod,
                                               const ExecOptions& options) {
  if (options.command.empty()) return Status::BadRequest("exec needs a command");
  COX_ASSIGN_OR_RETURN(sdk::PodRequest request, sdk::PodRequest::To(pod, "exec"));
  for (const std::string& word : options.command) request.Add("command", word);
  AddStreams(options, &request);
  return Open(ctx, client, std::move(request).Take());
}

Result<std::unique_ptr<ContainerProcess>> Attach(Context& ctx, Client& client, const ObjectKey& pod,
                                                 const AttachOptions& options) {
  COX_ASSIGN_OR_RETURN(sdk::PodRequest request, sdk::PodRequest::To(pod, "attach"));
  AddStreams(options, &request);
  return Open(ctx, client, std::move(request).Take());
}

}  // namespace cox
