// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/internal_controllers.h"

#include "api/apiextensions/v1.h"
#include "api/apiregistration/v1.h"
#include "api/flowcontrol/v1.h"
#include "apiserver/internal/controllers/api_service_status.h"
#include "apiserver/internal/controllers/definition_status.h"
#include "apiserver/internal/controllers/flow_schema_status.h"
#include "apiserver/testing/write_harness.h"
#include "base/scope.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::CustomResourceDefinition;
using apiregistration::v1::APIService;
using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::PriorityLevelConfiguration;

class InternalControllersTest : public ::testing::Test, protected WriteHarness {
 protected:
  // Reconciles once.
  void Reconcile(const InternalController& loop) {
    SyncAll();
    const Status status = loop.reconcile(ctx());
    ASSERT_TRUE(status.ok()) << status.message();
    SyncAll();
  }
  // Expects a reconciliation without writes.
  void ExpectSettled(const InternalController& loop) {
    const storage::Revision before = Revision();
    Reconcile(loop);
    EXPECT_EQ(Revision(), before);
  }

  static CustomResourceDefinition Definition(const std::string& plural, const std::string& kind) {
    CustomResourceDefinition definition;
    definition.metadata.name = plural + ".example.com";
    definition.spec.group = "example.com";
    definition.spec.scope = "Namespaced";
    definition.spec.names = {
        .plural = plural, .singular = kind, .kind = kind, .listKind = kind + "List"};
    for (char& c : definition.spec.names.singular) c = static_cast<char>(std::tolower(c));
    definition.spec.conversion.emplace().strategy = "None";
    auto& version = definition.spec.versions.emplace_back();
    version.name = "v1";
    version.served = version.storage = true;
    version.schema.emplace().openAPIV3Schema.emplace().type = "object";
    return definition;
  }
  std::string ConditionOf(const CustomResourceDefinition& definition, std::string_view type) {
    for (const auto& condition : definition.status.conditions) {
      if (condition.type == type) return condition.status + " " + condition.reason;
    }
    return "none";
  }
};

TEST_F(InternalControllersTest, FlowSchemasReportDanglingLevels) {
  const InternalController loop = FlowSchemaStatusLoop(registry());
  FlowSchema schema;
  schema.metadata.name = "a";
  schema.spec.priorityLevelConfiguration.name = "level";
  schema.spec.matchingPrecedence = 5;
  ASSERT_TRUE(TryCreate(Object::Of(schema)).ok());
  Reconcile(loop);
  auto condition = Read<FlowSchema>("a").status.conditions.at(0);
  EXPECT_EQ(condition.status + " " + condition.reason, "True NotFound");

  PriorityLevelConfiguration level;
  level.metadata.name = "level";
  level.spec.type = "Limited";
  level.spec.limited.emplace().nominalConcurrencyShares = 5;
  level.spec.limited->lendablePercent = 0;
  level.spec.limited->limitResponse.type = "Reject";
  ASSERT_TRUE(TryCreate(Object::Of(level)).ok());
  Reconcile(loop);
  condition = Read<FlowSchema>("a").status.conditions.at(0);
  EXPECT_EQ(condition.status + " " + condition.reason, "False Found");
  const auto& entries = Read<FlowSchema>("a").metadata.managedFields;
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].manager, "api-priority-and-fairness-config-consumer-v1");
  EXPECT_EQ(entries[0].operation + " " + entries[0].subresource, "Apply status");
  ExpectSettled(loop);
}

TEST_F(InternalControllersTest, DefinitionsGetFreeNames) {
  const InternalController loop = DefinitionStatusLoop(registry());
  ASSERT_TRUE(TryCreate(Object::Of(Definition("wheels", "Wheel"))).ok());
  Reconcile(loop);
  CustomResourceDefinition first = Read<CustomResourceDefinition>("wheels.example.com");
  EXPECT_EQ(first.status.acceptedNames.plural, "wheels");
  EXPECT_EQ(ConditionOf(first, "NamesAccepted"), "True NoConflicts");
  EXPECT_EQ(ConditionOf(first, "Established"), "True InitialNamesAccepted");

  ASSERT_TRUE(TryCreate(Object::Of(Definition("rounds", "Wheel"))).ok());
  Reconcile(loop);
  CustomResourceDefinition second = Read<CustomResourceDefinition>("rounds.example.com");
  EXPECT_EQ(second.status.acceptedNames.plural, "rounds");
  EXPECT_EQ(second.status.acceptedNames.kind, "");
  EXPECT_EQ(ConditionOf(second, "NamesAccepted"), "False ListKindConflict");
  EXPECT_EQ(ConditionOf(second, "Established"), "False NotAccepted");
  ExpectSettled(loop);
}

