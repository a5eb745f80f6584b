// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/meta/v1.h"
#include "apiserver/filters/audit/events/event.h"
#include "apiserver/filters/audit/events/policy.h"
#include "apiserver/request/audit_record.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "net/http.h"
#include "object/object.h"

namespace cox::apiserver {

class Auditor;
struct LegacyLine;

// The inputs of a record, borrowed during construction.
struct AuditSubject {
  const net::Request& request;
  const RequestInfo& info;
  const UserInfo* user;  // null if authentication failed
  std::string_view audit_id;
};

// The record of one request, from which audit events are made at the level that the policy
// selected.
//
// Guarantees: At most one event per stage. Data that the level does not include is neither copied
//   nor encoded: at level Metadata the bodies are not read.
// Threads: One at a time, like the Call that owns it.
class AuditEventRecord final : public AuditRecord {
 public:
  AuditEventRecord(Auditor& auditor, const AuditDecision& decision, const AuditSubject& subject);

  AuditLevel level() const { return decision_.level; }
  bool records_request_body() const override { return decision_.level >= AuditLevel::kRequest; }
  bool records_response_body() const override {
    return decision_.level >= AuditLevel::kRequestResponse;
  }

  void Annotate(std::string_view key, std::string value) override;
  void SetImpersonated(const UserInfo& user) override;
  void SetRequest(const Object& object) override;
  void SetPatch(std::string_view body) override;
  void SetResponse(std::string_view content_type, const std::vector<Bytes>& body) override;
  void SetStatus(meta::v1::Status status, int code) override;

  Status Received() override;
  void Started(int code) override;
  void Complete(int code, Where where) override;
  void Panic() override;

 private:
  struct ObjectRef {
    bool known = false;
    std::string resource, ns, name, uid, group, version, resource_version, subresource;
  };

  AuditEventPtr Make(AuditStage stage, int code) const;
  void AppendRef(std::string& out) const;
  void AppendAnnotations(std::string& out) const;
  // Removes quoted body contents from messages if the level excludes bodies.
  void Redact(meta::v1::Status& status) const;

  Auditor& auditor_;
  const AuditDecision decision_;
  const Clock::WallTime received_at_;
  const bool failed_authentication_;
  const bool long_running_;
  const bool api_;  // responses are API objects
  bool received_ = false;
  bool started_ = false;
  ObjectRef ref_;
  // The text that all events share, built once. The stage is inserted at stage_at_; the user ends
  // at user_end_.
  std::string text_;
  size_t stage_at_ = 0, user_end_ = 0;
  std::string impersonated_;
  std::string status_;
  std::string request_object_, response_object_;
  std::vector<std::pair<std::string, std::string>> annotations_;  // sorted by key
  std::shared_ptr<LegacyLine> legacy_;                            // null: not the legacy format
};

}  // namespace cox::apiserver
