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

// If a namespace is younger than this and has no LimitRange in the cache, storage is read: scripts
// often create a namespace, a LimitRange and Pods in immediate succession.
constexpr int64_t kYoungSeconds = 30;

// Defaults and enforces the LimitRanges of the namespace for Pods and PersistentVolumeClaims.
class LimitRanger final : public AdmissionPlugin {
 public:
  explicit LimitRanger(const Registry& registry)
      : ranges_(registry.Hub(LimitRange::kKind).store()),
        namespaces_(registry.Hub(core::v1::Namespace::kKind).store()) {}

  std::string_view name() const override { return "LimitRanger"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    // Defaults apply to new Pods only: resources of existing containers cannot be changed by an
    // update.
    Pod* pod = object.As<Pod>();
    if (pod == nullptr || request.operation != Operation::kCreate || !Concerns(request)) return {};
    COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr ranges, FreshRanges(ctx, request.ns));
    return Visit(*ranges, request.ns, [&](const LimitRange& range) {
      limit_ranger::ApplyDefaults(range, *pod);
      return Status();
    });
  }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.object == nullptr || !Concerns(request)) return {};
    const Pod* pod = request.object->As<Pod>();
    const auto* claim = request.object->As<PersistentVolumeClaim>();
    // For a new Pod, Mutate has already refreshed the cache.
    COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr ranges,
                         pod != nullptr ? CurrentRanges() : FreshRanges(ctx, request.ns));
    return Visit(*ranges, request.ns, [&](const LimitRange& range) {
      const limit_ranger::Violations violations = pod != nullptr
                                                      ? limit_ranger::CheckPod(range, *pod)
                                                      : limit_ranger::CheckClaim(range, *claim);
      if (violations.empty()) return Status();
      return ForbiddenError(request.resource.resource(), request.name,
                            limit_ranger::JoinViolations(violations));
    });
  }

 private:
  // New Pods, resized Pods, new and updated claims.
  static bool Concerns(const AdmissionRequest& request) {
    const bool creates = request.operation == Operation::kCreate;
    if (!creates && request.operation != Operation::kUpdate) return false;
    // It must be possible to remove finalizers from an object that is being deleted.
    if (request.old != nullptr && request.old->object_meta()->deletionTimestamp) return false;
    const KindInfo& kind = request.resource.kind();
    if (&kind == &Pod::kKind) {
      return creates ? request.subresource.empty() : request.subresource == "resize";
    }
    return &kind == &PersistentVolumeClaim::kKind && request.subresource.empty();
  }

  // Visits each range of the namespace until `visit` returns an error.
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

  // Reads from storage if the cache may lack a recently created range.
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
