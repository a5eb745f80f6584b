// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/client/call.h"
#include "net/io/http1_parser.h"

namespace cox::net {

// The client side of an HTTP/1.1 connection: one call at a time.
class Http1ClientSession final : public ClientSession {
 public:
  Http1ClientSession(std::string authority, size_t max_header_bytes, Host& host)
      : authority_(std::move(authority)), max_header_bytes_(max_header_bytes), host_(host) {}

  size_t capacity() const override { return finished_ || active() > 0 ? 0 : 1; }
  size_t active() const override { return call_ != nullptr || link_ != nullptr ? 1 : 0; }
  void Submit(std::shared_ptr<ClientCall> call) override;
  void Cancel(ClientCall& call) override;
  void Consumed(ClientCall& call, size_t size) override;
  void Ping() override {}  // HTTP/1.1 has no ping; TCP keep-alive replaces it
  void Receive(std::string_view bytes) override;
  size_t Produce(char* to, size_t room) override;
  bool finished() const override { return finished_ || (link_ != nullptr && link_->finished()); }
  void Fail(const Status& why) override;

  bool InputEnded() { return link_ != nullptr && link_->InputEnded(); }
  // Returns true when the link's output has ended and has been written to the kernel.
  bool OutputDone() {
    if (link_ == nullptr || !link_->output_ended()) return false;
    link_->OutputDone();
    return true;
  }
  // False while the reader is behind: the kernel's socket buffers act as the window.
  bool wants_input() const { return link_ != nullptr ? link_->wants_input() : unread_ < kWindow; }

 private:
  static constexpr size_t kWindow = 1024 * 1024;

  void ReceiveSome(std::string_view* bytes);
  void EndCall(const Status& status);
  // Ends the call; the connection cannot be used again.
  void Break(const Status& why);
  void Upgrade(std::string_view* bytes);

  const std::string authority_;
  const size_t max_header_bytes_;
  Host& host_;
  std::shared_ptr<ClientCall> call_;
  bool reused_ = false;
  bool finished_ = false;
  bool response_started_ = false;
  bool busy_ = false;
  int interim_ = 0;  // interim responses to this call
  size_t unread_ = 0;
  std::string head_;
  size_t sent_ = 0;  // bytes of the request's body
  std::string input_;
  std::optional<Http1Parser<false>> parser_;
  std::unique_ptr<Link> link_;  // the protocol after an upgrade, or null
};

}  // namespace cox::net
