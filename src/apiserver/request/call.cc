// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/call.h"

#include <algorithm>
#include <utility>

#include "apiserver/request/warning.h"
#include "net/accept.h"
#include "net/gzip.h"
#include "net/gzip_body.h"
#include "object/api_status.h"
#include "object/codec.h"

namespace cox::apiserver {
namespace {

// Smaller responses are not worth the compression time.
constexpr size_t kGzipFrom = size_t{128} * 1024;
// Smaller responses fit into the connection's buffers.
constexpr size_t kHeldFrom = size_t{64} * 1024;
// Speed over size: the network is usually fast, and streamed bodies are compressed on event loops.
constexpr int kGzipLevel = 1;

// Errors for which upstream's response contains an empty "details: {}"; others omit the field.
bool ShowsEmptyDetails(const Status& status) {
  switch (status.reason()) {
    case Reason::kForbidden:
    case Reason::kMethodNotAllowed:
    case Reason::kNotFound:
    case Reason::kInvalid:
      return true;
    case Reason::kUnsupportedMediaType:
      return status.message().starts_with("415: ");
    case Reason::kNotAcceptable:
      return status.message().starts_with("406: ");
    default:
      return false;
  }
}

size_t SizeOf(const std::vector<Bytes>& pieces) {
  size_t size = 0;
  for (const Bytes& piece : pieces) size += piece.size();
  return size;
}

// Bytes that also keep `held` alive.
Bytes Holding(Bytes bytes, std::shared_ptr<void> held) {
  const std::string_view view = bytes.view();
  using Both = std::pair<Bytes, std::shared_ptr<void>>;
  return Bytes(std::make_shared<const Both>(std::move(bytes), std::move(held)), view);
}

// A stream that reports its end to the OnResponse callback and the audit record.
class FollowedSource final : public net::BodySource {
 public:
  FollowedSource(int code, std::unique_ptr<net::BodySource> source, Call::OnResponse on_end,
                 std::unique_ptr<AuditRecord> audit)
      : code_(code),
        source_(std::move(source)),
        on_end_(std::move(on_end)),
        audit_(std::move(audit)) {}
  ~FollowedSource() override {
    if (on_end_) on_end_(code_, size_);
    if (audit_ != nullptr) audit_->Complete(code_, AuditRecord::Where::kLoop);
  }
  State Pull(size_t budget, std::vector<Bytes>* out) override {
    const size_t first = out->size();
    const State state = source_->Pull(budget, out);
    for (size_t i = first; i < out->size(); ++i) size_ += (*out)[i].size();
    return state;
  }
  // Content that is not bytes does not count as size.
  net::Content* content() override { return source_->content(); }

 private:
  const int code_;
  const std::unique_ptr<net::BodySource> source_;
  const Call::OnResponse on_end_;
  const std::unique_ptr<AuditRecord> audit_;
  size_t size_ = 0;
};

}  // namespace

meta::v1::Status ApiStatus(const Status& status) {
  meta::v1::Status body = ToApiStatus(status);
  if (!body.details && ShowsEmptyDetails(status)) body.details.emplace();
  return body;
}

std::string EncodeStatus(const Status& status, const Accepted& accepted) {
  return EncodeAs(StatusObject(ApiStatus(status)), accepted);
}

Object StatusObject(meta::v1::Status status) {
  Object object(meta::v1::Status::kKind, GroupVersionKind{"", "v1", "Status"});
  *object.As<meta::v1::Status>() = std::move(status);
  return object;
}

std::string EncodeAs(const Object& object, const Accepted& accepted) {
  std::string text;
  EncodeObject(object, accepted.format, &text, Embedded::kNamed);
  return accepted.pretty && accepted.format == Format::kJson ? PrettyJson(text) : text;
}

std::string PrettyJson(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  int depth = 0;
  bool in_string = false;
  auto newline = [&] { out.append("\n").append(static_cast<size_t>(depth) * 2, ' '); };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) out += json[++i];
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') {
      out += c;
      const char close = c == '{' ? '}' : ']';
      if (i + 1 < json.size() && json[i + 1] == close) {
        out += close;
        ++i;
      } else {
        ++depth;
        newline();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      newline();
      out += c;
    } else if (c == ',') {
      out += c;
      newline();
    } else if (c == ':') {
      out += ": ";
    } else if (c != '\n') {
      out += c;
    }
  }
  return out;
}

Call::Call(net::ExchangePtr exchange, std::string audit_id)
    : exchange_(std::move(exchange)), ctx_(exchange_->context()), audit_id_(std::move(audit_id)) {}

Call::~Call() {
  if (on_response_) on_response_(switched_ ? 101 : 500, 0);
  if (audit_ == nullptr) return;
  if (switched_) {
    audit_->Complete(101, AuditRecord::Where::kWorker);
  } else {
    audit_->Panic();
  }
}

void Call::Warn(std::string text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) {
    warnings_.push_back(std::move(text));
  }
}

net::Headers Call::TakeHeaders(std::string_view content_type) {
  net::Headers headers = std::move(headers_);
  headers.Add("audit-id", audit_id_);
  headers.Add("cache-control", "no-cache, private");
  headers.Add("content-type", std::string(content_type));
  for (std::string& warning : WarningHeaders(warnings_)) {
    headers.Add("warning", std::move(warning));
  }
  return headers;
}

