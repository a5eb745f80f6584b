// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/connection.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "net/grpc/exchange.h"
#include "net/grpc/loop_reader.h"
#include "net/io/http2_output.h"

namespace cox::net::grpc {

using internal::CallExchange;
using internal::Exchange;
using internal::LoopReader;
using internal::StreamExchange;

namespace {

// Responses of unary calls are consumed at once, so large lists arrive at TCP speed; streams stop
// at StreamExchange::kMaxWaiting.
constexpr int32_t kStreamWindow = 1 << 20;
constexpr int32_t kConnectionWindow = 64 << 20;
// Limit for the headers and trailers of one call. Those of etcd, KMS plugins and containerd have a
// few hundred bytes.
constexpr size_t kMaxHeaderBytes = 64u << 10;
constexpr size_t kReadBuffer = 32u << 10;
constexpr size_t kWriteAtOnce = 64u << 10;

constexpr uint8_t kNoCopy = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;

uint8_t* Octets(std::string_view text) {
  return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
}

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(), kNoCopy};
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// grpc-message is percent-encoded; malformed sequences are kept as they are.
std::string PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high << 4 | low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

int ParseInt(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

// nghttp2's callbacks. All run under Connection::mu_, because nghttp2 calls them only from within
// calls to it.
struct SessionCallbacks {
  static Exchange* Of(nghttp2_session* session, int32_t stream) {
    return static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t /*flags*/,
                      void* /*connection*/) {
    Exchange* exchange = Of(session, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    exchange->header_bytes += Http2FieldSize(name_size, value_size);
    // Ends the connection: decoding the rest would cost more than it costs the server.
    if (exchange->header_bytes > kMaxHeaderBytes) return NGHTTP2_ERR_CALLBACK_FAILURE;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      exchange->http_status = ParseInt(text);
    } else if (key == "grpc-status") {
      exchange->grpc_status = ParseInt(text);
    } else if (key == "grpc-message") {
      exchange->grpc_message = PercentDecode(text);
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t /*flags*/, int32_t stream,
                    const uint8_t* data, size_t size, void* /*connection*/) {
    nghttp2_session_consume_connection(session, size);
    Exchange* exchange = Of(session, stream);
    if (exchange == nullptr) return 0;
    if (!exchange->Data({reinterpret_cast<const char*>(data), size})) {
      return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_PROTOCOL_ERROR);
    }
    if (exchange->streaming) {
      auto& reading = static_cast<StreamExchange&>(*exchange);
      MutexLock lock(reading.mu);
      if (reading.waiting > StreamExchange::kMaxWaiting) {
        reading.withheld += size;
        return 0;
      }
    }
    nghttp2_session_consume_stream(session, stream, size);
    return 0;
  }

  static int OnClose(nghttp2_session* session, int32_t stream, uint32_t error, void* user) {
    auto* connection = static_cast<Connection*>(user);
    connection->mu_.AssertHeld();
    if (Exchange* exchange = Of(session, stream)) {
      const bool refused = error == NGHTTP2_REFUSED_STREAM;
      connection->Ended(*exchange, refused ? Reply::Outcome::kRefused : Reply::Outcome::kStatus);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto* connection = static_cast<Connection*>(user);
    connection->mu_.AssertHeld();
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      MutexLock lock(connection->queue_mu_);
      connection->usable_ = false;
    }
    const bool body = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!body || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    // The server has half-closed, which ends a gRPC call. HTTP/2 would keep the stream open until
    // this end half-closes, too.
    Exchange* exchange = Of(session, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    if (exchange->streaming || exchange->sent < exchange->out.size()) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, exchange->id, NGHTTP2_CANCEL);
      connection->Ended(*exchange, Reply::Outcome::kStatus);
    }
    return 0;
  }

  // A request that was queued inside nghttp2 and cannot be sent any more, for example after GOAWAY.
  static int OnNotSent(nghttp2_session* /*session*/, const nghttp2_frame* frame, int /*error*/,
                       void* user) {
    auto* connection = static_cast<Connection*>(user);
    connection->mu_.AssertHeld();
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    for (Exchange* exchange : connection->active_) {
      if (exchange->id != frame->hd.stream_id) continue;
      connection->Ended(*exchange, Reply::Outcome::kRefused);
      break;
    }
    return 0;
  }

  static ssize_t OnRead(nghttp2_session* session, int32_t stream, uint8_t* buffer, size_t size,
                        uint32_t* flags, nghttp2_data_source* /*source*/, void* /*connection*/) {
    Exchange* exchange = Of(session, stream);
    if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t n = std::min(size, exchange->out.size() - exchange->sent);
    std::memcpy(buffer, exchange->out.data() + exchange->sent, n);
    exchange->sent += n;
    if (exchange->sent == exchange->out.size()) {
      if (!exchange->streaming || exchange->sends_once) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else if (n == 0) {
        return NGHTTP2_ERR_DEFERRED;
      }
    }
    return static_cast<ssize_t>(n);
  }
};

void Connection::SessionFree::operator()(nghttp2_session* session) const {
  nghttp2_session_del(session);
}

Connection::Connection(Clock& clock, const Endpoint& endpoint, std::unique_ptr<Socket> socket,
                       const ConnectionOptions& options, std::shared_ptr<EventLoop> loop)
    : clock_(clock),
      endpoint_(endpoint),
      authority_(endpoint.authority()),
      options_(options),
      socket_(std::move(socket)),
      loop_reader_(loop == nullptr ? nullptr
                                   : std::make_shared<LoopReader>(std::move(loop), socket_->fd())),
      heard_(clock.Monotonic()) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, SessionCallbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, SessionCallbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, SessionCallbacks::OnClose);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, SessionCallbacks::OnFrame);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, SessionCallbacks::OnNotSent);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new2(&session, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes},
  };
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  session_.reset(session);
}

