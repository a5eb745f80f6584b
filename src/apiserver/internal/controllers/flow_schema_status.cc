// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/flow_schema_status.h"

#include "api/flowcontrol/v1.h"
#include "apiserver/internal/controllers/internal_client.h"
#include "apiserver/request/now.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::FlowSchemaCondition;
using flowcontrol::v1::PriorityLevelConfiguration;

constexpr std::string_view kManager = "api-priority-and-fairness-config-consumer-v1";
constexpr std::string_view kDangling = "Dangling";

FlowSchemaCondition Wanted(const std::string& level, bool exists) {
  const std::string references =
      "This FlowSchema references the PriorityLevelConfiguration object named \"" + level + "\" ";
  FlowSchemaCondition condition;
  condition.type = kDangling;
  condition.status = exists ? "False" : "True";
  condition.reason = exists ? "Found" : "NotFound";
  condition.message = references + (exists ? "and it exists" : "but there is no such object");
  return condition;
}

bool Has(const FlowSchema& schema, const FlowSchemaCondition& wanted) {
  for (const FlowSchemaCondition& condition : schema.status.conditions) {
    if (condition.type == wanted.type) {
      return condition.status == wanted.status && condition.message == wanted.message;
    }
  }
  return false;
}

Value Configuration(const std::string& name, const FlowSchemaCondition& condition,
                    const Time& now) {
  return Value::MakeObject(
      {{"apiVersion", "flowcontrol.apiserver.k8s.io/v1"},
       {"kind", "FlowSchema"},
       {"metadata", Value::MakeObject({{"name", name}})},
       {"status", Value::MakeObject({{"conditions", Value::MakeArray({Value::MakeObject({
                                                        {"type", condition.type},
                                                        {"status", condition.status},
                                                        {"lastTransitionTime", now.ToString()},
                                                        {"reason", condition.reason},
                                                        {"message", condition.message},
                                                    })})}})}});
}

Status Reconcile(Context& ctx, const ServedResource& schemas, const ServedResource& levels,
                 const InternalClient& writer) {
  const storage::SnapshotPtr all = schemas.store().cache()->Current();
  const storage::SnapshotPtr known = levels.store().cache()->Current();
  Status first_error;
  all->Visit(schemas.store().root_prefix(), {}, [&](const storage::EntryPtr& entry) {
    Result<Object> object = schemas.store().Decode(entry->stored(), entry->revision());
    if (!object.ok()) return true;
    const FlowSchema& schema = *object->As<FlowSchema>();
    const std::string& level = schema.spec.priorityLevelConfiguration.name;
    const bool exists = known->Find(levels.store().Key("", level)) != nullptr;
    const FlowSchemaCondition wanted = Wanted(level, exists);
    if (Has(schema, wanted)) return true;
    Status applied = writer.ApplyStatus(
        ctx, FlowSchema::kKind, Configuration(schema.metadata.name, wanted, NowOf(ctx)), kManager);
    if (!applied.ok() && !applied.Is(Reason::kNotFound)) first_error = applied;
    return true;
  });
  return first_error;
}

}  // namespace

InternalController FlowSchemaStatusLoop(const Registry& registry, const AdmissionChain* admission) {
  const ServedResource& schemas = registry.Hub(FlowSchema::kKind);
  const ServedResource& levels = registry.Hub(PriorityLevelConfiguration::kKind);
  return {.name = "flow-schema-status",
          .watches = {&schemas, &levels},
          .reconcile = [&registry, admission, &schemas, &levels](Context& ctx) {
            return Reconcile(ctx, schemas, levels, InternalClient(registry, admission));
          }};
}

}  // namespace cox::apiserver
