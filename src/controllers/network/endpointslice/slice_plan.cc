// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "controllers/network/services/service_endpoint.h"
#include "object/owner.h"
#include "object/type/equal.h"

namespace cox::controllers {
namespace {

using core::v1::Service;
using discovery::v1::Endpoint;
using discovery::v1::EndpointSlice;

// Returns the Service's labels and those that this controller sets.
Map<std::string> LabelsFor(const Service& service) {
  Map<std::string> labels = service.metadata.labels;
  labels.erase(kHeadlessLabel);
  if (IsHeadless(service)) labels[kHeadlessLabel] = "";
  labels[kServiceNameLabel] = service.metadata.name;
  labels[kManagedByLabel] = std::string(kManagedByUs);
  return labels;
}

EndpointSlice NewSlice(const Service& service, const std::string& family,
                       const List<discovery::v1::EndpointPort>& ports) {
  EndpointSlice slice;
  slice.metadata.generateName = service.metadata.name + "-";
  slice.metadata.namespace_ = service.metadata.namespace_;
  slice.metadata.labels = LabelsFor(service);
  slice.metadata.ownerReferences = {ControllerRef(Service::kKind, service.metadata)};
  slice.addressType = family;
  slice.ports = ports;
  return slice;
}

// Identifies an endpoint across updates.
std::string IdentityOf(const Endpoint& endpoint) {
  std::string id = endpoint.addresses.empty() ? "" : endpoint.addresses.front();
  if (endpoint.targetRef) id += '|' + endpoint.targetRef->uid;
  return id;
}

// A slice of one group during planning.
struct Draft {
  SlicePtr before;
  List<Endpoint> endpoints;
  bool changed = false;

  size_t room() const {
    return endpoints.size() < kMaxEndpointsPerSlice ? kMaxEndpointsPerSlice - endpoints.size() : 0;
  }
  // Takes endpoints from the back of `waiting`.
  void Fill(List<Endpoint>& waiting) {
    while (!waiting.empty() && endpoints.size() < kMaxEndpointsPerSlice) {
      endpoints.push_back(std::move(waiting.back()));
      waiting.pop_back();
      changed = true;
    }
  }
};

// Step 1. Returns the endpoints that are in no slice yet.
List<Endpoint> KeepInPlace(std::vector<Draft>& drafts, List<Endpoint> wanted) {
  std::unordered_map<std::string, size_t> by_identity;
  for (size_t i = 0; i < wanted.size(); ++i) by_identity.emplace(IdentityOf(wanted[i]), i);
  std::vector<bool> placed(wanted.size(), false);
  for (Draft& draft : drafts) {
    for (const Endpoint& old : draft.before->endpoints) {
      const auto found = by_identity.find(IdentityOf(old));
      if (found == by_identity.end() || placed[found->second]) {
        draft.changed = true;
        continue;
      }
      placed[found->second] = true;
      draft.changed = draft.changed || !DeepEqual(old, wanted[found->second]);
      draft.endpoints.push_back(wanted[found->second]);
    }
  }
  List<Endpoint> waiting;
  for (size_t i = wanted.size(); i-- > 0;) {  // backwards, as Fill takes from the back
    const bool first_of_its_kind = by_identity.at(IdentityOf(wanted[i])) == i;
    if (!placed[i] && first_of_its_kind) waiting.push_back(std::move(wanted[i]));
  }
  return waiting;
}

// Step 2. Leaves in `waiting` the endpoints that need new slices.
void FillDrafts(std::vector<Draft>& drafts, List<Endpoint>& waiting) {
  for (Draft& draft : drafts) {
    if (draft.changed) draft.Fill(waiting);
  }
  while (!waiting.empty() && waiting.size() < kMaxEndpointsPerSlice) {
    Draft* best = nullptr;  // least room that is enough
    for (Draft& draft : drafts) {
      if (draft.room() < waiting.size()) continue;
      if (best == nullptr || draft.room() < best->room()) best = &draft;
    }
    if (best == nullptr) return;
    best->Fill(waiting);
  }
}

// Returns whether the slice has the right labels and controller reference.
bool HasHead(const EndpointSlice& slice, const Service& service, const Map<std::string>& labels) {
  return slice.metadata.labels == labels && IsControlledBy(slice.metadata, service.metadata.uid);
}

void SetHead(const Service& service, const Map<std::string>& labels, EndpointSlice& slice) {
  slice.metadata.labels = labels;
  if (!IsControlledBy(slice.metadata, service.metadata.uid)) {
    slice.metadata.ownerReferences = {ControllerRef(Service::kKind, service.metadata)};
  }
}

class Planner {
 public:
  explicit Planner(const Service& service) : service_(service), labels_(LabelsFor(service)) {}

  void PlanGroup(const GroupKey& key, EndpointGroup group, const std::vector<SlicePtr>& slices) {
    std::vector<Draft> drafts;
    drafts.reserve(slices.size());
    for (const SlicePtr& slice : slices) drafts.push_back({.before = slice, .endpoints = {}});
    const bool placeholder = group.endpoints.empty();
    List<Endpoint> waiting = KeepInPlace(drafts, std::move(group.endpoints));
    FillDrafts(drafts, waiting);
    while (!waiting.empty() || (placeholder && drafts.empty())) {
      Draft fresh{.before = nullptr, .endpoints = {}, .changed = true};
      fresh.Fill(waiting);
      drafts.push_back(std::move(fresh));
    }
    bool keep_one = placeholder;
    for (Draft& draft : drafts) {
      if (draft.endpoints.empty() && !keep_one) {
        plan_.remove.push_back(draft.before);
      } else {
        keep_one = false;
        Write(key, group.ports, std::move(draft));
      }
    }
  }
  void Remove(SlicePtr slice) { plan_.remove.push_back(std::move(slice)); }
  SlicePlan Take() {
    ReuseRemoved();
    return std::move(plan_);
  }