Connection::~Connection() {
  if (loop_reader_ != nullptr) loop_reader_->Detach();
}

void Connection::Start() { loop_reader_->Start(weak_from_this()); }

bool Connection::usable() const {
  MutexLock lock(queue_mu_);
  return usable_;
}

Reply Connection::Call(const Context& ctx, std::string_view method, std::string_view framed) {
  CallExchange call(method, framed, options_.max_message_bytes);
  if (!Enqueue(call, true)) return call.Ending(Reply::Outcome::kRefused);
  Status stopped;
  {
    MutexLock lock(call.mu);
    stopped = ctx.Await(call.mu, call.changed, [&call]() {
      call.mu.AssertHeld();
      return call.done;
    });
  }
  if (!stopped.ok()) {
    if (Cancel(call)) return {Reply::Outcome::kStopped, 0, stopped.message(), {}};
    MutexLock lock(call.mu);  // it has ended meanwhile, and `done` will be set soon
    call.changed.Wait(call.mu, [&call]() {
      call.mu.AssertHeld();
      return call.done;
    });
  }
  return call.TakeReply();
}

// A call without a waiting thread. It keeps itself alive until it has ended.
class Connection::AsyncCall : public std::enable_shared_from_this<AsyncCall> {
 public:
  AsyncCall(std::shared_ptr<Connection> connection, std::string_view method, std::string framed,
            std::function<void(Reply)> done)
      : connection_(std::move(connection)),
        framed_(std::move(framed)),
        exchange_(method, framed_, connection_->options_.max_message_bytes),
        done_(std::move(done)) {}

  void Begin(const Context& ctx) {
    const std::shared_ptr<AsyncCall> self = shared_from_this();
    exchange_.on_done = [self] { self->End(self->exchange_.TakeReply()); };
    if (!connection_->Enqueue(exchange_, true)) {
      return End(exchange_.Ending(Reply::Outcome::kRefused));
    }
    StopHandle stop = ctx.OnStop([weak = weak_from_this(), ctx] {
      if (const auto call = weak.lock()) call->Stop(ctx.status());
    });
    MutexLock lock(mu_);
    if (!ended_) std::swap(stop_, stop);
  }

 private:
  void Stop(const Status& why) {
    // False: it has ended meanwhile, and on_done is called.
    if (connection_->Cancel(exchange_)) End({Reply::Outcome::kStopped, 0, why.message(), {}});
  }

  void End(Reply reply) {
    const std::shared_ptr<AsyncCall> self = shared_from_this();
    exchange_.on_done = nullptr;  // refers to this object
    StopHandle stop;              // destroyed without the lock, because it waits for its callback
    {
      MutexLock lock(mu_);
      ended_ = true;
      std::swap(stop_, stop);
    }
    std::exchange(done_, nullptr)(std::move(reply));
  }

