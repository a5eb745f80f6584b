// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/admissionregistration/v1.h"
#include "api/core/v1.h"
#include "apiserver/admission/plugins/plugins.h"
#include "apiserver/testing/call_harness.h"
#include "base/mutex.h"
#include "net/testing/loopback.h"
#include "object/codec/json/json.h"
#include "object/codec/json/text.h"

// Both kinds of webhooks, called by the handlers over TLS. Failed calls are tested with the
// complete server in tests/integration/webhooks_test.py.
namespace cox::apiserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Base64(std::string_view text) {
  std::string out;
  json::WriteBase64(text, &out);
  return out;
}
// A response that allows the request with a patch.
Value Patch(std::string_view operations) {
  return Value::MakeObject(
      {{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", Base64(operations)}});
}
Value Allowed() { return Value::MakeObject({{"allowed", true}}); }

class AdmissionWebhooksTest : public testing::Test {
 protected:
  // The response of a webhook to the request of a review.
  using Answer = std::function<Value(const Value& request)>;

  void Serve(const net::ExchangePtr& exchange) {
    const std::string path(exchange->request().path());
    const Value review = json::Parse(exchange->request().body).value_or(Value());
    const Value request = review.Find("request") != nullptr ? *review.Find("request") : Value();
    Answer answer;
    {
      MutexLock lock(mu_);
      seen_.emplace_back(path, request);
      answer = answers_[path];
    }
    Value response = answer ? answer(request) : Allowed();
    if (response.is_object()) response.as_object()["uid"] = *request.Find("uid");
    const Value whole = Value::MakeObject({{"apiVersion", "admission.k8s.io/v1"},
                                           {"kind", "AdmissionReview"},
                                           {"response", std::move(response)}});
    net::Response http;
    http.body.push_back(Bytes(json::Write(whole)));
    exchange->Send(std::move(http));
  }

  // Registers a webhook at `path` with this response. `more` contains additional members of its
  // JSON.
  void Hook(const std::string& kind, const std::string& path, const std::string& resources,
            Answer answer, const std::string& more = "") {
    {
      MutexLock lock(mu_);
      answers_[path] = std::move(answer);
    }
    const std::string name = path.substr(1);
    std::string plural = kind + "webhookconfigurations";
    FakeCall call =
        api_.Do({.method = "POST",
                 .target = "/apis/admissionregistration.k8s.io/v1/" + plural,
                 .body = R"({"metadata":{"name":")" + name + R"("},"webhooks":[{"name":")" + name +
                         R"(.example.com","sideEffects":"None","admissionReviewVersions":["v1"],)" +
                         R"("rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],)" +
                         R"("resources":[")" + resources +
                         R"("]}],"clientConfig":{"url":"https://127.0.0.1:)" +
                         std::to_string(server_.server->port()) + path + R"(","caBundle":")" +
                         Base64(server_.ca.certificate_pem) + "\"}" + more + "}]}"});
    ASSERT_EQ(call.exchange().status(), 201) << call.exchange().Body();
    api_.Sync(
        *Scheme::Builtin().FindResource({"admissionregistration.k8s.io", "v1", std::move(plural)}));
    // Create a new chain, which reads the current configurations.
    chain_ = std::make_unique<AdmissionChain>(MakeAdmission(parts_, {}, {"ServiceAccount"}));
    handlers_ = std::make_unique<ResourceHandlers>(api_.registry(), *chain_);
  }

  FakeCall Do(FakeRequest request) {
    FakeCall call(api_.clock(), std::move(request));
    call->user = {.name = "ann", .uid = "", .groups = {"dev"}, .extra = {}};
    HandleResource(*handlers_, call.shared());
    return call;
  }
  std::string Text(FakeRequest request) {
    FakeCall call = Do(std::move(request));
    return std::to_string(call.exchange().status()) + " " + call.exchange().Body();
  }
  std::string CreateMap(const std::string& name, const std::string& data = "{}") {
    return Text({.method = "POST",
                 .target = "/api/v1/namespaces/default/configmaps",
                 .body = R"({"metadata":{"name":")" + name + R"("},"data":)" + data + "}"});
  }
  // The requests received at `path`.
  std::vector<Value> Seen(std::string_view path) {
    MutexLock lock(mu_);
    std::vector<Value> requests;
    for (const auto& [where, request] : seen_) {
      if (where == path) requests.push_back(request);
    }
    return requests;
  }
  std::vector<std::string> Order() {
    MutexLock lock(mu_);
    std::vector<std::string> order;
    for (const auto& [where, request] : seen_) order.push_back(where);
    return order;
  }
  static std::string At(const Value& request, std::initializer_list<std::string_view> path) {
    const Value* const found = request.At(path);
    return found == nullptr ? "absent" : json::Write(*found);
  }

  Mutex mu_;
  std::map<std::string, Answer> answers_ COX_GUARDED_BY(mu_);
  std::vector<std::pair<std::string, Value>> seen_ COX_GUARDED_BY(mu_);
  ApiHarness api_;
  net::Loopback server_{[this](const net::ExchangePtr& exchange) { Serve(exchange); }};
  const AlwaysAllow authorizer_;
  MetricsRegistry metrics_;
  AdmissionMetrics admission_metrics_{metrics_};
  const AdmissionParts parts_{.registry = api_.registry(),
                              .authorizer = authorizer_,
                              .webhooks = std::make_shared<WebhookConnections>(server_.context),
                              .metrics = &admission_metrics_};
  std::unique_ptr<AdmissionChain> chain_;
  std::unique_ptr<ResourceHandlers> handlers_;
};