TEST_F(InternalControllersTest, TwoNewDefinitionsDoNotGetSameName) {
  const InternalController loop = DefinitionStatusLoop(registry());
  ASSERT_TRUE(TryCreate(Object::Of(Definition("wheels", "Wheel"))).ok());
  ASSERT_TRUE(TryCreate(Object::Of(Definition("rounds", "Wheel"))).ok());
  Reconcile(loop);
  const bool first =
      Read<CustomResourceDefinition>("wheels.example.com").status.acceptedNames.kind == "Wheel";
  const bool second =
      Read<CustomResourceDefinition>("rounds.example.com").status.acceptedNames.kind == "Wheel";
  EXPECT_NE(first, second);
}

TEST_F(InternalControllersTest, DeletedDefinitionIsKeptUntilFinalized) {
  const InternalController loop = DefinitionStatusLoop(registry());
  ASSERT_TRUE(TryCreate(Object::Of(Definition("wheels", "Wheel"))).ok());
  ResourceStore& definitions = registry().Hub(CustomResourceDefinition::kKind).store();
  Result<ResourceStore::DeleteResult> deleted =
      definitions.Delete(MakeWriteContext(), "", "wheels.example.com", {}, nullptr);
  ASSERT_TRUE(deleted.ok());
  EXPECT_FALSE(deleted->gone);
  const auto marked = Read<CustomResourceDefinition>("wheels.example.com");
  EXPECT_TRUE(marked.metadata.deletionTimestamp.has_value());
  EXPECT_FALSE(marked.metadata.deletionGracePeriodSeconds.has_value());
  EXPECT_EQ(ConditionOf(marked, "Terminating"), "True InstanceDeletionPending");
  Reconcile(loop);
  EXPECT_TRUE(definitions.Get(ctx(), "", "wheels.example.com").status().Is(Reason::kNotFound));
}

TEST_F(InternalControllersTest, ApiServicesOfMissingServicesAreNotAvailable) {
  const InternalController loop = ApiServiceStatusLoop(registry());
  APIService service;
  service.metadata.name = "v1.other.example.com";
  service.spec.group = "other.example.com";
  service.spec.version = "v1";
  service.spec.groupPriorityMinimum = 100;
  service.spec.versionPriority = 10;
  service.spec.insecureSkipTLSVerify = true;
  service.spec.service.emplace() = {.namespace_ = "none", .name = "s", .port = 443};
  ASSERT_TRUE(TryCreate(Object::Of(service)).ok());
  Reconcile(loop);
  const auto condition = Read<APIService>("v1.other.example.com").status.conditions.at(0);
  EXPECT_EQ(condition.status + " " + condition.reason, "False ServiceNotFound");
  EXPECT_EQ(condition.message, "service/s in \"none\" is not present");
  ExpectSettled(loop);
}

TEST_F(InternalControllersTest, ControllerRunsOnChangesAndRetriesAfterError) {
  Mutex mu;
  CondVar ran;
  int runs = 0;
  const InternalController loop{.name = "counting",
                                .watches = {&registry().Hub(FlowSchema::kKind)},
                                .reconcile = [&](Context&) -> Status {
                                  MutexLock lock(mu);
                                  ++runs;
                                  ran.NotifyAll();
                                  // Fails at first, and must be retried.
                                  return runs == 1 ? Status::Unavailable("not yet") : Status();
                                }};
  Scope scope(ctx(), "loops");
  ASSERT_TRUE(scope.Go("loop", [&](Context& ctx) { RunInternalController(ctx, loop); }).ok());
  auto await = [&](int count) {
    MutexLock lock(mu);
    return ctx().Await(mu, ran, [&] { return runs >= count; }).ok();
  };
  auto ran_twice = [&] {
    MutexLock lock(mu);
    return runs >= 2;
  };
  EXPECT_TRUE(await(1));
  // The retry waits for the clock.
  while (!ran_twice()) clock().Advance(std::chrono::seconds(1));
  FlowSchema schema;
  schema.metadata.name = "a";
  schema.spec.priorityLevelConfiguration.name = "level";
  schema.spec.matchingPrecedence = 5;
  ASSERT_TRUE(TryCreate(Object::Of(schema)).ok());
  EXPECT_TRUE(await(3));
  scope.Stop();
}

}  // namespace
}  // namespace cox::apiserver
