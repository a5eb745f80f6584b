// SPDX-License-Identifier: Apache-2.0
// Copies a ConfigMap to the namespaces listed in its annotation example.com/copy-to ("a,b"), keeps
// the copies in sync, and deletes copies that are no longer listed.
#include <set>
#include <sstream>

#include "api/core/v1.h"
#include "coxswain/manager.h"

using namespace cox;  // NOLINT: a program of one page
using core::v1::ConfigMap;

static std::string Note(const ConfigMap& map, std::string_view name) {
  const std::string* value = map.metadata.annotations.Get("example.com/" + std::string(name));
  return value == nullptr ? "" : *value;
}

struct CopyOf {  // index of copies by the key of their original
  static constexpr std::string_view kName = "copy-of";
  static std::string Of(const ConfigMap& map) { return Note(map, kName); }
};

static Status Setup(Manager& manager) {
  auto maps = manager.cache().ListerOf<ConfigMap>();
  auto copies = manager.cache().IndexOf<ConfigMap, CopyOf>();
  auto reconcile = [=, &manager](Context& ctx, const ObjectKey& key) -> Result<ReconcileResult> {
    const auto original = maps.Get(key);  // null: deleted, so that its copies are deleted, too
    std::istringstream wanted(original == nullptr ? "" : Note(*original, "copy-to"));
    std::set<std::string> targets;
    for (std::string ns; std::getline(wanted, ns, ',');) targets.insert(ns);
    for (const auto& copy : copies.Find(key.ToString())) {
      if (targets.contains(copy->metadata.namespace_)) continue;
      const Status gone = manager.client().Delete<ConfigMap>(ctx, KeyOf(*copy));
      if (!gone.ok() && !gone.Is(Reason::kNotFound)) return gone;
    }
    for (const std::string& ns : targets) {
      if (ns.empty() || ns == key.ns) continue;
      const auto there = maps.Get({ns, key.name});
      if (there != nullptr && CopyOf::Of(*there) != key.ToString()) {  // not a copy
        manager.events().Record(*original, EventKind::kWarning, "NameTaken", "Copying", "in " + ns);
        continue;
      }
      ConfigMap copy{.data = original->data, .binaryData = original->binaryData};
      copy.metadata = {.name = key.name, .namespace_ = ns};
      copy.metadata.annotations["example.com/copy-of"] = key.ToString();
      COX_RETURN_IF_ERROR(manager.client().Apply<ConfigMap>(ctx, copy, {"copier", true}).status());
    }
    return ReconcileResult::Done();
  };
  auto original_of = [](const ConfigMap& copy) -> std::vector<ObjectKey> {
    const std::string key = CopyOf::Of(copy);
    return key.empty() ? std::vector<ObjectKey>() : std::vector{ObjectKey::Parse(key)};
  };
  return ControllerFor<ConfigMap>(manager).Watches<ConfigMap>(original_of).Complete(reconcile);
}

int main(int argc, char** argv) {
  return RunOperator(argc, argv, {"copier", "Copies ConfigMaps."}, Setup);
}
