// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"

#include "api/authentication/v1.h"
#include "api/certificates/v1.h"
#include "api/coordination/v1.h"
#include "api/policy/v1.h"
#include "api/resource/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/node_restriction/labels.h"
#include "apiserver/testing/test_certificates.h"
#include "apiserver/testing/write_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

template <class T>
T Read(std::string_view json) {
  Result<T> object = json::Decode<T>(json);
  EXPECT_TRUE(object.ok()) << object.status().message() << " in " << json;
  return object.ok() ? *object : T{};
}

// Allows token requests for the audience "vault".
class OneResource final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo& request, const Selectors&) const override {
    return {request.verb == "request-serviceaccounts-token-audience" && request.resource == "vault",
            {}};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }
};

class NodeRestrictionTest : public ::testing::Test {
 protected:
  NodeRestrictionTest() {
    user_.name = "system:node:n1";
    user_.groups = {"system:nodes"};
    node_uid_ = api_.Create(Object::Of(Read<core::v1::Node>(R"({"metadata":{"name":"n1"}})"))).uid;
    for (const auto& [name, node] : {std::pair("mine", "n1"), {"theirs", "n2"}}) {
      core::v1::Pod pod = PodOn(node);
      pod.metadata.name = name;
      pod.metadata.annotations = {};
      pod.metadata.ownerReferences.clear();
      pod.spec.serviceAccountName = "sa";
      pod.spec.volumes = Read<core::v1::PodSpec>(
                             R"({"volumes":[{"name":"t","projected":{"sources":[
               {"serviceAccountToken":{"path":"t","audience":"web"}},
               {"serviceAccountToken":{"path":"u"}}]}},
               {"name":"d","csi":{"driver":"d.example"}}]})")
                             .volumes;
      pod_uid_[name] = api_.Create(Object::Of(pod)).uid;
    }
    api_.Create(Object::Of(Read<cox::storage::v1::CSIDriver>(
        R"({"metadata":{"name":"d.example"},"spec":{"tokenRequests":[{"audience":"disk"}]}})")));
  }

  // The result of the plugin: "" if the request is allowed, otherwise the message after "is
  // forbidden: ".
  std::string Judge(const KindInfo& kind, Operation operation, const Object* object,
                    const Object* old, std::string subresource = {}, std::string name = {}) {
    const Object& one = object != nullptr ? *object : *old;
    AdmissionRequest request{.operation = operation,
                             .resource = api_.registry().Hub(kind),
                             .subresource = std::move(subresource),
                             .ns = one.object_meta()->namespace_,
                             .name = name.empty() ? one.object_meta()->name : name,
                             .user = user_,
                             .object = object,
                             .old = old};
    Object copy = one;
    const Status status = object == nullptr ? plugin_.Validate(api_.ctx(), request)
                                            : plugin_.Mutate(api_.ctx(), request, copy);
    const std::string& text = status.message();
    const size_t at = text.find("is forbidden: ");
    return at == text.npos ? text : text.substr(at + 14);
  }
  template <class T>
  std::string Create(const T& object) {
    const Object wrapped = Object::Of(object);
    return Judge(T::kKind, Operation::kCreate, &wrapped, nullptr);
  }
  template <class T>
  std::string Update(const T& old, const T& object, std::string subresource = {}) {
    const Object before = Object::Of(old), after = Object::Of(object);
    return Judge(T::kKind, Operation::kUpdate, &after, &before, std::move(subresource));
  }
  template <class T>
  std::string Delete(const T& object) {
    const Object old = Object::Of(object);
    return Judge(T::kKind, Operation::kDelete, nullptr, &old);
  }

  // A mirror Pod that its node may create.
  core::v1::Pod PodOn(const std::string& node) {
    core::v1::Pod pod = Read<core::v1::Pod>(
        R"({"metadata":{"name":"p","namespace":"default",
            "annotations":{"kubernetes.io/config.mirror":"x"}},
            "spec":{"containers":[{"name":"c","image":"i"}]}})");
    pod.spec.nodeName = node;
    meta::v1::OwnerReference owner;
    owner.apiVersion = "v1";
    owner.kind = "Node";
    owner.name = "n1";
    owner.uid = node_uid_;
    owner.controller = true;
    pod.metadata.ownerReferences.push_back(owner);
    return pod;
  }

  std::string Token(std::string_view spec) {
    auto request = Read<authentication::v1::TokenRequest>(R"({"metadata":{"namespace":"default"},
                                                             "spec":)" +
                                                          std::string(spec) + "}");
    const Object wrapped = Object::Of(request);
    return Judge(core::v1::ServiceAccount::kKind, Operation::kCreate, &wrapped, nullptr, "token",
                 "sa");
  }
  // The spec of a token request bound to one of the Pods.
  std::string Bound(const std::string& pod, const std::string& more = "") {
    return R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":")" + pod + R"(","uid":")" +
           pod_uid_[pod] + R"("})" + more + "}";
  }

  WriteHarness api_;
  const OneResource authorizer_;
  const NodeRestriction plugin_{{.registry = api_.registry(), .authorizer = authorizer_}};
  UserInfo user_;
  std::string node_uid_;
  std::map<std::string, std::string> pod_uid_;
};

