// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/record.h"

#include <algorithm>

#include "apiserver/filters/audit/auditor.h"
#include "apiserver/filters/audit/bodies.h"
#include "apiserver/filters/audit/output/legacy_line.h"
#include "apiserver/filters/audit/request_text.h"
#include "base/secret.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/scalar/time.h"

namespace cox::apiserver {
namespace {

// Requests that take longer get a latency annotation.
constexpr std::chrono::milliseconds kSlow{500};
constexpr std::string_view kLatencyAnnotation = "apiserver.latency.k8s.io/total";

MicroTime Micro(Clock::WallTime at) {
  return MicroTime::FromUnixNanos(
      std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

// Appends `"key":"value"`, with a comma unless it is the first member; nothing for an empty value.
void AppendMember(std::string_view key, std::string_view value, std::string& out) {
  if (value.empty()) return;
  if (out.back() != '{') out += ',';
  out.append("\"").append(key).append("\":");
  json::WriteString(value, &out);
}

void AppendStrings(std::string_view key, const std::vector<std::string>& values, std::string& out) {
  if (values.empty()) return;
  if (out.back() != '{') out += ',';
  out.append("\"").append(key).append("\":[");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    json::WriteString(values[i], &out);
  }
  out += ']';
}

void AppendUser(const UserInfo& user, std::string& out) {
  out += '{';
  AppendMember("username", user.name, out);
  AppendMember("uid", user.uid, out);
  AppendStrings("groups", user.groups, out);
  if (!user.extra.empty()) {
    out += out.back() == '{' ? "\"extra\":{" : ",\"extra\":{";
    for (const auto& [key, values] : user.extra) {
      if (out.back() != '{') out += ',';
      json::WriteString(key, &out);
      out += ":[";
      for (size_t i = 0; i < values.size(); ++i) {
        if (i > 0) out += ',';
        json::WriteString(values[i], &out);
      }
      out += ']';
    }
    out += '}';
  }
  out += '}';
}

// Resources whose bodies are secrets or often contain them.
bool HoldsSecrets(std::string_view resource, std::string_view subresource) {
  return resource == "secrets" || resource == "configmaps" || resource == "tokenreviews" ||
         subresource == "token";
}

}  // namespace

AuditEventRecord::AuditEventRecord(Auditor& auditor, const AuditDecision& decision,
                                   const AuditSubject& subject)
    : auditor_(auditor),
      decision_(decision),
      received_at_(auditor.clock().Now()),
      failed_authentication_(subject.user == nullptr),
      long_running_(subject.info.long_running),
      api_(subject.info.is_resource || subject.info.path.starts_with("/api")) {
  const RequestInfo& info = subject.info;
  static const UserInfo kNobody;
  const UserInfo& user = subject.user != nullptr ? *subject.user : kNobody;
  const std::string uri = AuditedUri(subject.request);
  const std::string agent = AuditedUserAgent(subject.request);
  std::vector<std::string> ips = SourceIps(subject.request);
  text_.reserve(512);
  text_.append(AuditEvent::kTypeMeta).append("\"level\":\"").append(AuditLevelName(level()));
  text_ += "\",\"auditID\":";
  json::WriteString(subject.audit_id, &text_);
  text_ += ",\"stage\":\"";
  stage_at_ = text_.size();
  text_ += "\",\"requestURI\":";
  json::WriteString(uri, &text_);
  text_ += ",\"verb\":";
  json::WriteString(info.verb, &text_);
  text_ += ",\"user\":";
  AppendUser(user, text_);
  user_end_ = text_.size();
  AppendStrings("sourceIPs", ips, text_);
  AppendMember("userAgent", agent, text_);
  if (info.is_resource) {
    ref_ = {.known = true,
            .resource = info.resource,
            .ns = info.namespace_,
            .name = info.name,
            .uid = {},
            .group = info.group,
            .version = info.version,
            .resource_version = {},
            .subresource = info.subresource};
  }
  if (auditor.legacy()) {
    legacy_ = std::make_shared<LegacyLine>();
    *legacy_ = {.received = Micro(received_at_).ToString(),
                .audit_id = std::string(subject.audit_id),
                .ip = ips.empty() ? std::string() : ips.front(),
                .verb = info.verb,
                .user = user,
                .as = {},
                .user_agent = agent,
                .ns = info.namespace_,
                .uri = uri};
  }
}

void AuditEventRecord::Annotate(std::string_view key, std::string value) {
  const auto at =
      std::lower_bound(annotations_.begin(), annotations_.end(), key,
                       [](const auto& pair, std::string_view k) { return pair.first < k; });
  if (at != annotations_.end() && at->first == key) return;
  annotations_.emplace(at, key, std::move(value));
}

void AuditEventRecord::SetImpersonated(const UserInfo& user) {
  impersonated_ = ",\"impersonatedUser\":";
  AppendUser(user, impersonated_);
  if (legacy_ != nullptr) legacy_->as = user;
}

void AuditEventRecord::SetRequest(const Object& object) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
    if (ref_.ns.empty()) ref_.ns = meta->namespace_;
    if (ref_.name.empty()) ref_.name = meta->name;
    if (ref_.uid.empty()) ref_.uid = meta->uid;
    if (ref_.resource_version.empty()) ref_.resource_version = meta->resourceVersion;
  }
  if (records_request_body()) {
    request_object_ = AuditedObject(object, decision_.omit_managed_fields);
  }
}

