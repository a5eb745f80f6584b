// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/events/event.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kAnnotations = R"(,"annotations":{)";
constexpr std::string_view kTruncated = R"("audit.k8s.io/truncated":"true")";

}  // namespace

AuditEventPtr TruncatedEvent(const AuditEventPtr& event, size_t limit) {
  if (event->line.size() <= limit) return event;
  auto cut = std::make_shared<AuditEvent>();
  cut->legacy = event->legacy;
  cut->line = event->line;
  if (event->objects_size > 0) cut->line.erase(event->objects_at, event->objects_size);
  // Annotations come last. The search starts after the objects, behind all client-controlled
  // strings (user agents, names); quotes within strings are escaped, so they cannot match.
  const size_t at = cut->line.find(kAnnotations, event->objects_at);
  if (at != std::string::npos) {
    cut->line.insert(at + kAnnotations.size(), std::string(kTruncated) + ",");
  } else {
    cut->line.resize(cut->line.size() - 2);  // "}\n"
    cut->line.append(kAnnotations).append(kTruncated).append("}}\n");
  }
  return cut->line.size() <= limit ? cut : nullptr;
}

}  // namespace cox::apiserver
