// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiregistration/api_service.h"

#include "apiserver/testing/recorded_creates.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

const std::filesystem::path kScenarios =
    std::filesystem::path(test::SharedDirectory()) / "reference" / "scenarios";

using apiregistration::v1::APIService;

TEST(ApiServiceTest, ErrorsMatchUpstreamScenarios) {
  const int compared =
      CompareCreates(*NewApiServiceStrategy(), kScenarios / "validation/apiservice.json") +
      CompareCreates(*NewApiServiceStrategy(), kScenarios / "crud/apiservices.json");
  if (compared == 0) GTEST_SKIP() << "no reference data";
  EXPECT_GT(compared, 10);
}

TEST(ApiServiceTest, LocalServiceIsAvailableAfterCreate) {
  Object object = Object::Of(APIService{});
  auto& service = *object.As<APIService>();
  service.metadata.name = "v1.apps";
  service.spec = {
      .group = "apps", .version = "v1", .groupPriorityMinimum = 17800, .versionPriority = 15};
  EXPECT_EQ(TryCreate(*NewApiServiceStrategy(), object), "");
  ASSERT_EQ(service.status.conditions.size(), 1u);
  EXPECT_EQ(service.status.conditions[0].reason, "Local");
  const Cells row = NewApiServiceStrategy()->Row(object, Time());
  EXPECT_EQ(row[1], Value("Local"));
  EXPECT_EQ(row[2], Value("True"));
}

TEST(ApiServiceTest, StatusUpdateChangesOnlyStatus) {
  const StrategyPtr strategy = NewApiServiceStrategy();
  TestClock clock;
  Context ctx(clock);
  const UserInfo user;
  const WriteContext w{ctx, user, Time()};
  Object old = Object::Of(APIService{});
  Object changed = old;
  changed.As<APIService>()->spec.group = "other";
  changed.As<APIService>()->metadata.labels["a"] = "b";
  changed.As<APIService>()->status.conditions.push_back({.type = "Available", .status = "Maybe"});
  const UpdateStrategy& status = *strategy->Subresource("status");
  status.PrepareForUpdate(w, changed, old);
  EXPECT_EQ(changed.As<APIService>()->spec.group, "");
  EXPECT_TRUE(changed.As<APIService>()->metadata.labels.empty());
  EXPECT_EQ(AggregateText(status.ValidateUpdate(w, changed, old)),
            "status.conditions[0].status: Unsupported value: \"Maybe\": supported values: "
            "\"True\", \"False\", \"Unknown\"");
}

}  // namespace
}  // namespace cox::apiserver