TEST_F(NodeRestrictionTest, AppliesOnlyToNodes) {
  core::v1::Node other = Read<core::v1::Node>(R"({"metadata":{"name":"n2"}})");
  EXPECT_EQ(Create(other), "node \"n1\" is not allowed to modify node \"n2\"");
  user_.groups = {"system:authenticated"};
  EXPECT_EQ(Create(other), "");
  user_ = {.name = "system:node:", .uid = {}, .groups = {"system:nodes"}, .extra = {}};
  EXPECT_EQ(Create(other), "could not determine node from user \"system:node:\"");
}

TEST(NodeLabels, KubernetesDomainsAreRestrictedToKubeletLabels) {
  const struct {
    std::string_view label;
    bool forbidden;
  } kCases[] = {
      {"example.com/ok", false},
      {"plain", false},
      {"kubernetes.io/hostname", false},
      {"topology.kubernetes.io/zone", false},
      {"beta.kubernetes.io/os", false},
      {"kubelet.kubernetes.io/x", false},
      {"a.node.kubernetes.io/x", false},
      {"kubernetes.io/x", true},
      {"foo.kubernetes.io/x", true},
      {"node-role.kubernetes.io/control-plane", true},
      {"k8s.io/x", true},
      {"x.k8s.io/x", true},
      {"notk8s.io/x", false},
      {"node-restriction.kubernetes.io/x", true},
      {"a.node-restriction.kubernetes.io/x", true},
  };
  for (const auto& c : kCases) {
    Map<std::string> with;
    with[std::string(c.label)] = "v";
    EXPECT_EQ(!ForbiddenLabelChanges({}, with).empty(), c.forbidden) << c.label;
    EXPECT_EQ(!ForbiddenLabelChanges(with, {}).empty(), c.forbidden) << c.label;  // removal
    EXPECT_TRUE(ForbiddenLabelChanges(with, with).empty()) << c.label;
  }
}

TEST_F(NodeRestrictionTest, NodeMayUpdateItselfExceptForSchedulingFields) {
  const std::string me = "node \"n1\" is not allowed to ";
  const auto plain = Read<core::v1::Node>(R"({"metadata":{"name":"n1"}})");
  const struct {
    std::string_view json, on_create, on_update;
  } kCases[] = {
      {R"({"metadata":{"name":"n1","labels":{"a":"b"}}})", "", ""},
      {R"({"metadata":{"name":"n1","labels":{"k8s.io/b":"","kubernetes.io/a":""}}})",
       "node \"n1\" is not allowed to set the following labels: k8s.io/b, kubernetes.io/a",
       "is not allowed to modify labels: k8s.io/b, kubernetes.io/a"},
      {R"({"metadata":{"name":"n1"},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})", "",
       "node \"n1\" is not allowed to modify taints"},
      {R"({"metadata":{"name":"n1"},"spec":{"configSource":{}}})",
       "node \"n1\" is not allowed to create pods with a non-nil configSource",
       "node \"n1\" is not allowed to update configSource to a new non-nil configSource"},
  };
  for (const auto& c : kCases) {
    const auto node = Read<core::v1::Node>(c.json);
    EXPECT_EQ(Create(node), c.on_create) << c.json;
    EXPECT_EQ(Update(plain, node), c.on_update) << c.json;
    EXPECT_EQ(Update(plain, node, "status"), c.on_update) << c.json;  // same for status
    EXPECT_EQ(Update(node, node), "") << c.json;
  }
}

