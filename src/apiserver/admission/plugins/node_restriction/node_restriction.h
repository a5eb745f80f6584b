// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "apiserver/admission/admission_parts.h"

namespace cox::apiserver {

// Keeps what nodes write to what is theirs: their Node without the labels, taints and owners that
// steer workloads, Pods that run on them, their lease, CSINode, ResourceSlices and certificate
// requests, the sizes of claims, and tokens bound to their Pods. The Node authorizer lets them
// through by names; here the objects are seen.
//
// Only about users that are nodes (see NodeNameOf). Objects are judged as they come in, before
// other plugins change them: what a node did not ask for is not its fault. Threads: all methods may
// be called concurrently; they may block for storage.
class NodeRestriction final : public AdmissionPlugin {
 public:
  // What `parts` refers to outlives it.
  explicit NodeRestriction(const AdmissionParts& parts) : parts_(parts) {}

  std::string_view name() const override { return "NodeRestriction"; }
  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override;
  // Deletions come only here.
  Status Validate(Context& ctx, const AdmissionRequest& request) const override;

 private:
  // What one rule looks at: the node that asks, and for what.
  struct Ask {
    Context& ctx;
    std::string_view node;
    const AdmissionRequest& request;
  };
  Status Check(Context& ctx, const AdmissionRequest& request) const;
  Status CheckNode(const Ask& ask) const;
  Status CheckClaim(const Ask& ask) const;
  Status CheckLease(const Ask& ask) const;
  Status CheckCsiNode(const Ask& ask) const;
  Status CheckSlice(const Ask& ask) const;
  Status CheckCertificateRequest(const Ask& ask) const;
  // pods.cc
  Status CheckPod(const Ask& ask) const;
  Status CheckNewPod(const Ask& ask) const;
  Status CheckMirrorOwner(const Ask& ask, const core::v1::Pod& pod) const;
  Status CheckPodStatus(const Ask& ask) const;
  Status CheckEviction(const Ask& ask) const;
  // tokens.cc
  Status CheckToken(const Ask& ask) const;
  Status CheckAudience(const Ask& ask, const List<std::string>& audiences,
                       const core::v1::Pod& pod) const;
  Result<bool> UsesAudience(const Ask& ask, const core::v1::Pod& pod,
                            const std::string& audience) const;
  // The CSI driver of a claim's volume; empty while it has none.
  Result<std::string> DriverOfClaim(const Ask& ask, const std::string& claim) const;

  // Forbidden, in the words of the API.
  static Status Refuse(const Ask& ask, std::string_view why);
  // Of any operation that the rule does not know.
  static Status RefuseOperation(const Ask& ask, std::string_view allowed = {});
  // From the cache; one that was created just now from storage.
  Result<Object> Find(const Ask& ask, const KindInfo& kind, std::string_view ns,
                      std::string_view name) const;

  const AdmissionParts parts_;
};

std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts);

}  // namespace cox::apiserver
