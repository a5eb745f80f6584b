// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cox::apiserver {

// One audit.k8s.io/v1 Event as text: encoded once, shared by all outputs.
//
// Threads: Immutable once published.
struct AuditEvent {
  // The beginning of every `line`; the items of an EventList omit it.
  static constexpr std::string_view kTypeMeta =
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1",)";

  std::string line;    // JSON, with the newline that ends it
  std::string legacy;  // the legacy format, with its newline; empty if it is disabled
  // The range of `line` with requestObject and responseObject, including the commas before them.
  size_t objects_at = 0, objects_size = 0;

  // `line` without kind, apiVersion and newline.
  std::string_view item_tail() const {
    return std::string_view(line).substr(kTypeMeta.size(), line.size() - kTypeMeta.size() - 1);
  }
};
using AuditEventPtr = std::shared_ptr<const AuditEvent>;

// Limits the event to `limit` bytes of JSON: unchanged if it fits, otherwise without its objects
// and with an annotation "audit.k8s.io/truncated"; null if it is still too large.
AuditEventPtr TruncatedEvent(const AuditEventPtr& event, size_t limit);

}  // namespace cox::apiserver