TEST_F(NodeRestrictionTest, CVE_2025_5187_NodeCannotSetItsOwnerReferences) {
  const auto plain = Read<core::v1::Node>(R"({"metadata":{"name":"n1"}})");
  auto owned = plain;
  owned.metadata.ownerReferences.resize(1);
  owned.metadata.ownerReferences[0].name = "gone";
  const std::string refused = "node \"n1\" is not allowed to modify ownerReferences";
  EXPECT_EQ(Update(plain, owned), refused);
  EXPECT_EQ(Update(plain, owned, "status"), refused);
  EXPECT_EQ(Update(owned, plain), refused);
  EXPECT_EQ(Create(owned), refused);
  EXPECT_EQ(Update(owned, owned), "");
}

TEST_F(NodeRestrictionTest, NodeMayCreateOnlyItsOwnMirrorPods) {
  EXPECT_EQ(Create(PodOn("n1")), "");
  const std::string me = "node \"n1\" ";
  using Change = std::function<void(core::v1::Pod&)>;
  const std::pair<Change, std::string> kCases[] = {
      {[](auto& pod) { pod.metadata.annotations = {}; },
       "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n1\" can only create "
       "mirror pods"},
      {[](auto& pod) { pod.spec.nodeName = "n2"; },
       me + "can only create pods with spec.nodeName set to itself"},
      {[](auto& pod) { pod.metadata.ownerReferences.clear(); },
       me + "can only create pods with an owner reference set to itself"},
      {[](auto& pod) { pod.metadata.ownerReferences.resize(2); },
       me + "can only create pods with a single owner reference set to itself"},
      {[](auto& pod) { pod.metadata.ownerReferences[0].name = "n2"; },
       me + "can only create pods with an owner reference set to itself"},
      {[](auto& pod) { pod.metadata.ownerReferences[0].controller.reset(); },
       me + "can only create pods with a controller owner reference set to itself"},
      {[](auto& pod) { pod.metadata.ownerReferences[0].blockOwnerDeletion = true; },
       me + "must not set blockOwnerDeletion on an owner reference"},
      {[](auto& pod) { pod.metadata.ownerReferences[0].uid = "u"; },
       "node n1 UID mismatch: expected u got " + node_uid_},
  };
  for (const auto& [change, want] : kCases) {
    core::v1::Pod pod = PodOn("n1");
    change(pod);
    EXPECT_EQ(Create(pod), want);
  }
  user_.name = "system:node:n3";  // a node that is not registered
  core::v1::Pod pod = PodOn("n3");
  pod.metadata.ownerReferences[0].name = "n3";
  EXPECT_EQ(Create(pod), "nodes \"n3\" not found");
}

TEST_F(NodeRestrictionTest, MirrorPodMustNotReferenceApiObjects) {
  const struct {
    std::string_view spec, what;
  } kCases[] = {
      {R"({"serviceAccountName":"sa"})", "serviceaccounts"},
      {R"({"imagePullSecrets":[{"name":"s"}]})", "secrets"},
      {R"({"ephemeralContainers":[{"envFrom":[{"secretRef":{"name":"s"}}]}]})", "secrets"},
      {R"({"initContainers":[{"envFrom":[{"configMapRef":{"name":"m"}}]}]})", "configmaps"},
      {R"({"volumes":[{"name":"v","secret":{}}]})", "secrets (via secret volumes)"},
      {R"({"volumes":[{"name":"v","configMap":{}}]})", "configmaps (via configmap volumes)"},
      {R"({"volumes":[{"name":"v","csi":{"driver":"d"}}]})", "csidrivers (via CSI volumes)"},
      {R"({"volumes":[{"name":"v","glusterfs":{}}]})", "endpoints (via glusterFS volumes)"},
      {R"({"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]})",
       "persistentvolumeclaims"},
      {R"({"volumes":[{"name":"v","ephemeral":{}}]})",
       "persistentvolumeclaims (via ephemeral volumes)"},
      {R"({"volumes":[{"name":"v","azureFile":{}}]})", "secrets (via azureFile volumes)"},
      {R"({"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{}}]}}]})",
       "serviceaccounts (via projected volumes)"},
      {R"({"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{}}]}}]})",
       "clustertrustbundles"},
      {R"({"volumes":[{"name":"v","projected":{"sources":[{"podCertificate":{}}]}}]})",
       "podcertificates"},
      {R"({"volumes":[{"name":"v"}]})", "an unknown type of volume \"v\""},
      {R"({"volumes":[{"name":"v","hostPath":{}},{"name":"w","emptyDir":{}},
           {"name":"x","projected":{"sources":[{"downwardAPI":{}}]}}]})",
       ""},
  };
  for (const auto& c : kCases) {
    core::v1::Pod pod = PodOn("n1");
    pod.spec = Read<core::v1::PodSpec>(c.spec);
    pod.spec.nodeName = "n1";
    const std::string want =
        c.what.empty() ? ""
                       : "node \"n1\" can not create pods that reference " + std::string(c.what);
    EXPECT_EQ(Create(pod), want) << c.spec;
  }
}

