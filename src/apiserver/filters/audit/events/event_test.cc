// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/events/event.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

AuditEventPtr Event(std::string_view objects, std::string_view annotations) {
  auto event = std::make_shared<AuditEvent>();
  event->line.append(AuditEvent::kTypeMeta).append(R"("auditID":"a")");
  event->objects_at = event->line.size();
  event->objects_size = objects.size();
  event->line.append(objects).append(R"(,"stageTimestamp":"t")").append(annotations).append("}\n");
  return event;
}

TEST(AuditEventTest, EventWithinLimitIsUnchanged) {
  const AuditEventPtr event = Event(R"(,"requestObject":{"a":1})", "");
  EXPECT_EQ(TruncatedEvent(event, event->line.size()), event);
}

TEST(AuditEventTest, EventAboveLimitLosesObjectsAndIsAnnotated) {
  const std::string objects =
      R"(,"requestObject":{"annotations":{"x":")" + std::string(300, 'y') + "\"}}";
  for (std::string_view annotations : {"", R"(,"annotations":{"k":"v"})"}) {
    const AuditEventPtr cut = TruncatedEvent(Event(objects, annotations), 256);
    ASSERT_NE(cut, nullptr);
    const Result<Value> value = json::Parse(cut->line);
    ASSERT_TRUE(value.ok()) << cut->line;
    EXPECT_EQ(value->Find("requestObject"), nullptr);
    ASSERT_NE(value->At({"annotations", "audit.k8s.io/truncated"}), nullptr) << cut->line;
    EXPECT_EQ(value->At({"annotations", "k"}) != nullptr, !annotations.empty());
    EXPECT_EQ(value->Find("auditID")->as_string(), "a");
  }
}

TEST(AuditEventTest, EventTooLargeWithoutObjectsIsDropped) {
  EXPECT_EQ(
      TruncatedEvent(Event("", R"(,"annotations":{"k":")" + std::string(300, 'v') + "\"}"), 256),
      nullptr);
}

}  // namespace
}  // namespace cox::apiserver
