// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>

#include "api/load.h"
#include "api/objects.h"
#include "api/scenarios.h"
#include "object/codec/json/json.h"

// Measures the cost of authentication, authorization, admission and audit: the same requests
// alternate between a server with all of them and a server without.
namespace cox::bench {
namespace {

constexpr int64_t kPods = 500;
constexpr size_t kConfigMapBytes = 1024;

// The defaults, and an audit log of every request.
std::vector<std::string> AllGuards(const std::string& folder) {
  return {"--authorization-mode", "Node,RBAC",           "--enable-admission-plugins",
          "NodeRestriction",      "--audit-policy-file", folder + "/policy.yaml",
          "--audit-log-path",     folder + "/audit.log"};
}

std::vector<std::string> NoGuards() {
  return {
      "--authorization-mode", "AlwaysAllow", "--enable-priority-and-fairness=false",
      "--disable-admission-plugins",
      "NamespaceLifecycle,LimitRanger,ServiceAccount,TaintNodesByCondition,PodSecurity,Priority,"
      "DefaultTolerationSeconds,DefaultStorageClass,StorageObjectInUseProtection,"
      "PersistentVolumeClaimResize,RuntimeClass,CertificateApproval,CertificateSigning,"
      "ClusterTrustBundleAttest,CertificateSubjectRestriction,DefaultIngressClass,"
      "PodTopologyLabels,NodeDeclaredFeatureValidator,MutatingAdmissionPolicy,"
      "MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook,"
      "ResourceQuota"};
}

class FolderGuard {
 public:
  explicit FolderGuard(std::string folder) : folder_(std::move(folder)) {}
  FolderGuard(const FolderGuard&) = delete;
  FolderGuard& operator=(const FolderGuard&) = delete;
  ~FolderGuard() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  const std::string folder_;
};

// One of the two servers with its client.
struct Side {
  std::unique_ptr<Plane> plane;
  std::unique_ptr<net::Client> client;
  std::string token;  // empty: anonymous

  net::Request NewRequest(std::string method, std::string target, std::string body = {}) const {
    net::Request request = plane->NewRequest(std::move(method), std::move(target), std::move(body));
    request.headers.Remove("authorization");
    if (!token.empty()) request.headers.Add("authorization", "Bearer " + token);
    return request;
  }
};

Status Post(Context& ctx, const Side& side, const std::string& target, const std::string& body,
            Value* answer = nullptr) {
  COX_ASSIGN_OR_RETURN(const net::Response response,
                       side.client->Do(ctx, side.plane->NewRequest("POST", target, body)));
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  if (response.status >= 300) return Status::Internal(target + ": " + text);
  if (answer == nullptr) return {};
  COX_ASSIGN_OR_RETURN(*answer, json::Parse(text));
  return {};
}

// Creates a service account with a role in its namespace, and a token like those of Pods.
Status BecomeServiceAccount(Context& ctx, Side& side) {
  const std::string core = "/api/v1/namespaces/default/serviceaccounts";
  COX_RETURN_IF_ERROR(Post(ctx, side, core, R"({"metadata":{"name":"default"}})"));
  COX_RETURN_IF_ERROR(Post(ctx, side, core, R"({"metadata":{"name":"tenant"}})"));
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
  COX_RETURN_IF_ERROR(Post(ctx, side, rbac + "roles", R"({"metadata":{"name":"tenant"},"rules":[
      {"apiGroups":[""],"resources":["pods","configmaps"],"verbs":["get","list","create"]}]})"));
  COX_RETURN_IF_ERROR(Post(ctx, side, rbac + "rolebindings", R"({"metadata":{"name":"tenant"},
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"tenant"},
      "subjects":[{"kind":"ServiceAccount","name":"tenant","namespace":"default"}]})"));
  Value answer;
  COX_RETURN_IF_ERROR(Post(ctx, side, core + "/tenant/token", R"({"spec":{}})", &answer));
  const Value* token = answer.At({"status", "token"});
  if (token == nullptr || !token->is_string()) return Status::Internal("no token in the answer");
  side.token = token->as_string();
  return {};
}

