// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "apiserver/admission/admission_parts.h"

namespace cox::apiserver {

// Restricts the writes of nodes to their own objects: their Node (except the labels, taints and
// owner references that control scheduling), Pods that run on them, their Lease, CSINode,
// ResourceSlices and CSRs, the size in the status of claims, and tokens bound to their Pods. The
// Node authorizer checks only names; this plugin checks the objects.
//
// Applies only to users that are nodes (see NodeNameOf). Objects are checked in Mutate, before
// other plugins change them, so that a node is not rejected for changes of other plugins.
// Threads: all methods may be called concurrently; they may block for storage.
class NodeRestriction final : public AdmissionPlugin {
 public:
  // Objects that `parts` refers to must outlive the plugin.
  explicit NodeRestriction(const AdmissionParts& parts) : parts_(parts) {}

  std::string_view name() const override { return "NodeRestriction"; }
  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override;
  // Checks deletes only, for which Mutate is not called.
  Status Validate(Context& ctx, const AdmissionRequest& request) const override;

 private:
  // The input of a rule: the requesting node and its request.
  struct NodeRequest {
    Context& ctx;
    std::string_view node;
    const AdmissionRequest& request;
  };
  Status Check(Context& ctx, const AdmissionRequest& request) const;
  Status CheckNode(const NodeRequest& node_request) const;
  Status CheckClaim(const NodeRequest& node_request) const;
  Status CheckLease(const NodeRequest& node_request) const;
  Status CheckCsiNode(const NodeRequest& node_request) const;
  Status CheckSlice(const NodeRequest& node_request) const;
  Status CheckCertificateRequest(const NodeRequest& node_request) const;
  // pods.cc
  Status CheckPod(const NodeRequest& node_request) const;
  Status CheckNewPod(const NodeRequest& node_request) const;
  Status CheckMirrorOwner(const NodeRequest& node_request, const core::v1::Pod& pod) const;
  Status CheckPodStatus(const NodeRequest& node_request) const;
  Status CheckEviction(const NodeRequest& node_request) const;
  // tokens.cc
  Status CheckToken(const NodeRequest& node_request) const;
  Status CheckAudience(const NodeRequest& node_request, const List<std::string>& audiences,
                       const core::v1::Pod& pod) const;
  Result<bool> UsesAudience(const NodeRequest& node_request, const core::v1::Pod& pod,
                            const std::string& audience) const;
  // The CSI driver of a claim's volume; empty if the claim is not bound.
  Result<std::string> DriverOfClaim(const NodeRequest& node_request,
                                    const std::string& claim) const;

  // A Forbidden error.
  static Status Deny(const NodeRequest& node_request, std::string_view why);
  // The error for an operation that the rule does not allow.
  static Status DenyOperation(const NodeRequest& node_request, std::string_view allowed = {});
  // Reads from the cache, or from storage if the object is not in the cache yet.
  Result<Object> Find(const NodeRequest& node_request, const KindInfo& kind, std::string_view ns,
                      std::string_view name) const;

  const AdmissionParts parts_;
};

std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts);

}  // namespace cox::apiserver