TEST_F(AdmissionWebhooksTest, MutatingWebhookChangesTheObjectAndDefaultsAreSetAgain) {
  Hook("mutating", "/sidecar", "pods", [](const Value&) {
    return Patch(
        R"([{"op":"add","path":"/spec/containers/-","value":{"name":"side","image":"s:1"}}])");
  });
  const std::string text = Text(
      {.method = "POST",
       .target = "/api/v1/namespaces/default/pods",
       .body = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b"}]}})"});
  EXPECT_THAT(text, testing::StartsWith("201 "));
  EXPECT_THAT(text, HasSubstr("\"name\":\"side\",\"image\":\"s:1\",\"resources\":{},"
                              "\"terminationMessagePath\":\"/dev/termination-log\""));
}

TEST_F(AdmissionWebhooksTest, DenialContainsTheMessageOfTheWebhook) {
  Hook("validating", "/judge", "configmaps", [](const Value&) {
    return *json::Parse(R"({"allowed":false,"warnings":["careful"],
                            "status":{"code":403,"message":"not today"}})");
  });
  FakeCall call = Do({.method = "POST",
                      .target = "/api/v1/namespaces/default/configmaps?fieldManager=me",
                      .body = R"({"metadata":{"name":"m"}})"});
  EXPECT_EQ(call.exchange().status(), 403);
  EXPECT_THAT(
      call.exchange().Body(),
      HasSubstr(R"(admission webhook \"judge.example.com\" denied the request: not today)"));
  EXPECT_EQ(call.exchange().Header("warning"), "299 - \"careful\"");
  const Value request = Seen("/judge")[0];
  EXPECT_EQ(At(request, {"operation"}), "\"CREATE\"");
  EXPECT_EQ(At(request, {"name"}), "\"m\"");
  EXPECT_EQ(At(request, {"userInfo", "username"}), "\"ann\"");
  EXPECT_EQ(At(request, {"options"}),
            R"({"apiVersion":"meta.k8s.io/v1","fieldManager":"me","kind":"CreateOptions"})");
  const std::string text = metrics_.Render();
  EXPECT_THAT(text, HasSubstr("apiserver_admission_webhook_rejection_count{error_type=\"no_error\","
                              "name=\"judge.example.com\",operation=\"CREATE\","
                              "rejection_code=\"403\",type=\"validating\"} 1"));
  EXPECT_THAT(text, HasSubstr("apiserver_admission_controller_admission_duration_seconds_count{"
                              "name=\"ValidatingAdmissionWebhook\",operation=\"CREATE\","
                              "rejected=\"true\",type=\"validate\"} 1"));
}

TEST_F(AdmissionWebhooksTest, WebhooksAreNotCalledForWebhookConfigurations) {
  Hook("validating", "/never", "*/*", [](const Value&) {
    return Value::MakeObject({{"allowed", false}});
  });
  EXPECT_THAT(CreateMap("m"), testing::StartsWith("400 "));
  EXPECT_THAT(
      Text({.method = "DELETE",
            .target =
                "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/never"}),
      testing::StartsWith("200 "));
}

