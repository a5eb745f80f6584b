// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_authorizer.h"

#include <gtest/gtest.h>

#include "apiserver/filters/authz/node/node_identity.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kNone = "no relationship found between node 'n1' and this object";

UserInfo User(std::string name, std::vector<std::string> groups = {"system:nodes"}) {
  return {.name = std::move(name), .uid = {}, .groups = std::move(groups), .extra = {}};
}

class NodeAuthorizerTest : public ::testing::Test {
 protected:
  NodeAuthorizerTest() {
    graph_.Put({NodeObject::kPod, "ns", "mine"}, "n1",
               {{NodeObject::kSecret, "ns", "s"},
                {NodeObject::kConfigMap, "ns", "m"},
                {NodeObject::kServiceAccount, "ns", "sa"},
                {NodeObject::kClaim, "ns", "c"},
                {NodeObject::kResourceClaim, "ns", "r"}});
    graph_.PutVolume("v", {NodeObject::kClaim, "ns", "c"}, {{NodeObject::kSecret, "csi", "key"}});
    graph_.Put({NodeObject::kAttachment, "", "va"}, "n1", {});
    graph_.Put({NodeObject::kSlice, "", "slice"}, "n1", {});
  }

  Decision MakeRequest(std::string_view method, std::string_view target,
                       const UserInfo& user = User("system:node:n1")) {
    const size_t query = target.find('?');
    const Query parsed =
        Query::Parse(query == target.npos ? std::string_view() : target.substr(query + 1));
    const std::string fields = parsed.Get("fieldSelector");
    return authorizer_.Authorize(user, *ParseRequestInfo(method, target, parsed), {fields, ""});
  }

  NodeGraph graph_;
  NodeAuthorizer authorizer_{graph_, BootstrapNodeRules()};
};

