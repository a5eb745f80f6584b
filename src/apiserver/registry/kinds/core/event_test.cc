// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "api/events/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

constexpr const char* kNew =
    R"({"metadata":{"name":"a"},"eventTime":"2023-11-14T22:00:00.123456Z",
        "reportingController":"example.com/c","reportingInstance":"i","action":"A","reason":"R",
        "type":"Normal","regarding":{"kind":"Pod","namespace":"ns","name":"p","fieldPath":"f"},
        "related":{"kind":"Node","name":"n"},"note":"text",
        "series":{"count":5,"lastObservedTime":"2023-11-14T23:00:00.000000Z"}})";

TEST(EventTest, ConversionBetweenGroupsIsLossless) {
  StrategyHarness events(NewEventStrategy());
  events.SetServedVersion(&events::v1::Event::kKind);
  auto made = events.Create(kNew);
  EXPECT_EQ(made.error, "");
  ASSERT_EQ(events.strategy().Versions().size(), 1u);
  const ServedVersion& version = *events.strategy().Versions()[0];
  ASSERT_EQ(&version.kind(), &events::v1::Event::kKind);
  Object there = version.FromHub(made.object);
  EXPECT_EQ(version.ToHub(there), made.object);
  const auto& event = *there.As<events::v1::Event>();
  EXPECT_EQ(event.note, "text");
  EXPECT_EQ(event.regarding.name, "p");
  EXPECT_EQ(event.series->count, 5);
  EXPECT_EQ(events.Row(made.object),
            R"(["13m","Normal","R","pod/p","f","example.com/c, i","text","73m",5,"a"])");
}

TEST(EventTest, CoreAcceptsOldStyleEventsInNamespaceOfObject) {
  StrategyHarness events(NewEventStrategy());
  const CreateCase cases[] = {
      {R"("involvedObject":{"namespace":"ns"})", ""},
      {R"("involvedObject":{"namespace":"other"})",
       "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"},
      {"", "involvedObject.namespace: Invalid value: \"\": does not match event.namespace"},
  };
  ExpectCreate(events, cases);
  EXPECT_EQ(events.strategy().TtlSeconds(events.Decode("{}")), 3600);
}

TEST(EventTest, CoreReportsReportingComponentInErrors) {
  StrategyHarness events(NewEventStrategy());
  std::string error = events
                          .Create(R"({"metadata":{"name":"a"},"involvedObject":{"namespace":"ns"},
                        "eventTime":"2024-01-01T00:00:00.000000Z"})")
                          .error;
  EXPECT_TRUE(error.starts_with("[reportingComponent: Required value, ")) << error;
  EXPECT_TRUE(error.ends_with(
      "reportingInstance: Required value, action: Required value, reason: Required value]"))
      << error;
}

TEST(EventTest, EventsGroupRequiresCompleteEvents) {
  StrategyHarness events(NewEventStrategy());
  events.SetServedVersion(&events::v1::Event::kKind);
  struct Case {
    std::string_view patch, error;
  } cases[] = {
      {R"({"regarding":{"namespace":"other"}})", ""},
      {R"({"type":"X"})", "type: Invalid value: \"\": has invalid value: X"},
      {R"({"eventTime":null})", "eventTime: Required value"},
      {R"({"reportingInstance":""})", "reportingInstance: Required value"},
      {R"({"series":{"count":1}})", "series.count: Invalid value: \"\": should be at least 2"},
      {R"({"series":{"lastObservedTime":null}})", "series.lastObservedTime: Required value"},
      {R"({"deprecatedCount":5})", "count: Invalid value: \"\": needs to be unset"},
      {R"({"deprecatedSource":{"component":"x"}})",
       "source: Invalid value: \"\": needs to be unset"},
  };
  for (const Case& c : cases) {
    Value value = *patch::ApplyMergePatch(*json::Parse(kNew), *json::Parse(c.patch));
    EXPECT_EQ(events.Create(json::Write(value)).error, c.error) << c.patch;
  }
}

TEST(EventTest, EventsGroupAllowsOnlyChangesOfSeries) {
  StrategyHarness events(NewEventStrategy());
  events.SetServedVersion(&events::v1::Event::kKind);
  Object old = events.Create(kNew).object;
  EXPECT_EQ(events.Update(old, R"({"series":{"count":6}})").error, "");
  EXPECT_EQ(events.Update(old, R"({"reason":"Z","note":"z"})").error,
            "[reason: Invalid value: \"Z\": field is immutable, message: Invalid value: \"z\": "
            "field is immutable]");
  events.SetServedVersion(nullptr);
  EXPECT_EQ(events.Update(old, R"({"reason":"Z"})").error, "");
}

TEST(EventTest, SelectableFieldsHaveNamesInBothGroups) {
  StrategyHarness events(NewEventStrategy());
  Object object = events.Decode(R"({"involvedObject":{"kind":"Pod"},"reportingComponent":"c"})");
  FieldPairs fields = events.strategy().Fields(object);
  EXPECT_EQ(fields.size(), events.strategy().FieldNames().size());
  for (const auto& [theirs, ours] : events.strategy().Versions()[0]->field_labels()) {
    bool known = std::any_of(fields.begin(), fields.end(),
                             [ours = ours](const auto& field) { return field.first == ours; });
    EXPECT_TRUE(known) << theirs;
  }
}

}  // namespace
}  // namespace cox::apiserver
