// SPDX-License-Identifier: Apache-2.0
// Measures authentication and authorization: RBAC decisions with 10,000 bindings, decisions of the
// Node authorizer with 10,000 Pods on 100 nodes, cached and new service account tokens, a change of
// one binding and of one Pod.
//
// Target: a decision takes at most 5 us. With --check the program fails at three times that, which
// indicates a regression and not a slow machine.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "apiserver/filters/authn/jose/keys.h"
#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/filters/authn/service_account/verified_tokens.h"
#include "apiserver/filters/authz/node/node_authorizer.h"
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"
#include "apiserver/filters/authz/rbac/rbac_authorizer.h"
#include "cpu_time.h"

namespace {

using namespace cox::apiserver;  // NOLINT: a program

constexpr int kBindings = 10'000;
constexpr int kNamespaces = 500;
constexpr int kPods = 10'000;
constexpr int kNodes = 100;
constexpr double kDecisionMicroseconds = 5;
constexpr double kCheckFactor = 3;

std::string Namespace(int i) { return "namespace-" + std::to_string(i % kNamespaces); }

RbacBindingPtr Binding(const std::string& ns, const std::string& name, const std::string& role,
                       cox::List<cox::rbac::v1::Subject> subjects) {
  auto binding = std::make_shared<RbacBinding>();
  binding->ns = ns;
  binding->name = name;
  binding->role = {.apiGroup = {}, .kind = "ClusterRole", .name = role};
  binding->role_key = RbacRoleKey("", role);
  binding->subjects = std::move(subjects);
  return binding;
}

// The bootstrap policy, and many users and groups with the default roles in many namespaces.
void Fill(RbacIndexBuilder& builder) {
  RbacPolicy policy = BootstrapPolicy();
  for (const auto& role : policy.cluster_roles) {
    builder.SetRole(RbacRoleKey("", role.metadata.name),
                    std::make_shared<const RbacRules>(role.rules));
  }
  for (const auto& binding : policy.cluster_role_bindings) {
    builder.SetBinding("c/" + binding.metadata.name,
                       Binding("", binding.metadata.name, binding.roleRef.name, binding.subjects));
  }
  for (int i = 0; i < kBindings; ++i) {
    const std::string name = "binding-" + std::to_string(i);
    builder.SetBinding(name, Binding(Namespace(i), name, "system:aggregate-to-edit",
                                     {{"User", {}, "user-" + std::to_string(i % 2000), {}},
                                      {"Group", {}, "team-" + std::to_string(i % 100), {}}}));
  }
}

// CPU time of one call in microseconds, the minimum of several rounds, because other programs run
// on this machine too.
double Measure(const char* what, int calls, const std::function<void(int)>& call) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const double start = cox::bench::ThreadCpuMicroseconds();
    for (int i = 0; i < calls; ++i) call(i);
    best = std::min(best, (cox::bench::ThreadCpuMicroseconds() - start) / calls);
  }
  std::printf("%-44s %9.2f us\n", what, best);
  return best;
}