Result<Side> MakeSide(Context& ctx, PlaneOptions options, std::vector<std::string> guards) {
  Side side;
  options.guards = std::move(guards);
  COX_ASSIGN_OR_RETURN(side.plane, Plane::Start(ctx, options));
  COX_ASSIGN_OR_RETURN(side.client, side.plane->NewClient(ctx));
  return side;
}

// The limits apply to differences, which grow on a busy machine like both sides: 35 to 86, 68 to
// 171 and 163 to 318 us were measured.
struct Case {
  std::string what;
  double target_us, limit_us;
  int64_t count;
  std::function<net::Request(const Side&, int run, int64_t i)> make;
};

Result<double> CostOf(Context& ctx, const Side& side, const Case& c, int run) {
  const std::chrono::nanoseconds before = side.plane->Cpu();
  const Load load =
      Drive(ctx, *side.client, c.count, kInFlight, [&](int64_t i) { return c.make(side, run, i); });
  if (load.failures > 0) return Status::Internal(c.what + ": " + load.first_failure);
  return std::chrono::duration<double, std::micro>(side.plane->Cpu() - before).count() /
         static_cast<double>(c.count);
}

Status Compare(Context& ctx, Setup& setup, const Side& guarded, const Side& open, const Case& c) {
  std::vector<double> added, with, without;
  // The first pair is a warm-up.
  for (int run = 0; run <= setup.sizes.pairs; ++run) {
    COX_ASSIGN_OR_RETURN(const double a, CostOf(ctx, guarded, c, run));
    COX_ASSIGN_OR_RETURN(const double b, CostOf(ctx, open, c, run));
    if (run == 0) continue;
    added.push_back(a - b);
    with.push_back(a);
    without.push_back(b);
  }
  char note[96];
  std::snprintf(note, sizeof note, "%.0f us guarded, %.0f us open", Median(with), Median(without));
  setup.report.Add(
      {"guards", c.what, Median(added), "us", c.target_us, c.limit_us, /*at_least=*/false, note});
  return {};
}

}  // namespace

Status Guards(Context& ctx, Setup& setup) {
  std::string folder = (std::filesystem::temp_directory_path() / "cox-guards-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return Status::Internal("cannot make " + folder);
  std::ofstream(folder + "/policy.yaml")
      << "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}";
  const FolderGuard gone(folder);
  COX_ASSIGN_OR_RETURN(Side guarded, MakeSide(ctx, setup.plane, AllGuards(folder)));
  COX_ASSIGN_OR_RETURN(Side open, MakeSide(ctx, setup.plane, NoGuards()));
  COX_RETURN_IF_ERROR(BecomeServiceAccount(ctx, guarded));
  COX_RETURN_IF_ERROR(FillPods(ctx, *guarded.plane, kPods));
  COX_RETURN_IF_ERROR(FillPods(ctx, *open.plane, kPods));
  const std::string path(kNamespacePath);
  const Case cases[] = {
      {"added to a get", 25, 150, setup.sizes.gets / 2,
       [&](const Side& side, int, int64_t i) {
         return side.NewRequest(
             "GET", path + "pods/" + NumberedName("pod", i % kPods) + "?resourceVersion=0");
       }},
      {"added to a create of a ConfigMap", 60, 350, setup.sizes.creates / 2,
       [&](const Side& side, int run, int64_t i) {
         return side.NewRequest(
             "POST", path + "configmaps",
             ConfigMapJson(NumberedName("cm-" + std::to_string(run), i), kConfigMapBytes));
       }},
      {"added to a create of a Pod", 60, 800, setup.sizes.creates / 2,
       [&](const Side& side, int run, int64_t i) {
         return side.NewRequest("POST", path + "pods",
                                PodJson(NumberedName("new-" + std::to_string(run), i), "common"));
       }},
  };
  for (const Case& c : cases) COX_RETURN_IF_ERROR(Compare(ctx, setup, guarded, open, c));
  return {};
}

}  // namespace cox::bench