  const std::shared_ptr<Connection> connection_;
  const std::string framed_;
  CallExchange exchange_;
  std::function<void(Reply)> done_;
  Mutex mu_;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  StopHandle stop_ COX_GUARDED_BY(mu_);
};

void Connection::CallAsync(const Context& ctx, std::string_view method, std::string framed,
                           std::function<void(Reply)> done) {
  std::make_shared<AsyncCall>(shared_from_this(), method, std::move(framed), std::move(done))
      ->Begin(ctx);
}

std::unique_ptr<MessageStream> Connection::Start(std::string_view method) {
  return Begin(std::make_unique<StreamExchange>(method, options_.max_message_bytes));
}

std::unique_ptr<MessageStream> Connection::Start(std::string_view method, std::string_view framed) {
  auto exchange = std::make_unique<StreamExchange>(method, options_.max_message_bytes);
  exchange->sends_once = true;
  {
    MutexLock lock(exchange->mu);
    exchange->unsent = framed;
  }
  return Begin(std::move(exchange));
}

std::unique_ptr<MessageStream> Connection::Begin(std::unique_ptr<StreamExchange> exchange) {
  if (!Enqueue(*exchange, true)) exchange->End(exchange->Ending(Reply::Outcome::kRefused));
  return std::make_unique<MessageStream>(shared_from_this(), std::move(exchange));
}

bool Connection::Enqueue(Exchange& exchange, bool fresh) {
  {
    MutexLock lock(queue_mu_);
    if (broken_ || (fresh && !usable_)) return false;
    if (exchange.queued) return true;
    exchange.queued = true;
    queue_.push_back(&exchange);
    if (flushing_) return true;  // the flushing thread handles it before it stops
    flushing_ = true;
  }
  if (loop_reader_ != nullptr && loop_reader_->FlushSoon()) return true;
  Flush();
  return true;
}

void Connection::Flush() {
  while (true) {
    std::vector<CallExchange*> finished;
    {
      MutexLock lock(mu_);
      TakeQueue();
      Pump();
      finished.swap(finished_);
    }
    CallExchange::NotifyDone(finished);
    MutexLock lock(queue_mu_);
    if (queue_.empty()) {
      flushing_ = false;
      return;
    }
  }
}

void Connection::TakeQueue() {
  bool broken = false;
  {
    MutexLock lock(queue_mu_);
    taken_.swap(queue_);
    for (Exchange* exchange : taken_) exchange->queued = false;
    broken = broken_;
  }
  for (Exchange* exchange : taken_) {
    if (exchange->streaming) {
      auto& stream = static_cast<StreamExchange&>(*exchange);
      MutexLock lock(stream.mu);
      stream.sending.erase(0, std::exchange(stream.sent, 0));
      stream.sending.append(std::exchange(stream.unsent, {}));
      stream.out = stream.sending;
    }
    if (exchange->id < 0 && broken) {
      Ended(*exchange, Reply::Outcome::kRefused);
    } else if (exchange->id < 0) {
      Submit(*exchange);
    } else if (exchange->slot != Exchange::kDetached) {
      nghttp2_session_resume_data(session_.get(), exchange->id);
    }
  }
  taken_.clear();
}

void Connection::Submit(Exchange& exchange) {
  std::vector<nghttp2_nv> headers = {
      Header(":method", "POST"),
      Header(":scheme", endpoint_.tls ? "https" : "http"),
      Header(":path", exchange.method),
      Header(":authority", authority_),
      Header("content-type", "application/grpc"),
      Header("te", "trailers"),
      Header("user-agent", "coxswain"),
  };
  for (const auto& [name, value] : options_.metadata) headers.push_back(Header(name, value));
  nghttp2_data_provider body;
  body.source.ptr = nullptr;
  body.read_callback = SessionCallbacks::OnRead;
  const int32_t id = nghttp2_session_check_request_allowed(session_.get()) != 0
                         ? nghttp2_submit_request(session_.get(), nullptr, headers.data(),
                                                  headers.size(), &body, &exchange)
                         : -1;
  if (id < 0) return Ended(exchange, Reply::Outcome::kRefused);
  exchange.id = id;
  exchange.slot = active_.size();
  if (active_.empty()) busy_since_ = clock_.Monotonic();
  active_.push_back(&exchange);
}

