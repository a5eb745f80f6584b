// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/fairness_feed.h"

#include <vector>

#include "api/flowcontrol/v1.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::PriorityLevelConfiguration;

template <class T>
Result<List<T>> ReadAll(const ServedResource& resource) {
  const ResourceStore& store = resource.store();
  const storage::SnapshotPtr now = store.cache()->Current();
  if (now == nullptr) return Status::Unavailable("the cache is not filled yet");
  List<T> all;
  now->Visit(store.root_prefix(), {}, [&](const storage::EntryPtr& entry) {
    Result<Object> object = store.Decode(entry->stored(), entry->revision());
    // Undecodable objects are ignored, so that the others take effect.
    if (object.ok()) all.push_back(std::move(*object->As<T>()));
    return true;
  });
  return all;
}

}  // namespace

InternalController FairnessFeed(const Registry& registry, PriorityAndFairness& fairness) {
  const ServedResource& schemas = registry.Hub(FlowSchema::kKind);
  const ServedResource& levels = registry.Hub(PriorityLevelConfiguration::kKind);
  return {.name = "priority-and-fairness",
          .watches = {&schemas, &levels},
          .reconcile = [&fairness, &schemas, &levels](Context&) -> Status {
            COX_ASSIGN_OR_RETURN(const auto all_levels,
                                 ReadAll<PriorityLevelConfiguration>(levels));
            COX_ASSIGN_OR_RETURN(const auto all_schemas, ReadAll<FlowSchema>(schemas));
            fairness.Configure(all_schemas, all_levels);
            return {};
          }};
}

WorkFacts ReadWorkFacts(const Registry& registry, const RequestInfo& info) {
  WorkFacts facts;
  const std::shared_ptr<const ServedResource> resource =
      registry.Find(info.group, info.version, info.resource);
  if (resource == nullptr || resource->store().cache() == nullptr) return facts;
  const storage::WatchCache& cache = *resource->store().cache();
  const storage::SnapshotPtr now = cache.Current();
  if (now == nullptr) return facts;
  facts.known = true;
  facts.objects = static_cast<int64_t>(info.namespace_.empty()
                                           ? now->size()
                                           : now->Count(resource->store().Prefix(info.namespace_)));
  if (now->size() > 0) facts.object_bytes = static_cast<int64_t>(cache.stats().bytes / now->size());
  return facts;
}

}  // namespace cox::apiserver
