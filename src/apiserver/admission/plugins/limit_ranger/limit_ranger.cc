// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/limit_ranger/limit_ranger.h"

#include <functional>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/limit_ranger/limits.h"
#include "apiserver/request/now.h"

namespace cox::apiserver {
namespace {

using core::v1::LimitRange;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;

// In a namespace as young as this, having no LimitRange may mean that the cache has not seen it
// yet: namespaces are set up by scripts that create one after the other.
constexpr int64_t kYoungSeconds = 30;

// Pods and claims stay within the LimitRanges of their namespace.
class LimitRanger final : public AdmissionPlugin {
 public:
  explicit LimitRanger(const Registry& registry)
      : ranges_(registry.Hub(LimitRange::kKind).store()),
        namespaces_(registry.Hub(core::v1::Namespace::kKind).store()) {}

  std::string_view name() const override { return "LimitRanger"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    // Only what is new is given defaults: containers that are there cannot be changed that way.
    Pod* pod = object.As<Pod>();
    if (pod == nullptr || request.operation != Operation::kCreate || !Concerns(request)) return {};
    COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr ranges, FreshRanges(ctx, request.ns));
    return Visit(*ranges, request.ns, [&](const LimitRange& range) {
      limit_ranger::GiveDefaults(range, *pod);
      return Status();
    });
  }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.object == nullptr || !Concerns(request)) return {};
    const Pod* pod = request.object->As<Pod>();
    const auto* claim = request.object->As<PersistentVolumeClaim>();
    // A new Pod's have been read freshly for its defaults, into the same cache.
    COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr ranges,
                         pod != nullptr ? CurrentRanges() : FreshRanges(ctx, request.ns));
    return Visit(*ranges, request.ns, [&](const LimitRange& range) {
      const limit_ranger::Complaints complaints = pod != nullptr
                                                      ? limit_ranger::CheckPod(range, *pod)
                                                      : limit_ranger::CheckClaim(range, *claim);
      if (complaints.empty()) return Status();
      return ForbiddenError(request.resource.resource(), request.name,
                            limit_ranger::Together(complaints));
    });
  }

 private:
  // New Pods, Pods whose amounts change, new and changed claims.
  static bool Concerns(const AdmissionRequest& request) {
    const bool creates = request.operation == Operation::kCreate;
    if (!creates && request.operation != Operation::kUpdate) return false;
    // What is on its way out must be able to lose its finalizers.
    if (request.old != nullptr && request.old->object_meta()->deletionTimestamp) return false;
    const KindInfo& kind = request.resource.kind();
    if (&kind == &Pod::kKind) {
      return creates ? request.subresource.empty() : request.subresource == "resize";
    }
    return &kind == &PersistentVolumeClaim::kKind && request.subresource.empty();
  }

  // Each range of the namespace, until `visit` fails.
  Status Visit(const storage::Snapshot& ranges, const std::string& ns,
               const std::function<Status(const LimitRange&)>& visit) const {
    Status status;
    ranges.Visit(ranges_.Prefix(ns), {}, [&](const storage::EntryPtr& entry) {
      const Result<Object> object = ranges_.Decode(entry->stored(), entry->revision());
      status = object.ok() ? visit(*object->As<LimitRange>()) : object.status();
      return status.ok();
    });
    return status;
  }

  Result<storage::SnapshotPtr> CurrentRanges() const {
    storage::WatchCache* cache = ranges_.cache();
    storage::SnapshotPtr now = cache == nullptr ? nullptr : cache->Current();
    if (now == nullptr) return Status::Unavailable("limit ranges cannot be read yet");
    return now;
  }

  // As etcd has them, where the cache may lack one that matters.
  Result<storage::SnapshotPtr> FreshRanges(Context& ctx, const std::string& ns) const {
    COX_ASSIGN_OR_RETURN(storage::SnapshotPtr now, CurrentRanges());
    if (now->Count(ranges_.Prefix(ns)) > 0 || !IsYoung(ctx, ns)) return now;
    return ranges_.cache()->Read(ctx, {});
  }

  bool IsYoung(Context& ctx, const std::string& ns) const {
    const Result<Object> found = namespaces_.Get(ctx, "", ns, /*from_cache=*/true);
    if (!found.ok()) return true;
    const int64_t born = found->object_meta()->creationTimestamp.unix_seconds();
    return NowOf(ctx).unix_seconds() - born < kYoungSeconds;
  }

  const ResourceStore& ranges_;
  const ResourceStore& namespaces_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewLimitRanger(const AdmissionParts& parts) {
  return std::make_unique<LimitRanger>(parts.registry);
}

}  // namespace cox::apiserver
