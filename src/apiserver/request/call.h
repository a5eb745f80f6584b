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

// One request on its way through the chain: what is known of it so far, and where its answer goes.
//
// Exactly one of the Respond functions is called. Threads: one at a time; it moves from a loop to a
// worker and stays there.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(net::ExchangePtr exchange, std::string audit_id);
  // One that nobody answered has failed: its peer is told 500.
  ~Call();

  net::Request& request() { return exchange_->request(); }
  const net::Request& request() const { return exchange_->request(); }
  Context& ctx() { return ctx_; }
  void set_ctx(Context ctx) { ctx_ = std::move(ctx); }
  std::optional<std::string_view> Header(std::string_view name) const {
    return exchange_->request().headers.Get(name);
  }

  // The form the client wants: its Accept header, and `?pretty`. NotAcceptable.
  Result<Accepted> Negotiate(AnswerKind kind = AnswerKind::kObject) const;

  // The standard answers.
  void RespondStatus(const Status& status);
  // An encoded document with the warnings collected so far.
  void Respond(int code, std::string_view content_type, std::vector<Bytes> body);
  void RespondText(int code, std::string text);
  // One that is complete, but for the headers every answer has.
  void RespondWith(net::Response response);
  std::shared_ptr<net::Waker> RespondStream(std::string_view content_type,
                                            std::unique_ptr<net::BodySource> source);
  // The same with another code, and headers that are complete but for those of every answer.
  std::shared_ptr<net::Waker> RespondStream(int code, net::Headers headers,
                                            std::unique_ptr<net::BodySource> source);
  // The connection becomes a WebSocket, or what the client asked for: see net::Exchange. The call
  // lasts as long as it is kept. After an error it is still to be answered.
  Result<std::unique_ptr<net::WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                                  const net::WebSocketOptions& options);
  Result<std::unique_ptr<net::ByteStream>> SwitchProtocols(net::Headers headers);
  // A header that goes with the answer.
  void AddHeader(std::string name, std::string value) {
    headers_.Add(std::move(name), std::move(value));
  }

  // For the Warning header; each text once.
  void Warn(std::string text);
  void Warn(std::vector<std::string> texts) {
    for (std::string& text : texts) Warn(std::move(text));
  }

  const std::string& audit_id() const { return audit_id_; }
  // What is recorded of it; null: nothing. Ends with the answer, or with the stream that this is.
  AuditRecord* audit() const { return audit_.get(); }
  void set_audit(std::unique_ptr<AuditRecord> record) { audit_ = std::move(record); }

  // Called once, with the code and the size of the answer when it is on its way. For a stream when
  // that has ended, on the connection's loop; its size is not known.
  using OnAnswer = std::function<void(int code, size_t bytes)>;
  void set_on_answer(OnAnswer on_answer) { on_answer_ = std::move(on_answer); }

  // What is held while the call is worked on, such as its seats (see filters/fairness): let go when
  // the answer has been taken by the connection, or when the call is gone without one.
  void Hold(std::shared_ptr<void> held) { held_ = std::move(held); }
  // For who answers with a stream, and knows when the beginning is done.
  std::shared_ptr<void> TakeHeld() { return std::move(held_); }
  // The caller has the answer at once, however large, and may keep it: nothing is held with it.
  void set_taken_at_once() { taken_at_once_ = true; }
  // Let go when the answer is on its way; for a stream when that has ended.
  void KeepUntilEnd(std::shared_ptr<void> kept);

  // Filled in by stages of the chain, in this order.
  Query query;
  RequestInfo info;
  UserInfo user;
  bool on_worker = false;  // no longer on the connection's loop: it may block

 private:
  net::Headers TakeHeaders(std::string_view content_type);
  std::shared_ptr<net::Waker> StartStream(int code, net::Headers headers,
                                          std::unique_ptr<net::BodySource> source);
  void NoteSwitched();
  // Tells who follows the call, and sends. What is audited is written down first: no answer goes
  // out that nobody can account for.
  void Send(net::Response response, size_t size);

  const net::ExchangePtr exchange_;
  Context ctx_;
  const std::string audit_id_;
  net::Headers headers_;
  std::vector<std::string> warnings_;
  OnAnswer on_answer_;
  std::unique_ptr<AuditRecord> audit_;
  std::shared_ptr<void> held_;
  bool taken_at_once_ = false;
  bool switched_ = false;  // to another protocol, with 101
};

// The API's form of an error.
meta::v1::Status ApiStatus(const Status& status);

// The same as the body of an answer.
std::string EncodeStatus(const Status& status, const Accepted& accepted);
// A Status is of no group: it says "v1" wherever it is answered.
Object StatusObject(meta::v1::Status status);
// A whole object in the form that was negotiated; its shape is left alone.
std::string EncodeAs(const Object& object, const Accepted& accepted);
// Indented, as people read it.
std::string PrettyJson(std::string_view json);

}  // namespace cox::apiserver
