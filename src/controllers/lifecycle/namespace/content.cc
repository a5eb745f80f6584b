// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/namespace/content.h"

#include <utility>
#include <vector>

namespace cox::controllers {
namespace {

const DeleteOptions kInBackground = {.propagation = Propagation::kBackground};
constexpr int64_t kPageSize = 500;

bool IsPods(const Resource& resource) {
  return resource.gvk.group.empty() && resource.plural == "pods";
}

// Gone already, or the resource does not support the verb that discovery reports.
bool IsNothing(const Status& status) {
  return status.Is(Reason::kNotFound) || status.Is(Reason::kMethodNotAllowed);
}

struct Listed {
  LeftOfResource left;
  std::vector<std::string> not_deleting;  // names
};

void Count(const Object& object, Listed& listed) {
  const meta::v1::ObjectMeta* meta = object.object_meta();
  if (meta == nullptr) return;
  ++listed.left.items;
  for (const std::string& finalizer : meta->finalizers) ++listed.left.by_finalizer[finalizer];
  if (!meta->deletionTimestamp) listed.not_deleting.push_back(meta->name);
  if (const auto* pod = object.As<core::v1::Pod>()) {
    listed.left.longest_grace = std::max(listed.left.longest_grace, GraceOf(*pod));
  }
}

Result<Listed> List(Context& ctx, Client& client, const Resource& resource, const std::string& ns) {
  Listed listed;
  const ListOptions options{.ns = ns, .page_size = kPageSize, .on_restart = [&] { listed = {}; }};
  const auto take = [&listed](const Object& object) {
    Count(object, listed);
    return Status();
  };
  // The grace period of Pods is in their spec, so metadata is not sufficient.
  const Status status = IsPods(resource)
                            ? client.ListEach(ctx, resource, options, take).status()
                            : client.ListMetadata(ctx, resource, options, take).status();
  if (!status.ok() && !IsNothing(status)) return status;
  return listed;
}

// Objects that are already being deleted are skipped: deleting them again changes nothing, and
// there may be thousands.
Status Delete(Context& ctx, Client& client, const ServedResource& served, const std::string& ns,
              const std::vector<std::string>& names) {
  if (served.Can("deletecollection")) {
    const Status status = client.DeleteAll(ctx, served.resource, {.ns = ns}, kInBackground);
    if (!status.Is(Reason::kMethodNotAllowed)) return IsNothing(status) ? Status() : status;
  }
  for (const std::string& name : names) {
    const Status status = client.Delete(ctx, served.resource, {ns, name}, kInBackground).status();
    if (!status.ok() && !IsNothing(status)) return status;
  }
  return {};
}

Result<LeftOfResource> Empty(Context& ctx, Client& client, const ServedResource& served,
                             const std::string& ns) {
  COX_ASSIGN_OR_RETURN(Listed before, List(ctx, client, served.resource, ns));
  if (before.not_deleting.empty()) return before.left;
  COX_RETURN_IF_ERROR(Delete(ctx, client, served, ns, before.not_deleting));
  COX_ASSIGN_OR_RETURN(const Listed after, List(ctx, client, served.resource, ns));
  return after.left;
}

}  // namespace

Remains DeleteContent(Context& ctx, Client& client, const std::string& ns) {
  Remains remains;
  const Result<ServedResources> served = DiscoverAll(ctx, client);
  if (!served.ok()) {
    remains.discovery_errors.push_back(served.status().message());
    return remains;
  }
  for (const auto& [version, why] : served->failed) {
    remains.discovery_errors.push_back(version.ToString() + ": " + why.message());
  }
  for (const bool pods : {true, false}) {
    for (const ServedResource& one : served->resources) {
      if (IsPods(one.resource) != pods || !one.preferred || !one.resource.namespaced ||
          !one.Can("delete") || !one.Can("list")) {
        continue;
      }
      const Result<LeftOfResource> left = Empty(ctx, client, one, ns);
      if (left.ok()) {
        CountIn(one.resource.gvr(), ns, *left, remains);
      } else {
        remains.deletion_errors.push_back(one.resource.ToString() + ": " + left.status().message());
      }
    }
    if (pods && (!remains.by_resource.empty() || !remains.deletion_errors.empty())) break;
  }
  return remains;
}

}  // namespace cox::controllers
