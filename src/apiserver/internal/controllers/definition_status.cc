// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/definition_status.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "apiserver/internal/controllers/internal_client.h"
#include "apiserver/registry/kinds/apiextensions/definition.h"
#include "apiserver/registry/validation/conditions.h"
#include "apiserver/request/now.h"
#include "base/strings.h"
#include "object/owner.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::CustomResourceDefinitionCondition;
using apiextensions::v1::CustomResourceDefinitionNames;

constexpr std::string_view kManager = "kube-apiserver";

// The names in a group that other definitions have. Resources and kinds are separate.
struct TakenNames {
  std::set<std::string, std::less<>> resources, kinds;
};

TakenNames TakenBy(const List<CustomResourceDefinition>& all,
                   const CustomResourceDefinition& except) {
  TakenNames taken;
  for (const CustomResourceDefinition& other : all) {
    if (other.spec.group != except.spec.group) continue;
    if (other.metadata.name == except.metadata.name) continue;
    const CustomResourceDefinitionNames& names = other.status.acceptedNames;
    taken.resources.insert({names.plural, names.singular});
    taken.resources.insert(names.shortNames.begin(), names.shortNames.end());
    taken.kinds.insert({names.kind, names.listKind});
  }
  return taken;
}

// Accepts each free name and records a conflict for the others.
class Acceptance {
 public:
  explicit Acceptance(CustomResourceDefinitionNames accepted) : accepted_(std::move(accepted)) {}

  void Take(const std::string& wanted, const std::set<std::string, std::less<>>& taken,
            std::string_view conflict, std::string& accepted) {
    if (taken.contains(wanted)) return Refuse(wanted, conflict);
    accepted = wanted;
  }
  void TakeShortNames(const List<std::string>& wanted,
                      const std::set<std::string, std::less<>>& taken) {
    const auto used = std::find_if(wanted.begin(), wanted.end(),
                                   [&](const std::string& name) { return taken.contains(name); });
    if (used != wanted.end()) return Refuse(*used, "ShortNamesConflict");
    accepted_.shortNames = wanted;
  }

  CustomResourceDefinitionNames& names() { return accepted_; }
  CustomResourceDefinitionCondition Condition() const {
    if (reason_.empty()) {
      return {.type = "NamesAccepted",
              .status = "True",
              .reason = "NoConflicts",
              .message = "no conflicts found"};
    }
    return {.type = "NamesAccepted", .status = "False", .reason = reason_, .message = message_};
  }

 private:
  void Refuse(const std::string& name, std::string_view conflict) {
    reason_ = conflict;
    message_ = Quote(name) + " is already in use";
  }

  CustomResourceDefinitionNames accepted_;
  std::string reason_, message_;
};

// Updates the status. True if it changed.
bool Update(CustomResourceDefinition& definition, const TakenNames& taken, const Time& now) {
  const CustomResourceDefinitionNames& wanted = definition.spec.names;
  Acceptance acceptance(definition.status.acceptedNames);
  CustomResourceDefinitionNames& names = acceptance.names();
  acceptance.Take(wanted.plural, taken.resources, "PluralConflict", names.plural);
  acceptance.Take(wanted.singular, taken.resources, "SingularConflict", names.singular);
  acceptance.TakeShortNames(wanted.shortNames, taken.resources);
  acceptance.Take(wanted.kind, taken.kinds, "KindConflict", names.kind);
  acceptance.Take(wanted.listKind, taken.kinds, "ListKindConflict", names.listKind);
  names.categories = wanted.categories;

  bool changed = !DeepEqual(definition.status.acceptedNames, names);
  definition.status.acceptedNames = names;
  const CustomResourceDefinitionCondition accepted = acceptance.Condition();
  changed = SetCondition(definition.status.conditions, accepted, now) || changed;
  // An established definition stays established, because it may have objects.
  const CustomResourceDefinitionCondition* established = FindCondition(definition, "Established");
  if (established != nullptr && established->status == "True") return changed;
  const bool all = accepted.status == "True";
  return SetCondition(definition.status.conditions,
                      {.type = "Established",
                       .status = all ? "True" : "False",
                       .reason = all ? "InitialNamesAccepted" : "NotAccepted",
                       .message = all ? "the initial names have been accepted"
                                      : "not all names are accepted"},
                      now) ||
         changed;
}

Status Finalize(Context& ctx, const InternalClient& writer, const std::string& name) {
  return writer.Update(ctx, CustomResourceDefinition::kKind, name, kManager, [](Object& object) {
    return erase(object.object_meta()->finalizers, kCleanupFinalizer) > 0;
  });
}

Status Reconcile(Context& ctx, const ServedResource& definitions, const InternalClient& writer) {
  List<CustomResourceDefinition> all;
  definitions.store().cache()->Current()->Visit(
      definitions.store().root_prefix(), {}, [&](const storage::EntryPtr& entry) {
        Result<Object> object = definitions.store().Decode(entry->stored(), entry->revision());
        if (object.ok()) all.push_back(std::move(*object->As<CustomResourceDefinition>()));
        return true;
      });
  Status first_error;
  for (CustomResourceDefinition& definition : all) {
    const std::string& name = definition.metadata.name;
    Status done;
    if (definition.metadata.deletionTimestamp) {
      if (HasFinalizer(definition.metadata, kCleanupFinalizer)) done = Finalize(ctx, writer, name);
    } else {
      const TakenNames taken = TakenBy(all, definition);
      const Time now = NowOf(ctx);
      // Updates `definition` in `all` too, so that later definitions see the names as taken.
      if (!Update(definition, taken, now)) continue;
      done = writer.Update(
          ctx, CustomResourceDefinition::kKind, name, kManager,
          [&](Object& object) {
            return Update(*object.As<CustomResourceDefinition>(), taken, now);
          },
          "status");
    }
    if (!done.ok()) first_error = done;
  }
  return first_error;
}

}  // namespace

InternalController DefinitionStatusLoop(const Registry& registry, const AdmissionChain* admission) {
  const ServedResource& definitions = registry.Hub(CustomResourceDefinition::kKind);
  return {.name = "definition-status",
          .watches = {&definitions},
          .reconcile = [&registry, admission, &definitions](Context& ctx) {
            return Reconcile(ctx, definitions, InternalClient(registry, admission));
          }};
}

}  // namespace cox::apiserver
