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

// What the parts of the server that handle a request tell the audit log about it.
//
// Threads: One at a time, as the Call it belongs to.
class AuditRecord {
 public:
  // Where a function is called: on a worker it may wait for a disk or another server, on the loop
  // of a connection it may not.
  enum class Where : uint8_t { kWorker, kLoop };

  virtual ~AuditRecord() = default;

  // Whether the body of the request is recorded: if not, it need not be prepared for SetRequest.
  virtual bool asks_for_requests() const = 0;

  // The first value of a key is kept.
  virtual void Annotate(std::string_view key, std::string value) = 0;
  virtual void SetImpersonated(const UserInfo& user) = 0;
  // The decoded body of the request.
  virtual void SetRequest(const Object& object) = 0;
  virtual void SetPatch(std::string_view body) = 0;
  // The body of the answer.
  virtual void SetAnswer(std::string_view content_type, const std::vector<Bytes>& body) = 0;
  // The answer, if it is a Status.
  virtual void SetStatus(meta::v1::Status status, int code) = 0;

  // The stages of the request. Received has no effect the second time; after an error the request
  // must not be executed.
  virtual Status Received() = 0;
  virtual void Started(int code) = 0;
  virtual void Complete(int code, Where where) = 0;
  // The request ended without an answer.
  virtual void Panic() = 0;
};

}  // namespace cox::apiserver
