// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/service_account/bound_objects.h"

#include "api/core/v1.h"
#include "apiserver/filters/authn/service_account/tokens.h"

namespace cox::apiserver {
namespace {

enum class Found : uint8_t { kGood, kMissing, kDeleted, kOtherUid };

struct BoundObject {
  Found found = Found::kMissing;
  std::string uid;  // of the existing object, if it differs
};

// Whether the object with that uid is in the cache, and not deleted before the leeway.
BoundObject FindBoundObject(const ResourceStore& store, std::string_view ns,
                            const ObjectClaim& claim, int64_t now,
                            std::atomic<storage::Revision>& known_good) {
  const storage::SnapshotPtr snapshot =
      store.cache() == nullptr ? nullptr : store.cache()->Current();
  const storage::EntryPtr entry =
      snapshot == nullptr ? nullptr : snapshot->Find(store.Key(ns, claim.name));
  if (entry == nullptr) return {};
  if (entry->revision() == known_good.load(std::memory_order_relaxed)) return {Found::kGood, {}};
  const Result<Object> object = store.Decode(entry->stored(), entry->revision());
  if (!object.ok()) return {};
  const meta::v1::ObjectMeta& meta = *object->object_meta();
  if (meta.uid != claim.uid) return {Found::kOtherUid, meta.uid};
  if (meta.deletionTimestamp) {
    // Not cached, because the result changes as time passes.
    const bool long_ago = meta.deletionTimestamp->unix_seconds() < now - kTokenLeewaySeconds;
    return {long_ago ? Found::kDeleted : Found::kGood, {}};
  }
  known_good.store(entry->revision(), std::memory_order_relaxed);
  return {Found::kGood, {}};
}

Status Refused(std::string why) { return Status(Reason::kUnauthorized, std::move(why)); }

Status CheckBound(const BoundObject& bound_object, const ObjectClaim& claim,
                  const std::string& kind) {
  switch (bound_object.found) {
    case Found::kGood:
      return {};
    case Found::kOtherUid:
      return Refused(kind + " UID (" + bound_object.uid + ") does not match service account " +
                     kind + " ref claim (" + claim.uid + ")");
    default:
      return Refused("service account token has been invalidated");
  }
}

}  // namespace

BoundObjects::BoundObjects(const Registry& registry)
    : accounts_(registry.Hub(core::v1::ServiceAccount::kKind).store()),
      pods_(registry.Hub(core::v1::Pod::kKind).store()),
      secrets_(registry.Hub(core::v1::Secret::kKind).store()),
      nodes_(registry.Hub(core::v1::Node::kKind).store()) {}

Status BoundObjects::Check(const ServiceAccountClaims& claims, int64_t now, Memory& memory) const {
  const BoundObject account =
      FindBoundObject(accounts_, claims.ns, claims.account, now, memory.account);
  switch (account.found) {
    case Found::kGood:
      break;
    case Found::kMissing:
      return Refused(NotFoundError(accounts_.resource(), claims.account.name).message());
    case Found::kDeleted:
      return Refused("service account " + claims.ns + "/" + claims.account.name +
                     " has been deleted");
    case Found::kOtherUid:
      return Refused("service account UID (" + account.uid + ") does not match claim (" +
                     claims.account.uid + ")");
  }
  if (claims.secret) {
    return CheckBound(FindBoundObject(secrets_, claims.ns, *claims.secret, now, memory.bound),
                      *claims.secret, "secret");
  }
  if (claims.pod) {
    return CheckBound(FindBoundObject(pods_, claims.ns, *claims.pod, now, memory.bound),
                      *claims.pod, "pod");
  }
  if (claims.node) {
    return CheckBound(FindBoundObject(nodes_, "", *claims.node, now, memory.bound), *claims.node,
                      "node");
  }
  return {};
}

}  // namespace cox::apiserver
