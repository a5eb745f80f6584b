// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta/v1.h"
#include "apiserver/request/user.h"
#include "base/bytes.h"
#include "base/result.h"
#include "object/object.h"

namespace cox::apiserver {

// Collects the audit data of one request from the parts of the server that handle it.
//
// Threads: One at a time, like the Call that owns it.
class AuditRecord {
 public:
  // The thread of a call: a worker may block on a disk or another server, a connection's event loop
  // may not.
  enum class Where : uint8_t { kWorker, kLoop };

  virtual ~AuditRecord() = default;

  // Whether the audit policy records request bodies. If not, callers need not prepare one for
  // SetRequest.
  virtual bool records_request_body() const = 0;
  // Whether it records response bodies. Then a response must not be streamed.
  virtual bool records_response_body() const = 0;

  // Keeps the first value of a key.
  virtual void Annotate(std::string_view key, std::string value) = 0;
  virtual void SetImpersonated(const UserInfo& user) = 0;
  // The decoded body of the request.
  virtual void SetRequest(const Object& object) = 0;
  virtual void SetPatch(std::string_view body) = 0;
  // The response body.
  virtual void SetResponse(std::string_view content_type, const std::vector<Bytes>& body) = 0;
  // The response, if it is a Status.
  virtual void SetStatus(meta::v1::Status status, int code) = 0;

  // The stages of the request. A second Received has no effect. If Received returns an error, the
  // request must not be executed.
  virtual Status Received() = 0;
  virtual void Started(int code) = 0;
  virtual void Complete(int code, Where where) = 0;
  // The request ended without a response.
  virtual void Panic() = 0;
};

}  // namespace cox::apiserver
