// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cox::apiserver {

// One audit.k8s.io/v1 Event, as text: made once, shared by all that write it down.
//
// Threads: constant once published.
struct AuditEvent {
  // How every `line` begins; inside an EventList its items go without it.
  static constexpr std::string_view kTypeMeta =
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1",)";

  std::string line;    // JSON, with the newline that ends it
  std::string legacy;  // the same in the old format, with its newline; empty where nobody wants it
  // Where `line` holds requestObject and responseObject, with the commas before them.
  size_t objects_at = 0, objects_size = 0;

  // Without kind, apiVersion and newline.
  std::string_view item_tail() const {
    return std::string_view(line).substr(kTypeMeta.size(), line.size() - kTypeMeta.size() - 1);
  }
};
using AuditEventPtr = std::shared_ptr<const AuditEvent>;

// The event within `limit` bytes of JSON: itself if it fits, else without its objects and with an
// annotation that says so, else null.
AuditEventPtr TruncatedEvent(const AuditEventPtr& event, size_t limit);

}  // namespace cox::apiserver