void Connection::Detach(Exchange& exchange) {
  if (exchange.slot == Exchange::kDetached) return;
  active_[exchange.slot] = active_.back();
  active_[exchange.slot]->slot = exchange.slot;
  active_.pop_back();
  exchange.slot = Exchange::kDetached;
  nghttp2_session_set_stream_user_data(session_.get(), exchange.id, nullptr);
}

void Connection::Ended(Exchange& exchange, Reply::Outcome outcome) {
  Detach(exchange);
  if (exchange.streaming) {
    static_cast<StreamExchange&>(exchange).End(exchange.Ending(outcome));
  } else {
    auto& call = static_cast<CallExchange&>(exchange);
    call.outcome = outcome;
    finished_.push_back(&call);
  }
}

void Connection::Pump() {
  while (!blocked_) {
    while (out_.size() < kWriteAtOnce) {
      const uint8_t* frame = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &frame);
      if (size <= 0) break;
      out_.append(reinterpret_cast<const char*>(frame), static_cast<size_t>(size));
    }
    if (out_.empty()) return;
    const Socket::Moved moved = socket_->Write(std::string_view(out_).substr(out_sent_));
    if (moved.state == Socket::State::kClosed) {
      // The reading thread also detects the closed socket, and ends all calls.
      out_.clear();
      out_sent_ = 0;
      return;
    }
    if (moved.state == Socket::State::kAgain) {
      blocked_ = true;
      WakeReader();
      return;
    }
    out_sent_ += moved.bytes;
    if (out_sent_ == out_.size()) {
      out_.clear();
      out_sent_ = 0;
    }
  }
}

bool Connection::Cancel(Exchange& exchange) {
  // Pump may end other calls: queued requests that cannot be sent after GOAWAY.
  std::vector<CallExchange*> finished;
  {
    MutexLock lock(mu_);
    {
      MutexLock queue_lock(queue_mu_);
      if (exchange.queued) {
        std::erase(queue_, &exchange);
        exchange.queued = false;
        if (exchange.id < 0) return true;
      }
    }
    if (exchange.slot == Exchange::kDetached) return false;
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, exchange.id, NGHTTP2_CANCEL);
    Detach(exchange);
    Pump();
    finished.swap(finished_);
  }
  CallExchange::NotifyDone(finished);
  return true;
}

void Connection::Consumed(StreamExchange& stream, size_t bytes) {
  std::vector<CallExchange*> finished;
  {
    MutexLock lock(mu_);
    if (stream.slot == Exchange::kDetached) return;
    nghttp2_session_consume_stream(session_.get(), stream.id, bytes);
    Pump();
    finished.swap(finished_);
  }
  CallExchange::NotifyDone(finished);
}