// CVE-2016-1905: admission must receive the object after the PATCH is applied.
TEST_F(AdmissionWebhooksTest, CVE_2016_1905_AdmissionSeesThePatchedObject) {
  Hook("validating", "/judge", "configmaps", [](const Value& request) {
    return Value::MakeObject({{"allowed", request.At({"object", "data", "bad"}) == nullptr}});
  });
  ASSERT_THAT(CreateMap("m"), testing::StartsWith("201 "));
  const std::pair<std::string, std::string> patches[] = {
      {"application/merge-patch+json", R"({"data":{"bad":"1"}})"},
      {"application/strategic-merge-patch+json", R"({"data":{"bad":"1"}})"},
      {"application/json-patch+json", R"([{"op":"add","path":"/data","value":{"bad":"1"}}])"},
      {"application/apply-patch+yaml",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"bad":"1"}})"},
  };
  for (const auto& [type, patch] : patches) {
    EXPECT_THAT(Text({.method = "PATCH",
                      .target = "/api/v1/namespaces/default/configmaps/m?fieldManager=me",
                      .body = patch,
                      .headers = {{"content-type", type}}}),
                testing::StartsWith("400 "))
        << type;
  }
  // An apply that creates the object is admitted as a create.
  EXPECT_THAT(
      Text(
          {.method = "PATCH",
           .target = "/api/v1/namespaces/default/configmaps/n?fieldManager=me",
           .body =
               R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"bad":"1"}})",
           .headers = {{"content-type", "application/apply-patch+yaml"}}}),
      testing::StartsWith("400 "));
  EXPECT_EQ(At(Seen("/judge").back(), {"operation"}), "\"CREATE\"");
  EXPECT_EQ(At(Seen("/judge").back(), {"options", "kind"}), "\"CreateOptions\"");
}

// CVE-2021-25735: the old object must be complete for every verb, even if the client omits fields.
TEST_F(AdmissionWebhooksTest, CVE_2021_25735_AdmissionSeesAllOldFields) {
  Hook("validating", "/judge", "*/*", [](const Value&) { return Allowed(); });
  ASSERT_THAT(
      Text({.method = "POST",
            .target = "/api/v1/nodes",
            .body =
                R"({"metadata":{"name":"n","labels":{"guard":"on"}},"spec":{"unschedulable":true,
                    "taints":[{"key":"k","effect":"NoSchedule"}]},"status":{"phase":"Pending"}})"}),
      testing::StartsWith("201 "));
  const FakeRequest writes[] = {
      {.method = "PUT",
       .target = "/api/v1/nodes/n/status",
       .body = R"({"metadata":{"name":"n"},"status":{"phase":"Running"}})"},
      {.method = "PATCH",
       .target = "/api/v1/nodes/n",
       .body = R"({"metadata":{"annotations":{"a":"b"}}})",
       .headers = {{"content-type", "application/merge-patch+json"}}},
      {.method = "PUT", .target = "/api/v1/nodes/n", .body = R"({"metadata":{"name":"n"}})"},
  };
  std::string guard = "\"on\"";
  for (const FakeRequest& write : writes) {
    ASSERT_THAT(Text(write), testing::StartsWith("200 ")) << write.target;
    const Value request = Seen("/judge").back();
    EXPECT_EQ(At(request, {"operation"}), "\"UPDATE\"");
    EXPECT_EQ(At(request, {"oldObject", "spec", "unschedulable"}), "true") << write.target;
    EXPECT_EQ(At(request, {"oldObject", "metadata", "labels", "guard"}),
              write.target.ends_with("status") ? "\"on\"" : guard);
    guard = At(request, {"object", "metadata", "labels", "guard"});
  }
  ASSERT_THAT(Text({.method = "DELETE", .target = "/api/v1/nodes/n"}), testing::StartsWith("200 "));
  const Value request = Seen("/judge").back();
  EXPECT_EQ(At(request, {"operation"}), "\"DELETE\"");
  EXPECT_EQ(At(request, {"oldObject", "metadata", "name"}), "\"n\"");
  EXPECT_EQ(At(request, {"object"}), "null");
  EXPECT_EQ(At(request, {"options", "kind"}), "\"DeleteOptions\"");
}