Result<Accepted> Call::Negotiate(ResponseKind kind) const {
  COX_ASSIGN_OR_RETURN(Accepted accepted, NegotiateResource(Header("accept"), kind));
  // Each watch event occupies one line, so watches are never indented.
  if (kind != ResponseKind::kWatch && IsTrue(query.Get("pretty"))) accepted.pretty = true;
  return accepted;
}

bool Call::CompressBody(net::Headers& headers) const {
  if (!net::AcceptsGzip(Header("accept-encoding").value_or(""))) return false;
  headers.Add("content-encoding", "gzip");
  headers.Add("vary", "Accept-Encoding");
  return true;
}

void Call::Respond(int code, std::string_view content_type, std::vector<Bytes> body) {
  net::Headers headers = TakeHeaders(content_type);
  const size_t size = SizeOf(body);
  if (audit_ != nullptr) audit_->SetResponse(content_type, body);
  if (size >= kGzipFrom && CompressBody(headers)) body = {net::GzipPieces(body, kGzipLevel)};
  Send({.status = code, .headers = std::move(headers), .body = std::move(body)}, size);
}

void Call::KeepUntilEnd(std::shared_ptr<void> kept) {
  on_response_ = [kept = std::move(kept), next = std::move(on_response_)](int code, size_t bytes) {
    if (next) next(code, bytes);
  };
}

void Call::Send(net::Response response, size_t size) {
  if (audit_ != nullptr) {
    std::exchange(audit_, nullptr)->Complete(response.status, AuditRecord::Where::kWorker);
  }
  if (on_response_) std::exchange(on_response_, nullptr)(response.status, size);
  // A large response occupies memory until the client has read it, so its last piece keeps the held
  // resource.
  if (size >= kHeldFrom && !taken_at_once_ && !response.body.empty()) {
    response.body.back() = Holding(std::move(response.body.back()), std::move(held_));
  }
  exchange_->Send(std::move(response));
  held_.reset();
}

void Call::RespondWith(net::Response response) {
  for (const auto& [name, value] : headers_) response.headers.Add(name, value);
  response.headers.Set("audit-id", audit_id_);
  const size_t size = SizeOf(response.body);
  Send(std::move(response), size);
}

void Call::RespondText(int code, std::string text) {
  AddHeader("x-content-type-options", "nosniff");
  Respond(code, "text/plain; charset=utf-8", {Bytes(std::move(text))});
}

void Call::RespondStatus(const Status& status) { RespondStatus(ApiStatus(status)); }

void Call::RespondStatus(const meta::v1::Status& status) {
  const Accepted accepted = NegotiateError(Header("accept"));
  if (status.details && status.details->retryAfterSeconds > 0) {
    AddHeader("retry-after", std::to_string(status.details->retryAfterSeconds));
  }
  if (audit_ != nullptr) audit_->SetStatus(status, status.code);
  Respond(status.code, MediaType(accepted.format),
          {Bytes(EncodeAs(StatusObject(status), accepted))});
}

std::shared_ptr<net::Waker> Call::RespondStream(std::string_view content_type,
                                                std::unique_ptr<net::BodySource> source) {
  return StartStream(200, TakeHeaders(content_type), std::move(source));
}

std::unique_ptr<net::BodySource> Call::Follow(int code, std::unique_ptr<net::BodySource> source) {
  if (!on_response_ && audit_ == nullptr) return source;
  return std::make_unique<FollowedSource>(code, std::move(source),
                                          std::exchange(on_response_, nullptr), std::move(audit_));
}

void Call::RespondInPieces(std::string_view content_type, std::unique_ptr<net::BodySource> source) {
  // Here and not at the end of the body, because the event loop may not wait for the audit log.
  if (audit_ != nullptr) static_cast<void>(audit_->Received());
  net::Headers headers = TakeHeaders(content_type);
  // The size that is reported at the end is that of the body before compression.
  source = Follow(200, std::move(source));
  if (CompressBody(headers)) source = net::MakeGzipBody(std::move(source), kGzipLevel);
  exchange_->Stream(200, std::move(headers), std::move(source));
}

std::shared_ptr<net::Waker> Call::RespondStream(int code, net::Headers headers,
                                                std::unique_ptr<net::BodySource> source) {
  for (const auto& [name, value] : headers_) headers.Add(name, value);
  headers.Set("audit-id", audit_id_);
  if (!headers.Get("cache-control")) headers.Add("cache-control", "no-cache, private");
  for (std::string& warning : WarningHeaders(warnings_)) {
    headers.Add("warning", std::move(warning));
  }
  return StartStream(code, std::move(headers), std::move(source));
}

std::shared_ptr<net::Waker> Call::StartStream(int code, net::Headers headers,
                                              std::unique_ptr<net::BodySource> source) {
  if (audit_ != nullptr) audit_->Started(code);
  return exchange_->Stream(code, std::move(headers), Follow(code, std::move(source)));
}

Result<std::unique_ptr<net::WebSocket>> Call::Upgrade(const std::vector<std::string>& protocols,
                                                      const net::WebSocketOptions& options) {
  auto socket = exchange_->Upgrade(protocols, options);
  if (socket.ok()) NoteSwitched();
  return socket;
}

Result<std::unique_ptr<net::ByteStream>> Call::SwitchProtocols(net::Headers headers) {
  headers.Set("audit-id", audit_id_);
  auto stream = exchange_->SwitchProtocols(std::move(headers));
  if (stream.ok()) NoteSwitched();
  return stream;
}

void Call::NoteSwitched() {
  switched_ = true;
  if (audit_ != nullptr) audit_->Started(101);
}

}  // namespace cox::apiserver
