// SPDX-License-Identifier: Apache-2.0
#include "proxy/node_watch.h"

#include <utility>

namespace cox::proxy {
namespace {

using core::v1::Node;

constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
// Set by the cluster autoscaler on nodes that it will remove.
constexpr std::string_view kToBeDeleted = "ToBeDeletedByClusterAutoscaler";

CacheOptions OnlyNode(const std::string& name) {
  CacheOptions options;
  CacheScope scope;
  scope.fields = *fields::Selector::Parse("metadata.name=" + name);
  options.by_resource.emplace_back(Resource::Of<Node>(), std::move(scope));
  return options;
}

}  // namespace

NodeFacts PodFactsOf(const Node& node) {
  NodeFacts facts;
  const auto zone = node.metadata.labels.find(kZoneLabel);
  if (zone != node.metadata.labels.end()) facts.zone = zone->second;
  for (const core::v1::NodeAddress& address : node.status.addresses) {
    if (address.type != "InternalIP") continue;
    if (const auto parsed = Address::Parse(address.address)) facts.addresses.push_back(*parsed);
  }
  facts.eligible = !node.metadata.deletionTimestamp;
  for (const core::v1::Taint& taint : node.spec.taints) {
    if (taint.key == kToBeDeleted) facts.eligible = false;
  }
  return facts;
}

NodeWatch::NodeWatch(const Context& ctx, Client& client, const std::string& name,
                     std::function<void(const NodeFacts& facts)> changed)
    : cache_(Cache::Create(ctx, client, OnlyNode(name))),
      handle_(cache_->InformerOf<Node>().shared().AddHandler(
          [changed = std::move(changed)](const Delta& delta) {
            // A deleted Node keeps its last facts, so that the rules stay.
            if (delta.after != nullptr) changed(PodFactsOf(*As<Node>(delta.after)));
          })) {}

}  // namespace cox::proxy