TEST_F(AdmissionWebhooksTest, DeleteCollectionCallsWebhooksForEachObject) {
  Hook("mutating", "/m", "configmaps", [](const Value&) { return Allowed(); });
  Hook("validating", "/v", "configmaps", [](const Value& request) {
    const Value* const name = request.Find("name");
    return Value::MakeObject(
        {{"allowed", *request.Find("operation") != Value("DELETE") || *name != Value("kept")}});
  });
  CreateMap("a");
  CreateMap("kept");
  api_.Sync(core::v1::ConfigMap::kKind);
  EXPECT_THAT(Text({.method = "DELETE", .target = "/api/v1/namespaces/default/configmaps"}),
              HasSubstr("denied the request"));
  EXPECT_EQ(Seen("/m").size(), 4U);  // mutating webhooks are called for deletes, too
  EXPECT_EQ(At(Seen("/m").back(), {"oldObject", "metadata", "name"}), "\"kept\"");
}

TEST_F(AdmissionWebhooksTest, WebhookIsReinvokedIfALaterOneChangedTheObject) {
  // Writes the number of labels to an annotation; the later webhook adds a label.
  Hook(
      "mutating", "/a-counts", "configmaps",
      [](const Value& request) {
        const Value* const labels = request.At({"object", "metadata", "labels"});
        const std::string count =
            std::to_string(labels == nullptr ? 0 : labels->as_object().size());
        return Patch(R"([{"op":"add","path":"/metadata/annotations","value":{"labels":")" + count +
                     "\"}}]");
      },
      R"(,"reinvocationPolicy":"IfNeeded")");
  Hook("mutating", "/b-labels", "configmaps", [](const Value&) {
    return Patch(R"([{"op":"add","path":"/metadata/labels","value":{"added":"yes"}}])");
  });
  EXPECT_THAT(CreateMap("m"), HasSubstr(R"("annotations":{"labels":"1"})"));
  EXPECT_THAT(Order(), ElementsAre("/a-counts", "/b-labels", "/a-counts"));
}

TEST_F(AdmissionWebhooksTest, ConflictingWebhooksAreReinvokedOnlyOnce) {
  const auto flips = [](std::string to) {
    return [to](const Value&) {
      return Patch(R"([{"op":"add","path":"/data","value":{"side":")" + to + "\"}}]");
    };
  };
  Hook("mutating", "/a", "configmaps", flips("a"), R"(,"reinvocationPolicy":"IfNeeded")");
  Hook("mutating", "/b", "configmaps", flips("b"), R"(,"reinvocationPolicy":"IfNeeded")");
  EXPECT_THAT(CreateMap("m"), testing::StartsWith("201 "));
  EXPECT_THAT(Order(), ElementsAre("/a", "/b", "/a", "/b"));
}

TEST_F(AdmissionWebhooksTest, PluginsAreReinvokedAfterAWebhookChangedTheObject) {
  // The webhook removes tolerations, and DefaultTolerationSeconds sets them again.
  Hook("mutating", "/strip", "pods",
       [](const Value&) { return Patch(R"([{"op":"remove","path":"/spec/tolerations"}])"); });
  EXPECT_THAT(
      Text({.method = "POST",
            .target = "/api/v1/namespaces/default/pods",
            .body =
                R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b"}]}})"}),
      HasSubstr("node.kubernetes.io/unreachable"));
  EXPECT_EQ(Order().size(), 1U);
}

TEST_F(AdmissionWebhooksTest, InvalidPatchesAreRejected) {
  std::string operations;
  Hook(
      "mutating", "/m", "configmaps", [&](const Value&) { return Patch(operations); },
      R"(,"failurePolicy":"Ignore")");
  const std::pair<std::string, std::string> cases[] = {
      {R"([{"op":"remove","path":"/spec/none"}])", "500 "},
      {R"({"op":"remove"})", "500 "},
      {R"([{"op":"replace","path":"/kind","value":"Secret"}])", "500 "},
      {R"([{"op":"replace","path":"/metadata","value":7}])", "400 "},
      {R"([{"op":"add","path":"/data","value":7}])", "500 "},
      {R"([{"op":"replace","path":"/metadata/namespace","value":"kube-system"}])", "400 "},
  };
  for (const auto& [patch, code] : cases) {
    operations = patch;
    // failurePolicy Ignore does not apply, because the call itself succeeded.
    EXPECT_THAT(CreateMap("m"), testing::StartsWith(code)) << patch;
  }
  operations = "[]";
  EXPECT_THAT(CreateMap("m"), testing::StartsWith("201 "));
  operations = R"([{"op":"add","path":"/data","value":{}}])";
  EXPECT_THAT(
      Text({.method = "DELETE", .target = "/api/v1/namespaces/default/configmaps/m"}),
      HasSubstr("attempted to modify the object, which is not supported for this operation"));
}