 private:
  void Write(const GroupKey& key, const List<discovery::v1::EndpointPort>& ports, Draft draft) {
    if (draft.before == nullptr) {
      EndpointSlice slice = NewSlice(service_, key.first, ports);
      slice.endpoints = std::move(draft.endpoints);
      plan_.create.push_back(std::move(slice));
    } else if (draft.changed || !HasHead(*draft.before, service_, labels_)) {
      EndpointSlice slice = *draft.before;
      SetHead(service_, labels_, slice);
      slice.endpoints = std::move(draft.endpoints);
      plan_.update.push_back(std::move(slice));
    }
  }
  // A slice to be removed is reused for one to be created: one write instead of two.
  void ReuseRemoved() {
    for (auto fresh = plan_.create.begin(); fresh != plan_.create.end();) {
      const auto old = std::find_if(
          plan_.remove.begin(), plan_.remove.end(),
          [&](const SlicePtr& slice) { return slice->addressType == fresh->addressType; });
      if (old == plan_.remove.end()) {
        ++fresh;
        continue;
      }
      EndpointSlice slice = **old;
      SetHead(service_, labels_, slice);
      slice.endpoints = std::move(fresh->endpoints);
      slice.ports = std::move(fresh->ports);
      plan_.update.push_back(std::move(slice));
      plan_.remove.erase(old);
      fresh = plan_.create.erase(fresh);
    }
  }

  const Service& service_;
  const Map<std::string> labels_;
  SlicePlan plan_;
};

}  // namespace

SlicePlan PlanSlices(const Service& service, const std::vector<SlicePtr>& existing,
                     EndpointGroups groups) {
  for (const std::string& family : service.spec.ipFamilies) {
    const bool any = std::any_of(groups.begin(), groups.end(), [&family](const auto& group) {
      return group.first.first == family;
    });
    // The placeholder has no ports, because there is no Pod to resolve them.
    if (!any) groups[{family, ""}];
  }
  return PlanGroups(service, existing, std::move(groups));
}

SlicePlan PlanGroups(const Service& service, const std::vector<SlicePtr>& existing,
                     EndpointGroups groups) {
  std::map<GroupKey, std::vector<SlicePtr>> slices;
  for (const SlicePtr& slice : existing) {
    slices[{slice->addressType, PortsKey(slice->ports)}].push_back(slice);
  }
  Planner planner(service);
  for (auto& [key, group] : groups) {
    const auto found = slices.find(key);
    planner.PlanGroup(key, std::move(group),
                      found == slices.end() ? std::vector<SlicePtr>() : found->second);
    if (found != slices.end()) slices.erase(found);
  }
  for (auto& [key, unwanted] : slices) {
    for (SlicePtr& slice : unwanted) planner.Remove(std::move(slice));
  }
  return planner.Take();
}

Time TriggerTime(const Service& service, const std::vector<SlicePtr>& existing,
                 const SlicePlan& plan,
                 const std::vector<std::shared_ptr<const core::v1::Pod>>& pods) {
  if (existing.empty()) return service.metadata.creationTimestamp;
  // Endpoints that were in a slice unchanged did not cause the change.
  std::unordered_map<std::string, const Endpoint*> before;
  for (const SlicePtr& slice : existing) {
    for (const Endpoint& endpoint : slice->endpoints) {
      if (endpoint.targetRef) before[endpoint.targetRef->uid] = &endpoint;
    }
  }
  std::set<std::string> changed;
  const auto note = [&](const EndpointSlice& slice) {
    for (const Endpoint& endpoint : slice.endpoints) {
      if (!endpoint.targetRef) continue;
      const auto old = before.find(endpoint.targetRef->uid);
      if (old == before.end() || !DeepEqual(*old->second, endpoint)) {
        changed.insert(endpoint.targetRef->uid);
      }
    }
  };
  std::for_each(plan.create.begin(), plan.create.end(), note);
  std::for_each(plan.update.begin(), plan.update.end(), note);
  Time earliest;
  for (const auto& pod : pods) {
    if (!changed.contains(pod->metadata.uid)) continue;
    const Time since = ReadinessSince(*pod);
    if (!since.IsZero() && (earliest.IsZero() || since < earliest)) earliest = since;
  }
  return earliest;
}

void StampTriggerTime(const Time& time, SlicePlan& plan) {
  const auto stamp = [&time](EndpointSlice& slice) {
    if (time.IsZero()) {
      slice.metadata.annotations.erase(kTriggerTimeAnnotation);
    } else {
      slice.metadata.annotations[kTriggerTimeAnnotation] = time.ToString();
    }
  };
  std::for_each(plan.create.begin(), plan.create.end(), stamp);
  std::for_each(plan.update.begin(), plan.update.end(), stamp);
}

}  // namespace cox::controllers
