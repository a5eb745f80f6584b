// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "sdk/streams/channels.h"
#include "sdk/streams/peer/pod_peer.h"

namespace cox::sdk {
namespace {

size_t ToNumber(std::string_view text) {
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The kubelet's format: without kind.
constexpr std::string_view kSuccess = R"({"metadata":{},"status":"Success"})";
std::string ExitStatus(size_t code) {
  const std::string number = std::to_string(code);
  return R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit )"
         R"(code: error executing command, exit code )" +
         number + R"(","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode",)" +
         R"("message":")" + number + R"("}]}})";
}
std::string StartFailure(std::string_view program) {
  return R"({"metadata":{},"status":"Failure","message":)" +
         Quote("Internal error occurred: exec: \"" + std::string(program) +
               "\": executable file not found in $PATH") +
         R"(,"reason":"InternalError","code":500})";
}

// A process on the node.
class Process {
 public:
  Process(Context& ctx, net::WebSocket& socket, std::vector<std::string> command,
          std::atomic<size_t>* flooded)
      : ctx_(ctx), socket_(socket), command_(std::move(command)), flooded_(flooded) {}

  void Run() {
    const std::string program = command_.empty() ? "" : command_[0];
    const size_t number = command_.size() > 1 ? ToNumber(command_[1]) : 0;
    if (program == "echo") {
      Out(Join(std::vector<std::string>(command_.begin() + 1, command_.end()), " ") + "\n");
    } else if (program == "cat") {
      Cat();
    } else if (program == "both") {
      Out("out");
      Send(Channel::kStderr, "err");
    } else if (program == "flood") {
      Flood(number);
    } else if (program == "size") {
      Size();
    } else if (program == "exit" && number != 0) {
      return End(ExitStatus(number));
    } else if (program == "break") {
      Out("partial");
      Next();
      return;  // the socket is closed
    } else if (program == "hang") {
      while (Next()) {
      }
      return;
    } else if (program != "exit") {
      return End(StartFailure(program));
    }
    End(kSuccess);
  }

 private:
  void Send(Channel channel, std::string_view bytes) {
    static_cast<void>(SendOn(ctx_, socket_, channel, bytes));
  }
  void Out(std::string_view text) { Send(Channel::kStdout, text); }

  // The next message of the client; no value after it disconnected.
  std::optional<Bytes> Next() {
    auto message = socket_.Receive(ctx_);
    return message.ok() ? *std::move(message) : std::nullopt;
  }

  void Cat() {
    while (const auto message = Next()) {
      if (message->empty()) continue;
      const auto channel = static_cast<Channel>(message->data()[0]);
      if (channel == Channel::kStdin) Out(message->view().substr(1));
      // 255 and the channel number, only in v5.
      if (channel == Channel::kClose && socket_.protocol() == kChannelV5) return;
      // End of input, like on a terminal.
      if (message->view() == std::string_view("\0\x04", 2)) return;
    }
  }

  void Size() {
    while (const auto message = Next()) {
      if (message->empty() || static_cast<Channel>(message->data()[0]) != Channel::kResize) {
        continue;
      }
      const auto size = json::Parse(message->view().substr(1));
      if (!size.ok()) return Out("bad size");
      const Value* const width = size->Find("Width");
      const Value* const height = size->Find("Height");
      if (width == nullptr || height == nullptr) return Out("bad size");
      return Out(json::Write(*width) + "x" + json::Write(*height) + "\n");
    }
  }

  void Flood(size_t size) {
    const std::string piece(32 * 1024, 'f');
    while (size > 0) {
      const size_t some = std::min(size, piece.size());
      if (!SendOn(ctx_, socket_, Channel::kStdout, std::string_view(piece).substr(0, some)).ok()) {
        return;
      }
      flooded_->fetch_add(some);
      size -= some;
    }
  }

  void End(std::string_view status) {
    Send(Channel::kError, status);
    static_cast<void>(socket_.Close(ctx_));
  }

  Context& ctx_;
  net::WebSocket& socket_;
  const std::vector<std::string> command_;
  std::atomic<size_t>* const flooded_;
};

}  // namespace

void RunProcess(Context& ctx, net::WebSocket& socket, const net::Request& request, bool attach,
                std::atomic<size_t>* flooded) {
  // An empty message on the first writable channel shows that the streams are ready.
  static_cast<void>(socket.Send(ctx, std::string(1, static_cast<char>(Channel::kStdout))));
  std::vector<std::string> command = QueryValues(request, "command");
  if (attach) {
    static_cast<void>(SendOn(ctx, socket, Channel::kStdout, "attached\n"));
    const bool reads = !QueryValues(request, "stdin").empty();
    command = {reads ? "cat" : "exit"};
  }
  Process(ctx, socket, std::move(command), flooded).Run();
}

void RunPort(Context& ctx, net::WebSocket& socket, uint16_t port) {
  for (const uint8_t channel : {kPortData, kPortError}) {
    const std::string number{static_cast<char>(channel), static_cast<char>(port & 0xff),
                             static_cast<char>(port >> 8)};
    if (!socket.Send(ctx, number).ok()) return;
  }
  if (port == 7) {
    for (;;) {
      const auto message = socket.Receive(ctx);
      if (!message.ok() || !message->has_value()) return;
      if ((*message)->empty() || (*message)->data()[0] != kPortData) continue;
      if (!SendOn(ctx, socket, kPortData, (*message)->view().substr(1)).ok()) return;
    }
  }
  if (port == 19) {
    static_cast<void>(SendOn(ctx, socket, kPortData, std::string(1'000'000, 'c')));
  } else {
    static_cast<void>(SendOn(ctx, socket, kPortError,
                             "error forwarding port " + std::to_string(port) +
                                 " to pod: dial tcp4 127.0.0.1:" + std::to_string(port) +
                                 ": connect: connection refused"));
  }
  static_cast<void>(socket.Close(ctx));
}

}  // namespace cox::sdk