TEST_F(AdmissionWebhooksTest, WebhooksReceiveSubresourceObjects) {
  Hook("validating", "/v", "*/*", [](const Value&) { return Allowed(); });
  Do({.method = "POST",
      .target = "/api/v1/namespaces/default/pods",
      .body = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b"}]}})"});
  Do({.method = "POST",
      .target = "/api/v1/namespaces/default/pods/p/binding",
      .body = R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})"});
  const Value binding = Seen("/v").back();
  EXPECT_EQ(At(binding, {"operation"}), "\"CREATE\"");
  EXPECT_EQ(At(binding, {"subResource"}), "\"binding\"");
  EXPECT_EQ(At(binding, {"kind", "kind"}), "\"Binding\"");
  EXPECT_EQ(At(binding, {"object", "target", "name"}), "\"n\"");
  Do({.method = "POST", .target = "/api/v1/namespaces/default/pods/p/exec?command=sh&command=-c"});
  const Value exec = Seen("/v").back();
  EXPECT_EQ(At(exec, {"operation"}), "\"CONNECT\"");
  EXPECT_EQ(At(exec, {"kind", "kind"}), "\"PodExecOptions\"");
  EXPECT_EQ(At(exec, {"object", "command"}), R"(["sh","-c"])");
  Do({.method = "POST",
      .target = "/api/v1/namespaces/default/pods/p/eviction",
      .body = R"({"metadata":{"name":"p"}})"});
  const Value eviction = Seen("/v").back();
  EXPECT_EQ(At(eviction, {"operation"}), "\"CREATE\"");
  EXPECT_EQ(At(eviction, {"kind", "kind"}), "\"Eviction\"");
}

TEST_F(AdmissionWebhooksTest, LegacyBindingsMatchPodsBinding) {
  Hook("validating", "/v", "pods/binding", [](const Value&) {
    return Value::MakeObject({{"allowed", false}});
  });
  EXPECT_THAT(Text({.method = "POST",
                    .target = "/api/v1/namespaces/default/bindings",
                    .body = R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})"}),
              testing::StartsWith("400 "));
  EXPECT_EQ(At(Seen("/v").back(), {"name"}), "\"p\"");
}

TEST_F(AdmissionWebhooksTest, ScaleIsSentAsScale) {
  Hook("validating", "/v", "*/scale", [](const Value& request) {
    const Value* const replicas = request.At({"object", "spec", "replicas"});
    return Value::MakeObject({{"allowed", replicas != nullptr && replicas->as_int() < 5}});
  });
  const std::string deployment = "/apis/apps/v1/namespaces/default/deployments";
  Do({.method = "POST",
      .target = deployment,
      .body = R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
                  "template":{"metadata":{"labels":{"a":"b"}},
                  "spec":{"containers":[{"name":"a","image":"b"}]}}}})"});
  const auto scale = [&](int replicas) {
    return Text({.method = "PATCH",
                 .target = deployment + "/d/scale",
                 .body = R"({"spec":{"replicas":)" + std::to_string(replicas) + "}}",
                 .headers = {{"content-type", "application/merge-patch+json"}}});
  };
  EXPECT_THAT(scale(4), testing::StartsWith("200 "));
  EXPECT_THAT(scale(5), testing::StartsWith("400 "));
  EXPECT_EQ(At(Seen("/v").back(), {"oldObject", "spec", "replicas"}), "4");
  EXPECT_EQ(At(Seen("/v").back(), {"kind", "kind"}), "\"Scale\"");
}

}  // namespace
}  // namespace cox::apiserver