double MeasureDecisions(const RbacAuthorizer& authorizer) {
  auto user = [](int i) {
    return UserInfo{.name = "user-" + std::to_string(i % 2000),
                    .uid = {},
                    .groups = {"team-" + std::to_string(i % 100), "system:authenticated"},
                    .extra = {}};
  };
  std::vector<UserInfo> users;
  for (int i = 0; i < 2000; ++i) users.push_back(user(i));
  RequestInfo ask;
  ask.is_resource = true;
  ask.verb = "update";
  ask.group = "apps";
  ask.resource = "deployments";
  ask.name = "web";
  std::vector<std::string> namespaces;
  for (int i = 0; i < kNamespaces; ++i) namespaces.push_back(Namespace(i));
  int allowed = 0;
  auto decide = [&](int i) {
    ask.namespace_ = namespaces[static_cast<size_t>(i % kNamespaces)];
    allowed += authorizer.Authorize(users[static_cast<size_t>(i % 2000)], ask).allowed;
  };
  const double yes = Measure("decision, allowed in its namespace", 20'000, decide);
  ask.resource = "nonesuch";
  const double no = Measure("decision, refused", 20'000, decide);
  if (allowed == 0) std::printf("nothing was allowed: the benchmark is wrong\n");
  return std::max(yes, no);
}

// A typical Pod: a ServiceAccount, the cluster CA, a Secret and a claim of its own.
void PutPod(NodeGraph& graph, int i) {
  const std::string ns = Namespace(i), number = std::to_string(i);
  graph.Put({NodeObject::kPod, ns, "pod-" + number}, "node-" + std::to_string(i % kNodes),
            {{NodeObject::kServiceAccount, ns, "default"},
             {NodeObject::kConfigMap, ns, "kube-root-ca.crt"},
             {NodeObject::kSecret, ns, "secret-" + number},
             {NodeObject::kClaim, ns, "claim-" + number}});
}

double MeasureNodes() {
  NodeGraph graph;
  for (int i = 0; i < kPods; ++i) {
    PutPod(graph, i);
    graph.PutVolume("volume-" + std::to_string(i),
                    {NodeObject::kClaim, Namespace(i), "claim-" + std::to_string(i)},
                    {{NodeObject::kSecret, "storage", "key"}});
  }
  const NodeAuthorizer authorizer(graph, BootstrapNodeRules());
  std::vector<UserInfo> users;
  std::vector<RequestInfo> asks;
  for (int i = 0; i < kPods; ++i) {
    users.push_back({.name = "system:node:node-" + std::to_string(i % kNodes),
                     .uid = {},
                     .groups = {"system:nodes", "system:authenticated"},
                     .extra = {}});
    RequestInfo ask;
    ask.is_resource = true;
    ask.verb = "get";
    ask.resource = "secrets";
    ask.namespace_ = Namespace(i);
    ask.name = "secret-" + std::to_string(i);
    asks.push_back(std::move(ask));
  }
  int allowed = 0;
  auto decide = [&](int user, int i) {
    allowed +=
        authorizer.Authorize(users[static_cast<size_t>(user % kPods)], asks[static_cast<size_t>(i)])
            .allowed;
  };
  const double yes =
      Measure("node decision, secret of its pod", kPods, [&](int i) { decide(i, i); });
  if (allowed != 7 * kPods) std::printf("not all was allowed: the benchmark is wrong\n");
  const double no = Measure("node decision, refused", kPods, [&](int i) { decide(i + 1, i); });
  if (allowed != 7 * kPods) std::printf("too much was allowed: the benchmark is wrong\n");
  Measure("one pod changes", kPods, [&](int i) { PutPod(graph, i); });
  return std::max(yes, no);
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  RbacIndexBuilder builder;
  Fill(builder);
  RbacAuthorizer authorizer;
  authorizer.Publish(builder.Build());
  const double decision = std::max(MeasureDecisions(authorizer), MeasureNodes());
  Measure("one binding changes", 2000, [&](int i) {
    const std::string name = "binding-" + std::to_string(i);
    builder.SetBinding(name, Binding(Namespace(i), name, "view", {{"User", {}, "somebody", {}}}));
    authorizer.Publish(builder.Build());
  });

  ServiceAccountTokenOptions options;
  options.signing_key_pem = *GenerateSigningKeyPem();
  const auto tokens = *ServiceAccountTokens::Create(std::move(options));
  ServiceAccountClaims claims;
  claims.audiences = tokens->api_audiences();
  claims.expires = 2'000'000'000;
  claims.ns = "ns";
  claims.account = {"sa", "uid"};
  const std::string token = *tokens->Issue(claims);
  Measure("token issued", 200, [&](int) { (void)tokens->Issue(claims); });
  Measure("token verified", 2000, [&](int) { (void)tokens->Verify(token); });
  VerifiedTokens known;
  known.Remember(DigestOf(token), std::make_shared<VerifiedToken>(), cox::Clock::kNever);
  Measure("token seen before", 100'000, [&](int) { (void)known.Find(DigestOf(token), {}); });
  std::printf("a decision takes %.1f us, and is to take at most %.0f us\n", decision,
              kDecisionMicroseconds);
  if (check && decision > kCheckFactor * kDecisionMicroseconds) {
    std::printf("FAILED: that is more than %.0f times as long\n", kCheckFactor);
    return 1;
  }
  return 0;
}