void Connection::Run() {
  {
    MutexLock lock(mu_);
    Pump();  // settings
  }
  std::vector<char> buffer(kReadBuffer);
  // TLS may have read beyond the handshake, which poll() does not report.
  bool open = ReadAll(buffer);
  while (open) {
    const std::optional<std::chrono::milliseconds> timeout = CheckAlive();
    if (!timeout.has_value()) break;
    pollfd fds[] = {{socket_->fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
    if (WaitsToWrite()) fds[0].events |= POLLOUT;
    if (::poll(fds, 2, static_cast<int>(timeout->count())) <= 0) continue;
    if (fds[1].revents != 0) wake_.Clear();
    if ((fds[0].revents & POLLOUT) != 0) OnWritable();
    if ((fds[0].revents & ~POLLOUT) != 0) open = ReadAll(buffer);
  }
  Fail();
}

void Connection::OnWritable() {
  std::vector<CallExchange*> finished;
  {
    MutexLock lock(mu_);
    blocked_ = false;
    Pump();
    finished.swap(finished_);
  }
  CallExchange::NotifyDone(finished);
}

bool Connection::WaitsToWrite() {
  MutexLock lock(mu_);
  return blocked_;
}

bool Connection::HasCalls() {
  MutexLock lock(mu_);
  return !active_.empty();
}

void Connection::WakeReader() {
  if (loop_reader_ != nullptr) {
    loop_reader_->Wake();
  } else {
    wake_.Signal();
  }
}

// False: the connection has ended.
bool Connection::ReadAll(std::span<char> buffer) {
  while (true) {
    const Socket::Moved moved = socket_->Read(buffer.data(), buffer.size());
    if (moved.state == Socket::State::kAgain) return true;
    if (moved.state == Socket::State::kClosed) return false;
    if (!Receive({buffer.data(), moved.bytes})) return false;
    if (!moved.more) return true;
  }
}

bool Connection::Receive(std::string_view bytes) {
  std::vector<CallExchange*> finished;
  bool alive = true;
  {
    MutexLock lock(mu_);
    heard_ = clock_.Monotonic();
    pinged_ = Clock::kNever;  // any input counts as a response
    alive = nghttp2_session_mem_recv(session_.get(), Octets(bytes), bytes.size()) >= 0;
    TakeQueue();
    Pump();
    alive = alive && (nghttp2_session_want_read(session_.get()) != 0 ||
                      nghttp2_session_want_write(session_.get()) != 0);
    finished.swap(finished_);
  }
  CallExchange::NotifyDone(finished);
  return alive;
}

std::optional<std::chrono::milliseconds> Connection::CheckAlive() {
  MutexLock lock(mu_);
  {
    MutexLock queue_lock(queue_mu_);
    if (broken_ || (retired_ && queue_.empty() && active_.empty())) return std::nullopt;
  }
  const Clock::SteadyTime now = clock_.Monotonic();
  Clock::Duration left = options_.keepalive_time;
  if (active_.empty()) {
    pinged_ = Clock::kNever;
  } else if (pinged_ != Clock::kNever) {
    left = pinged_ + options_.keepalive_timeout - now;
    if (left <= Clock::Duration::zero()) return std::nullopt;
  } else {
    left = std::max(heard_, busy_since_) + options_.keepalive_time - now;
    if (left <= Clock::Duration::zero()) {
      nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
      Pump();
      pinged_ = now;
      left = options_.keepalive_timeout;
    }
  }
  return std::chrono::ceil<std::chrono::milliseconds>(left);
}

void Connection::Fail() {
  socket_->Shutdown();
  std::vector<CallExchange*> finished;
  {
    MutexLock lock(mu_);
    {
      MutexLock queue_lock(queue_mu_);
      broken_ = true;
      usable_ = false;
    }
    TakeQueue();  // ends as refused
    while (!active_.empty()) Ended(*active_.back(), Reply::Outcome::kBroken);
    finished.swap(finished_);
  }
  CallExchange::NotifyDone(finished);
}

void Connection::Retire() {
  {
    MutexLock lock(queue_mu_);
    usable_ = false;
    retired_ = true;
  }
  WakeReader();
}

void Connection::Close() {
  {
    MutexLock lock(queue_mu_);
    broken_ = true;
    usable_ = false;
  }
  WakeReader();
}

std::string Framed(std::string_view message) {
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    framed += static_cast<char>(message.size() >> shift & 0xff);
  }
  return framed.append(message);
}

MessageStream::MessageStream(std::shared_ptr<Connection> connection,
                             std::unique_ptr<StreamExchange> exchange)
    : connection_(std::move(connection)), exchange_(std::move(exchange)) {}

MessageStream::~MessageStream() { connection_->Cancel(*exchange_); }

void MessageStream::Send(std::string_view framed) {
  {
    MutexLock lock(exchange_->mu);
    if (exchange_->ended) return;
    exchange_->unsent += framed;
  }
  connection_->Enqueue(*exchange_, false);
}

Reply MessageStream::Receive(const Context& ctx) {
  StreamExchange& stream = *exchange_;
  Reply reply;
  size_t room = 0;
  {
    MutexLock lock(stream.mu);
    const Status stopped = ctx.Await(stream.mu, stream.changed, [&stream]() {
      stream.mu.AssertHeld();
      return !stream.messages.empty() || stream.ended;
    });
    if (!stopped.ok()) return {Reply::Outcome::kStopped, 0, stopped.message(), {}};
    if (stream.messages.empty()) return stream.end;
    reply.outcome = Reply::Outcome::kMessage;
    reply.message = std::move(stream.messages.front());
    stream.messages.pop_front();
    stream.waiting -= reply.message.size();
    if (stream.waiting <= StreamExchange::kMaxWaiting) room = std::exchange(stream.withheld, 0);
  }
  if (room > 0) connection_->Consumed(stream, room);
  return reply;
}

}  // namespace cox::net::grpc