TEST_F(NodeAuthorizerTest, DecidesByRelatedObjectsWithReason) {
  constexpr std::string_view kAllow = "allowed";
  const struct {
    std::string_view method, target, want;  // "allowed", or the reason
  } kCases[] = {
      {"GET", "/api/v1/namespaces/ns/secrets/s", kAllow},
      {"GET", "/api/v1/namespaces/csi/secrets/key", kAllow},
      {"GET", "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds", kAllow},
      {"GET", "/api/v1/namespaces/ns/secrets?watch=1&fieldSelector=metadata.name%3Ds", kAllow},
      {"GET", "/api/v1/namespaces/ns/secrets/x", kNone},
      {"GET", "/api/v1/namespaces/ns/secrets", "No Object name found"},
      {"GET", "/api/v1/secrets", "can only read namespaced object of this type"},
      {"DELETE", "/api/v1/namespaces/ns/secrets/s", "can only read resources of this type"},
      {"GET", "/api/v1/namespaces/ns/secrets/s/x", "cannot read subresource"},
      {"GET", "/api/v1/namespaces/ns/configmaps/m", kAllow},
      {"GET", "/api/v1/namespaces/ns/configmaps/x", kNone},
      {"GET", "/api/v1/namespaces/ns/persistentvolumeclaims/c", kAllow},
      {"GET", "/api/v1/namespaces/ns/persistentvolumeclaims",
       "can only get individual resources of this type"},
      {"PATCH", "/api/v1/namespaces/ns/persistentvolumeclaims/c/status", kAllow},
      {"PATCH", "/api/v1/namespaces/ns/persistentvolumeclaims/x/status", kNone},
      {"GET", "/api/v1/namespaces/ns/persistentvolumeclaims/c/status",
       "can only get/update/patch this type"},
      {"GET", "/api/v1/persistentvolumes/v", kAllow},
      {"GET", "/api/v1/persistentvolumes/w", kNone},
      {"GET", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/r", kAllow},
      {"GET", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/x", kNone},
      {"GET", "/apis/storage.k8s.io/v1/volumeattachments/va", kAllow},
      {"GET", "/apis/storage.k8s.io/v1/volumeattachments/x", kNone},
      {"GET", "/apis/storage.k8s.io/v1/volumeattachments/va/status", "cannot get subresource"},
      {"GET", "/api/v1/namespaces/ns/serviceaccounts/sa", kAllow},
      {"GET", "/api/v1/namespaces/ns/serviceaccounts/x", kNone},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts/sa/token", kAllow},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts/x/token", kNone},
      {"GET", "/api/v1/namespaces/ns/serviceaccounts",
       "can only create tokens for individual service accounts"},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts/sa/x",
       "can only create token subresource of serviceaccount"},
      {"GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", kAllow},
      {"POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", kAllow},
      {"PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2",
       "can only access node lease with the same name as the requesting node"},
      {"PUT", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/n1",
       "can only access leases in the \"kube-node-lease\" system namespace"},
      {"GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
       "can only get, create, update, patch, or delete a node lease"},
      {"PUT", "/apis/storage.k8s.io/v1/csinodes/n1", kAllow},
      {"PUT", "/apis/storage.k8s.io/v1/csinodes/n2",
       "can only access CSINode with the same name as the requesting node"},
      {"PUT", "/apis/storage.k8s.io/v1/csinodes/n1/status",
       "cannot authorize CSINode subresources"},
      {"GET", "/apis/storage.k8s.io/v1/csinodes",
       "can only get, create, update, patch, or delete a CSINode"},
      {"POST", "/apis/resource.k8s.io/v1/resourceslices", kAllow},
      {"DELETE", "/apis/resource.k8s.io/v1/resourceslices/slice", kAllow},
      {"DELETE", "/apis/resource.k8s.io/v1/resourceslices/x", kNone},
      {"GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1", kAllow},
      {"DELETE", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1",
       kAllow},
      {"GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn2",
       "can only list/watch/deletecollection resourceslices with nodeName field selector"},
      {"GET", "/api/v1/nodes/n1", kAllow},
      {"GET", "/api/v1/nodes/n2", "node 'n1' cannot read 'n2', only its own Node object"},
      {"GET", "/api/v1/nodes", "node 'n1' cannot read all nodes, only its own Node object"},
      {"GET", "/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Dn1", kAllow},
      {"PATCH", "/api/v1/nodes/n2/status", kAllow},  // NodeRestriction checks that
      {"DELETE", "/api/v1/nodes/n1", ""},
      {"GET", "/api/v1/nodes/n1/proxy", ""},
      {"GET", "/api/v1/namespaces/ns/pods/mine", kAllow},
      {"GET", "/api/v1/namespaces/ns/pods/theirs", kNone},
      {"GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", kAllow},
      {"GET", "/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1",
       "can only list/watch pods with spec.nodeName field selector"},
      {"GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2",
       "can only list/watch pods with spec.nodeName field selector"},
      {"GET", "/api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dmine", kAllow},
      {"GET", "/api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dtheirs", kNone},
      {"POST", "/api/v1/namespaces/ns/pods/mine/eviction", kAllow},
      {"POST", "/api/v1/namespaces/ns/pods/mine/binding", ""},
      {"PUT", "/api/v1/namespaces/ns/pods/mine", ""},
      {"GET", "/api/v1/services", kAllow},  // from the role system:node
      {"DELETE", "/api/v1/namespaces/ns/services/s", ""},
      {"GET", "/metrics", ""},
  };
  for (const auto& c : kCases) {
    const Decision decision = MakeRequest(c.method, c.target);
    EXPECT_EQ(decision.allowed ? kAllow : std::string_view(decision.reason), c.want)
        << c.method << " " << c.target;
    EXPECT_FALSE(decision.denied);
  }
}

TEST_F(NodeAuthorizerTest, HasNoOpinionOnOtherUsers) {
  const std::string_view target = "/api/v1/namespaces/ns/secrets/s";
  for (const UserInfo& user :
       {User("system:node:n1", {}), User("system:node:n1", {"system:masters"}), User("n1"),
        User("system:nodes"), User("alice", {"system:authenticated"})}) {
    const Decision decision = MakeRequest("GET", target, user);
    EXPECT_FALSE(decision.allowed) << user.name;
    EXPECT_EQ(decision.reason, "") << user.name;
    EXPECT_FALSE(authorizer_.Rules(user, "ns").incomplete) << user.name;
  }
  EXPECT_EQ(MakeRequest("GET", target, User("system:node:")).reason,
            "unknown node for user \"system:node:\"");
  EXPECT_EQ(MakeRequest("GET", target, User("system:node:n2")).reason,
            "no relationship found between node 'n2' and this object");
}

TEST_F(NodeAuthorizerTest, RulesOfNodeAreIncomplete) {
  const UserRules rules = authorizer_.Rules(User("system:node:n1"), "ns");
  EXPECT_TRUE(rules.rules.empty());
  EXPECT_TRUE(rules.incomplete);
  EXPECT_EQ(rules.error, "node authorizer does not support user rule resolution");
}

}  // namespace
}  // namespace cox::apiserver
