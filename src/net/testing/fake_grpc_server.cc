// SPDX-License-Identifier: Apache-2.0
#include "net/testing/fake_grpc_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "net/grpc/exchange.h"

namespace cox::net::grpc {
namespace {

constexpr int32_t kWindow = 64 << 20;

uint8_t* Octets(std::string_view text) {
  return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
}

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

// One connection with its HTTP/2 session; all on one thread.
struct FakeServer::Connection {
  struct Stream {
    std::string method;
    internal::Assembler assembler{size_t{64} << 20};
    std::string out;
    bool started = false;
    bool ended = false;
    int status = 0;
    std::string status_text;
  };

  FakeServer& server;
  int number;
  nghttp2_session* session = nullptr;
  std::map<int32_t, Stream> streams;
  bool hang_up = false;
  bool frozen = false;

  static int OnHeader(nghttp2_session* /*session*/, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t /*flags*/,
                      void* user) {
    if (std::string_view(reinterpret_cast<const char*>(name), name_size) == ":path") {
      static_cast<Connection*>(user)->streams[frame->hd.stream_id].method.assign(
          reinterpret_cast<const char*>(value), value_size);
    }
    return 0;
  }

  static int OnData(nghttp2_session* /*session*/, uint8_t /*flags*/, int32_t id,
                    const uint8_t* data, size_t size, void* user) {
    auto* self = static_cast<Connection*>(user);
    Stream& stream = self->streams[id];
    stream.assembler.Append({reinterpret_cast<const char*>(data), size}, [&](std::string message) {
      self->Play(id, stream, {self->number, stream.method, std::move(message)});
    });
    return 0;
  }

  static int OnFrame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_RST_STREAM) return 0;
    FakeServer& server = static_cast<Connection*>(user)->server;
    MutexLock lock(server.mu_);
    ++server.resets_;
    server.changed_.NotifyAll();
    return 0;
  }

  static ssize_t OnRead(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t size,
                        uint32_t* flags, nghttp2_data_source* /*source*/, void* user) {
    Stream& stream = static_cast<Connection*>(user)->streams[id];
    const size_t n = std::min(size, stream.out.size());
    stream.out.copy(reinterpret_cast<char*>(buffer), n);
    stream.out.erase(0, n);
    if (stream.out.empty() && stream.ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const std::string code = std::to_string(stream.status);
      const nghttp2_nv trailers[] = {Header("grpc-status", code),
                                     Header("grpc-message", stream.status_text)};
      nghttp2_submit_trailer(session, id, trailers, std::size(trailers));
      return static_cast<ssize_t>(n);
    }
    return n == 0 ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED) : static_cast<ssize_t>(n);
  }

  void Play(int32_t id, Stream& stream, const Request& request) {
    std::vector<Action> actions;
    {
      MutexLock lock(server.script_mu_);
      actions = server.script_(request);
    }
    for (const Action& action : actions) {
      switch (action.kind) {
        case Action::Kind::kMessage:
          stream.out += Framed(action.text);
          Start(id, stream);
          break;
        case Action::Kind::kEnd:
          stream.ended = true;
          stream.status = action.code;
          stream.status_text = action.text;
          Start(id, stream);
          break;
        case Action::Kind::kReset:
          nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id,
                                    static_cast<uint32_t>(action.code));
          break;
        case Action::Kind::kGoAway:
          nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
          break;
        case Action::Kind::kHangUp:
          hang_up = true;
          break;
        case Action::Kind::kFreeze:
          frozen = true;
          break;
      }
    }
  }

  void Start(int32_t id, Stream& stream) {
    if (!std::exchange(stream.started, true)) {
      const nghttp2_nv headers[] = {Header(":status", "200"),
                                    Header("content-type", "application/grpc")};
      nghttp2_data_provider body;
      body.source.ptr = nullptr;
      body.read_callback = OnRead;
      nghttp2_submit_response(session, id, headers, std::size(headers), &body);
    } else {
      nghttp2_session_resume_data(session, id);
    }
  }

  bool Send(int fd) {
    const uint8_t* bytes = nullptr;
    ssize_t size = 0;
    while ((size = nghttp2_session_mem_send(session, &bytes)) > 0) {
      if (::send(fd, bytes, static_cast<size_t>(size), MSG_NOSIGNAL) != size) return false;
    }
    return true;
  }
};

FakeServer::FakeServer(const Context& ctx, Script script)
    : script_(std::move(script)), scope_(ctx, "fake-server") {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  COX_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 16) == 0)
      << "no port for a test server";
  ::getsockname(listener_, generic, &size);
  port_ = ntohs(address.sin_port);
  (void)scope_.Go("accept", [this](Context& work) { Accept(work); });
}

FakeServer::~FakeServer() {
  scope_.Stop();
  ::shutdown(listener_, SHUT_RDWR);
  {
    MutexLock lock(mu_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  scope_.Wait();
  ::close(listener_);
}

int FakeServer::connections() const {
  MutexLock lock(mu_);
  return accepted_;
}

Status FakeServer::AwaitResets(const Context& ctx, int count) {
  MutexLock lock(mu_);
  return ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return resets_ >= count; });
}

void FakeServer::Accept(Context& ctx) {
  while (!ctx.Done()) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    int number = 0;
    {
      MutexLock lock(mu_);
      number = accepted_++;
      open_.push_back(fd);
    }
    if (!scope_.Go("serve", [this, fd, number](Context&) { Serve(fd, number); }).ok()) return;
  }
}

void FakeServer::Serve(int fd, int number) {
  Connection connection{.server = *this, .number = number};
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Connection::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Connection::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Connection::OnFrame);
  nghttp2_session_server_new(&connection.session, callbacks, &connection);
  nghttp2_session_callbacks_del(callbacks);
  // Large windows, so that clients fill the buffers of their sockets.
  const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow};
  nghttp2_submit_settings(connection.session, NGHTTP2_FLAG_NONE, &window, 1);
  nghttp2_session_set_local_window_size(connection.session, NGHTTP2_FLAG_NONE, 0, kWindow);
  char buffer[16384];
  while (connection.Send(fd) && !connection.hang_up) {
    if (connection.frozen) {
      pollfd closed{fd, POLLRDHUP, 0};
      ::poll(&closed, 1, -1);
      break;
    }
    const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    if (nghttp2_session_mem_recv(connection.session, Octets({buffer, static_cast<size_t>(n)}),
                                 static_cast<size_t>(n)) < 0) {
      break;
    }
  }
  nghttp2_session_del(connection.session);
  MutexLock lock(mu_);
  std::erase(open_, fd);
  ::close(fd);
}

}  // namespace cox::net::grpc