TEST_F(NodeRestrictionTest, CVE_2025_4563_ResourceClaimsAreRejectedOnCreateAndStatusUpdate) {
  const std::string refused = "node \"n1\" can not create pods that reference resourceclaims";
  core::v1::Pod in_spec = PodOn("n1");
  in_spec.spec.resourceClaims.resize(1);
  EXPECT_EQ(Create(in_spec), refused);
  core::v1::Pod in_status = PodOn("n1");
  in_status.status.resourceClaimStatuses.resize(1);
  EXPECT_EQ(Create(in_status), refused);
  core::v1::Pod extended = PodOn("n1");
  extended.status.extendedResourceClaimStatus = core::v1::PodExtendedResourceClaimStatus{};
  EXPECT_EQ(Create(extended), refused);
  EXPECT_EQ(Update(PodOn("n1"), in_status, "status"),
            "node \"n1\" cannot update resource claim statues");
  EXPECT_EQ(Update(PodOn("n1"), extended, "status"),
            "node \"n1\" cannot update extended resource claim status");
  EXPECT_EQ(Update(in_status, in_status, "status"), "");
}

TEST_F(NodeRestrictionTest, NodeMayUpdateStatusDeleteAndEvictItsPods) {
  core::v1::Pod mine = PodOn("n1"), theirs = PodOn("n2"), labelled = PodOn("n1");
  labelled.metadata.labels["a"] = "b";
  core::v1::Pod running = mine;
  running.status.phase = "Running";
  EXPECT_EQ(Update(mine, running, "status"), "");
  EXPECT_EQ(Update(theirs, theirs, "status"),
            "node \"n1\" can only update pod status for pods with spec.nodeName set to itself");
  EXPECT_EQ(Update(mine, labelled, "status"),
            "node \"n1\" cannot update labels through pod status");
  EXPECT_EQ(Update(mine, running),
            "unexpected operation \"UPDATE\", node \"n1\" can only create and delete mirror pods");
  EXPECT_EQ(Update(mine, running, "ephemeralcontainers"),
            "unexpected pod subresource \"ephemeralcontainers\", only 'status' and 'eviction' are "
            "allowed");
  EXPECT_EQ(Delete(mine), "");
  EXPECT_EQ(Delete(theirs), "node \"n1\" can only delete pods with spec.nodeName set to itself");

  auto evict = [&](const std::string& name) {
    policy::v1::Eviction eviction;
    eviction.metadata.name = name;
    eviction.metadata.namespace_ = "default";
    const Object wrapped = Object::Of(eviction);
    return Judge(core::v1::Pod::kKind, Operation::kCreate, &wrapped, nullptr, "eviction");
  };
  EXPECT_EQ(evict("mine"), "");
  EXPECT_EQ(evict("theirs"), "node n1 can only evict pods with spec.nodeName set to itself");
  EXPECT_EQ(evict("nobody"), "pods \"nobody\" not found");
}

TEST_F(NodeRestrictionTest, NodeMayUpdateOnlyTheResizeStatusOfClaims) {
  auto claim = Read<core::v1::PersistentVolumeClaim>(R"({"metadata":{"name":"c"}})");
  auto larger = claim;
  larger.status.capacity["storage"] = *Quantity::Parse("2Gi");
  larger.status.conditions.resize(1);
  larger.metadata.resourceVersion = "7";
  EXPECT_EQ(Update(claim, larger, "status"), "");
  EXPECT_EQ(Update(claim, larger), "may only update PVC status");
  const std::string refused =
      "node \"n1\" is not allowed to update fields other than status.quantity and "
      "status.conditions";
  auto labelled = claim;
  labelled.metadata.labels["a"] = "b";
  EXPECT_EQ(Update(claim, labelled, "status"), refused);
  auto bound = claim;
  bound.status.phase = "Bound";
  EXPECT_EQ(Update(claim, bound, "status"), refused);
}

