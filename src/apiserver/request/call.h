// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta/v1.h"
#include "apiserver/request/audit_record.h"
#include "apiserver/request/negotiation.h"
#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "base/context.h"
#include "net/server.h"

namespace cox::apiserver {

// One request on its way through the filter chain, and the exchange that receives its response.
//
// Exactly one of the Respond functions is called.
//
// Threads: One at a time. A call starts on an event loop, may move to a fiber of it or to a worker,
//   and stays there.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(net::ExchangePtr exchange, std::string audit_id);
  // If a call is destroyed without a response, the client receives 500.
  ~Call();

  net::Request& request() { return exchange_->request(); }
  const net::Request& request() const { return exchange_->request(); }
  Context& ctx() { return ctx_; }
  void set_ctx(Context ctx) { ctx_ = std::move(ctx); }
  std::optional<std::string_view> Header(std::string_view name) const {
    return exchange_->request().headers.Get(name);
  }

  // The response format: from the Accept header and `?pretty`. Errors: NotAcceptable.
  Result<Accepted> Negotiate(ResponseKind kind = ResponseKind::kObject) const;

  // The standard responses.
  void RespondStatus(const Status& status);
  void RespondStatus(const meta::v1::Status& status);
  // Sends an encoded document with the warnings collected so far.
  void Respond(int code, std::string_view content_type, std::vector<Bytes> body);
  void RespondText(int code, std::string text);
  // Sends a prepared response; adds only the headers that every response has.
  void RespondWith(net::Response response);
  std::shared_ptr<net::Waker> RespondStream(std::string_view content_type,
                                            std::unique_ptr<net::BodySource> source);
  // The same with another code. `headers` is complete except for the headers that every response
  // has.
  std::shared_ptr<net::Waker> RespondStream(int code, net::Headers headers,
                                            std::unique_ptr<net::BodySource> source);
  // Sends a response of a request that is not long-running, whose body is encoded while the client
  // reads it, compressed if the client accepts that. Requires that the audit record does not need
  // the body (records_response_body).
  void RespondInPieces(std::string_view content_type, std::unique_ptr<net::BodySource> source);
  // Upgrades the connection to a WebSocket or to the protocol that the client requested: see
  // net::Exchange. The call must be kept as long as the connection is used. After an error the
  // caller must still send a response.
  Result<std::unique_ptr<net::WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                                  const net::WebSocketOptions& options);
  Result<std::unique_ptr<net::ByteStream>> SwitchProtocols(net::Headers headers);
  // Adds a response header.
  void AddHeader(std::string name, std::string value) {
    headers_.Add(std::move(name), std::move(value));
  }

  // Adds a Warning header; duplicate texts are dropped.
  void Warn(std::string text);
  void Warn(std::vector<std::string> texts) {
    for (std::string& text : texts) Warn(std::move(text));
  }

  const std::string& audit_id() const { return audit_id_; }
  // The audit record; null if the request is not audited. It completes with the response, or at the
  // end of a streamed response.
  AuditRecord* audit() const { return audit_.get(); }
  void set_audit(std::unique_ptr<AuditRecord> record) { audit_ = std::move(record); }

  // Called once with the code and the size of the response before compression, immediately before
  // it is sent. For a stream it is called when the stream has ended, on the connection's event
  // loop.
  using OnResponse = std::function<void(int code, size_t bytes)>;
  void set_on_response(OnResponse on_response) { on_response_ = std::move(on_response); }

  // Holds a resource while the call is executed, such as its seats (see filters/fairness). It is
  // released when the connection has accepted the response, or when the call is destroyed.
  void Hold(std::shared_ptr<void> held) { held_ = std::move(held); }
  // For handlers that respond with a stream and release the resource after its initial part.
  std::shared_ptr<void> TakeHeld() { return std::move(held_); }
  // The receiver takes the complete response immediately, whatever its size, so large responses do
  // not keep the held resource.
  void set_releases_held_on_send() { taken_at_once_ = true; }
  // Releases `kept` when the response is sent; for a stream, when the stream has ended.
  void KeepUntilEnd(std::shared_ptr<void> kept);

  // Set by the filters of the chain, in this order.
  Query query;
  RequestInfo info;
  UserInfo user;
  // False on the connection's event loop; true in a fiber of it, on a worker, and on a thread of a
  // caller in this process.
  bool may_wait = false;
  // See net::Exchange.
  bool has_loop() const { return exchange_->has_loop(); }
  void RunFiber(std::function<void()> work) { exchange_->RunFiber(std::move(work)); }

 private:
  net::Headers TakeHeaders(std::string_view content_type);
  // Adds the headers of a compressed body if the client accepts that.
  bool CompressBody(net::Headers& headers) const;
  // The same body; its end completes the audit record and calls OnResponse.
  std::unique_ptr<net::BodySource> Follow(int code, std::unique_ptr<net::BodySource> source);
  std::shared_ptr<net::Waker> StartStream(int code, net::Headers headers,
                                          std::unique_ptr<net::BodySource> source);
  void NoteSwitched();
  // Completes the audit record, calls OnResponse, and sends. The audit event is written first, so
  // that no response is sent without one.
  void Send(net::Response response, size_t size);

  const net::ExchangePtr exchange_;
  Context ctx_;
  const std::string audit_id_;
  net::Headers headers_;
  std::vector<std::string> warnings_;
  OnResponse on_response_;
  std::unique_ptr<AuditRecord> audit_;
  std::shared_ptr<void> held_;
  bool taken_at_once_ = false;
  bool switched_ = false;  // The connection was upgraded (101).
};

// Converts an error to the API's Status.
meta::v1::Status ApiStatus(const Status& status);

// The same, encoded as a response body.
std::string EncodeStatus(const Status& status, const Accepted& accepted);
// Status has no API group: its apiVersion is always "v1".
Object StatusObject(meta::v1::Status status);
// Encodes an object in the negotiated format, without applying the transform.
std::string EncodeAs(const Object& object, const Accepted& accepted);
// Indents JSON by two spaces.
std::string PrettyJson(std::string_view json);

}  // namespace cox::apiserver
