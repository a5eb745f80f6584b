// SPDX-License-Identifier: Apache-2.0
#include "net/client/http1_client_session.h"

#include <algorithm>
#include <cstring>

#include "net/http.h"

namespace cox::net {
namespace {

constexpr int kMaxInterim = 100;

bool IsIdempotent(const std::string& method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

void Http1ClientSession::Submit(std::shared_ptr<ClientCall> call) {
  call_ = std::move(call);
  call_->session = this;
  const Request& request = call_->request;
  head_ = request.method + " " + request.target + " HTTP/1.1\r\n";
  const auto add = [this](std::string_view name, std::string_view value) {
    head_.append(name).append(": ").append(value).append("\r\n");
  };
  add("host", request.headers.Get("host").value_or(authority_));
  for (const auto& [name, value] : request.headers) {
    if (name != "host" && name != "content-length" && !IsHopByHop(name)) add(name, value);
  }
  if (call_->upgrade != nullptr) {
    add("connection", "Upgrade");
    add("upgrade", call_->protocol);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
      request.method == "PATCH") {
    add("content-length", std::to_string(request.body.size()));
  }
  head_ += "\r\n";
  sent_ = 0;
  response_started_ = false;
  interim_ = 0;
  parser_.emplace(max_header_bytes_);
  if (request.method == "HEAD") parser_->skip(true);
  if (!busy_) host_.OnOutputReady();
}

void Http1ClientSession::Cancel(ClientCall& call) {
  if (call_.get() != &call) return;
  // HTTP/1.1 can only cancel a request by closing the connection.
  call_->session = nullptr;
  call_.reset();
  finished_ = true;
  if (!busy_) host_.OnOutputReady();
}

void Http1ClientSession::Consumed(ClientCall& call, size_t size) {
  if (call_.get() != &call) return;
  unread_ -= std::min(unread_, size);
  if (!busy_) host_.OnOutputReady();
}

size_t Http1ClientSession::Produce(char* to, size_t room) {
  if (link_ != nullptr) return link_->Produce(to, room);
  if (call_ == nullptr) return 0;
  size_t used = std::min(head_.size(), room);
  std::memcpy(to, head_.data(), used);
  head_.erase(0, used);
  const std::string& body = call_->request.body;
  const size_t size = std::min(body.size() - sent_, room - used);
  if (size > 0) std::memcpy(to + used, body.data() + sent_, size);
  sent_ += size;
  return used + size;
}

void Http1ClientSession::Receive(std::string_view bytes) {
  busy_ = true;
  if (link_ != nullptr) {
    link_->Receive(bytes);
  } else if (!input_.empty()) {
    input_.append(bytes);
    const std::string joined = std::exchange(input_, {});
    bytes = joined;
    ReceiveSome(&bytes);
    input_ = bytes;
  } else {
    ReceiveSome(&bytes);
    input_ = bytes;
  }
  busy_ = false;
}

void Http1ClientSession::ReceiveSome(std::string_view* bytes) {
  using Outcome = Http1Parser<false>::Outcome;
  while (call_ != nullptr && !finished_) {
    if (bytes->empty() && !parser_->is_done()) return;
    response_started_ = true;
    const Outcome outcome = parser_->Parse(bytes);
    if (outcome == Outcome::kBad || outcome == Outcome::kTooLarge) {
      return Break(outcome == Outcome::kTooLarge
                       ? Status::TooLarge("the headers of the response are too large")
                       : Status::Unavailable("bad HTTP response: " + parser_->error()));
    }
    if (outcome == Outcome::kHeaders) {
      if (parser_->status == 101 && call_->upgrade != nullptr) return Upgrade(bytes);
      if (parser_->status < 200) {  // interim
        if (++interim_ > kMaxInterim) {
          return Break(Status::TooLarge("the response has too many interim responses"));
        }
        parser_.emplace(max_header_bytes_);
        if (call_->request.method == "HEAD") parser_->skip(true);
        continue;
      }
      call_->OnHeaders(parser_->status, std::move(parser_->headers));
    }
    if (call_ != nullptr && !parser_->body.empty()) {
      const std::string body = std::exchange(parser_->body, {});
      if (call_->reads) unread_ += body.size();
      call_->OnData(body);
    }
    if (outcome == Outcome::kMore) {
      // An incomplete line: of a chunk's extension or a trailer.
      if (bytes->size() <= max_header_bytes_) return;
      return Break(Status::TooLarge("the headers of the response are too large"));
    }
    if (parser_->is_done()) {
      if (!parser_->keep_alive() || !bytes->empty()) finished_ = true;
      return EndCall({});
    }
  }
  *bytes = {};
}

void Http1ClientSession::Upgrade(std::string_view* bytes) {
  auto link = call_->upgrade(parser_->headers);
  if (!link.ok()) {
    finished_ = true;
    return EndCall(link.status());
  }
  link_ = *std::move(link);
  link_->Start([this] {
    if (!busy_) host_.OnOutputReady();
  });
  link_->Receive(*bytes);  // bytes that followed the 101
  *bytes = {};
  const std::shared_ptr<ClientCall> call = std::exchange(call_, nullptr);
  call->OnHeaders(101, std::move(parser_->headers));
  call->OnEnd({});
}

void Http1ClientSession::Break(const Status& why) {
  finished_ = true;
  EndCall(why);
}

void Http1ClientSession::EndCall(const Status& status) {
  const std::shared_ptr<ClientCall> call = std::exchange(call_, nullptr);
  unread_ = 0;
  reused_ = true;
  if (call == nullptr) return;
  call->OnEnd(status);
  host_.OnCapacity();
}

void Http1ClientSession::Fail(const Status& why) {
  finished_ = true;
  if (link_ != nullptr) link_->Fail(why);
  if (call_ == nullptr) return;
  if (response_started_ && parser_->is_header_done()) {
    // A body without a length ends when the connection is closed.
    Http1Parser<false>::Error error;
    parser_->put_eof(error);
    return EndCall(error || !why.ok() ? Status::Unavailable("the connection broke") : Status());
  }
  // The server closed an idle connection at the moment of its reuse, so it most likely did not
  // process the request; a retry is safe enough for idempotent methods.
  if (reused_ && !response_started_ && IsIdempotent(call_->request.method)) {
    const std::shared_ptr<ClientCall> call = std::exchange(call_, nullptr);
    call->session = nullptr;
    return host_.OnUnprocessed(call);
  }
  EndCall(why.ok() ? Status::Unavailable("the server closed the connection") : why);
}

}  // namespace cox::net