TEST_F(NodeRestrictionTest, NodeMayWriteOnlyItsLeaseCsiNodeAndSlices) {
  auto lease =
      Read<coordination::v1::Lease>(R"({"metadata":{"name":"n1","namespace":"kube-node-lease"}})");
  EXPECT_EQ(Create(lease), "");
  lease.metadata.name = "n2";
  EXPECT_EQ(Create(lease), "can only access node lease with the same name as the requesting node");
  lease.metadata.namespace_ = "default";
  EXPECT_EQ(Update(lease, lease),
            "can only access leases in the \"kube-node-lease\" system namespace");
  EXPECT_EQ(Create(Read<cox::storage::v1::CSINode>(R"({"metadata":{"name":"n1"}})")), "");
  EXPECT_EQ(Create(Read<cox::storage::v1::CSINode>(R"({"metadata":{"name":"n2"}})")),
            "can only access CSINode with the same name as the requesting node");
  auto slice = Read<resource::v1::ResourceSlice>(R"({"spec":{"nodeName":"n1"}})");
  EXPECT_EQ(Create(slice), "");
  EXPECT_EQ(Delete(slice), "");
  slice.spec.nodeName = "n2";
  EXPECT_EQ(Create(slice),
            "can only create ResourceSlice with the same NodeName as the requesting node");
  EXPECT_EQ(Delete(slice),
            "can only delete ResourceSlice with the same NodeName as the requesting node");
  slice.spec.nodeName.reset();
  EXPECT_NE(Create(slice), "");
}

TEST_F(NodeRestrictionTest, TokensMustBeBoundToPodsOfTheNode) {
  const std::string unbound = "node requested token not bound to a pod";
  EXPECT_EQ(Token("{}"), unbound);
  EXPECT_EQ(Token(R"({"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}})"), unbound);
  EXPECT_EQ(Token(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine"}})"),
            "node requested token with a pod binding without a uid");
  EXPECT_EQ(Token(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"x","uid":"u"}})"),
            "pods \"x\" not found");
  EXPECT_EQ(
      Token(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine","uid":"u"}})"),
      "the UID in the bound object reference (u) does not match the UID in record. The object "
      "might have been deleted and then recreated");
  EXPECT_EQ(Token(Bound("theirs")),
            "node requested token bound to a pod scheduled on a different node");
  EXPECT_EQ(Token(Bound("mine")), "");
}

TEST_F(NodeRestrictionTest, TokensAreLimitedToAudiencesOfThePod) {
  for (const std::string audience : {"web", "disk", "vault"}) {  // projected, CSI driver, RBAC
    EXPECT_EQ(Token(Bound("mine", R"(,"audiences":[")" + audience + R"("])")), "") << audience;
  }
  EXPECT_EQ(Token(Bound("mine", R"(,"audiences":["web","disk"])")),
            "node may only request 0 or 1 audiences");
  EXPECT_EQ(Token(Bound("mine", R"(,"audiences":["evil"])")),
            "audience \"evil\" not found in pod spec volume, system:node:n1 is not authorized to "
            "request tokens for this audience");
}

TEST_F(NodeRestrictionTest, NodeCsrMustHaveTheNodesCommonName) {
  certificates::v1::CertificateSigningRequest csr;
  csr.metadata.name = "csr";
  csr.spec.signerName = "kubernetes.io/kube-apiserver-client-kubelet";
  csr.spec.request = "junk";
  EXPECT_EQ(Create(csr), "unable to parse csr: PEM block type must be CERTIFICATE REQUEST");
  const test_certificates::Key key = test_certificates::NewKey();
  csr.spec.request = test_certificates::RequestPem(key, "system:node:n1");
  EXPECT_EQ(Create(csr), "");
  csr.spec.request = test_certificates::RequestPem(key, "system:node:n2");
  EXPECT_EQ(Create(csr), "can only create a node CSR with CN=system:node:n1");
  csr.spec.signerName = "example.com/other";
  EXPECT_EQ(Create(csr), "");
}

}  // namespace
}  // namespace cox::apiserver