void AuditEventRecord::SetPatch(std::string_view body) {
  if (records_request_body()) request_object_ = AuditedPatch(body);
}

void AuditEventRecord::SetResponse(std::string_view content_type, const std::vector<Bytes>& body) {
  if (!records_response_body() || !api_) return;
  response_object_ = AuditedResponse(content_type, body, decision_.omit_managed_fields);
}

void AuditEventRecord::SetStatus(meta::v1::Status status, int code) {
  status.code = code;
  status.metadata = {};
  Redact(status);
  status_ = json::Encode(status);
}

// Validation errors often quote parts of the object.
void AuditEventRecord::Redact(meta::v1::Status& status) const {
  if (records_request_body() || (status.code != 400 && status.code != 422)) return;
  if (!HoldsSecrets(ref_.resource, ref_.subresource)) return;
  status.message = Redacted::kText;
  // The field paths of causes contain map keys.
  if (status.details) status.details->causes.clear();
}

Status AuditEventRecord::Received() {
  if (received_ || failed_authentication_) return {};
  received_ = true;
  if (decision_.omitted.Has(AuditStage::kRequestReceived)) return {};
  return auditor_.Deliver(Make(AuditStage::kRequestReceived, 0))
             ? Status()
             : Status::Internal("failed to store audit event");
}

void AuditEventRecord::Started(int code) {
  (void)Received();
  started_ = true;
  if (decision_.omitted.Has(AuditStage::kResponseStarted)) return;
  auditor_.Deliver(Make(AuditStage::kResponseStarted, code));
}

void AuditEventRecord::Complete(int code, Where where) {
  if (where == Where::kWorker) {
    (void)Received();
    if ((long_running_ || failed_authentication_) && !started_) Started(code);
  }
  if (failed_authentication_) return;
  const auto took = auditor_.clock().Now() - received_at_;
  if (took > kSlow) Annotate(kLatencyAnnotation, FormatDuration(took));
  if (decision_.omitted.Has(AuditStage::kResponseComplete)) return;
  AuditEventPtr event = Make(AuditStage::kResponseComplete, code);
  if (where == Where::kWorker) {
    auditor_.Deliver(event);
  } else {
    auditor_.DeliverFromLoop(std::move(event));
  }
}

void AuditEventRecord::Panic() {
  meta::v1::Status status;
  status.status = "Failure";
  status.message = "APIServer panic'd: the request was given up without an answer";
  status.reason = "InternalError";
  SetStatus(std::move(status), 500);
  if (!std::exchange(received_, true) && !decision_.omitted.Has(AuditStage::kRequestReceived)) {
    auditor_.DeliverFromLoop(Make(AuditStage::kRequestReceived, 0));
  }
  if (decision_.omitted.Has(AuditStage::kPanic)) return;
  auditor_.DeliverFromLoop(Make(AuditStage::kPanic, 500));
}

void AuditEventRecord::AppendRef(std::string& out) const {
  if (!ref_.known) return;
  out += ",\"objectRef\":{";
  AppendMember("resource", ref_.resource, out);
  AppendMember("namespace", ref_.ns, out);
  AppendMember("name", ref_.name, out);
  AppendMember("uid", ref_.uid, out);
  AppendMember("apiGroup", ref_.group, out);
  AppendMember("apiVersion", ref_.version, out);
  AppendMember("resourceVersion", ref_.resource_version, out);
  AppendMember("subresource", ref_.subresource, out);
  out += '}';
}

void AuditEventRecord::AppendAnnotations(std::string& out) const {
  if (annotations_.empty()) return;
  out += ",\"annotations\":{";
  for (const auto& [key, value] : annotations_) {
    if (out.back() != '{') out += ',';
    json::WriteString(key, &out);
    out += ':';
    json::WriteString(value, &out);
  }
  out += '}';
}

AuditEventPtr AuditEventRecord::Make(AuditStage stage, int code) const {
  auto event = std::make_shared<AuditEvent>();
  const bool first = stage == AuditStage::kRequestReceived;
  std::string& out = event->line;
  out.reserve(text_.size() + impersonated_.size() + status_.size() + request_object_.size() +
              response_object_.size() + 640);
  out.append(text_, 0, stage_at_).append(AuditStageName(stage));
  out.append(text_, stage_at_, user_end_ - stage_at_);
  if (!first) out += impersonated_;
  out.append(text_, user_end_);
  AppendRef(out);
  if (!first) {
    out += ",\"responseStatus\":";
    if (status_.empty()) {
      out.append("{\"metadata\":{},\"code\":").append(std::to_string(code)).append("}");
    } else {
      out += status_;
    }
  }
  event->objects_at = out.size();
  if (!first && !request_object_.empty()) out.append(",\"requestObject\":").append(request_object_);
  if (!first && !response_object_.empty()) {
    out.append(",\"responseObject\":").append(response_object_);
  }
  event->objects_size = out.size() - event->objects_at;
  const std::string received = Micro(received_at_).ToString();
  out.append(",\"requestReceivedTimestamp\":\"").append(received);
  out.append("\",\"stageTimestamp\":\"");
  out.append(first ? received : Micro(auditor_.clock().Now()).ToString()).append("\"");
  if (!first) AppendAnnotations(out);
  out += "}\n";
  if (legacy_ != nullptr) event->legacy = legacy_->Text(stage, first ? 0 : code);
  return event;
}

}  // namespace cox::apiserver
