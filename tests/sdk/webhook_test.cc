// SPDX-License-Identifier: Apache-2.0
// A webhook server that the real API server calls, over TLS on the loopback interface.
#include "coxswain/webhook.h"

#include <gtest/gtest.h>

#include <atomic>

#include "api/core/v1.h"
#include "base/check.h"
#include "base/scope.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

namespace cox {
namespace {

using admissionregistration::v1::MutatingWebhookConfiguration;
using admissionregistration::v1::ValidatingWebhookConfiguration;
using core::v1::ConfigMap;
using core::v1::Pod;
using core::v1::Secret;
using std::chrono::seconds;

class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() {
    auto cluster = testkit::TestCluster::Start();
    COX_CHECK_OK(cluster.status());
    cluster_ = *std::move(cluster);
    ctx_.emplace(cluster_->context().WithTimeout(seconds(60)));
    scope_.emplace(*ctx_, "webhook-test");
    options_.address = "127.0.0.1:0";
    options_.self_signed = SelfSigned{.secret = {"default", "hook-cert"},
                                      .names = {"127.0.0.1"},
                                      .mutating = {"hook"},
                                      .validating = {"hook"}};
  }
  ~WebhookTest() override {
    scope_->Stop();
    scope_->Wait();
  }

  Context& ctx() { return *ctx_; }
  Client& client() { return cluster_->client(); }

  void Start(const std::shared_ptr<WebhookServer>& server) {
    COX_CHECK_OK(scope_->Go("server", [this, server](Context& ctx) {
      const Status ended = server->Run(ctx, &client());
      EXPECT_TRUE(ended.ok()) << ended.ToString();
    }));
    while (!server->Ready(cluster_->clock()).ok()) {
      COX_CHECK(!ctx().Done());
      (void)ctx().Sleep(std::chrono::milliseconds(1));
    }
  }

  // A webhook for new objects of one resource with the label hooked=yes; without a CA.
  template <class Configuration>
  Configuration For(const WebhookServer& server, const std::string& resource,
                    const std::string& path) {
    Configuration configuration;
    configuration.metadata.name = "hook";
    auto& webhook = configuration.webhooks.emplace_back();
    webhook.name = "a.example.com";
    webhook.clientConfig.url = "https://127.0.0.1:" + std::to_string(server.port()) + path;
    webhook.sideEffects = "None";
    webhook.admissionReviewVersions = {"v1"};
    webhook.objectSelector.emplace().matchLabels["hooked"] = "yes";
    auto& rule = webhook.rules.emplace_back();
    rule.operations = {"CREATE", "DELETE"};
    rule.rule = {.apiGroups = {""}, .apiVersions = {"v1"}, .resources = {resource}};
    return configuration;
  }

  template <class Configuration>
  std::string WaitForCa() {
    const auto found = testkit::WaitFor<Configuration>(
        ctx(), client(), {"", "hook"}, [](const Configuration& configuration) {
          return configuration.webhooks[0].clientConfig.caBundle.starts_with("-----BEGIN");
        });
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() ? found->webhooks[0].clientConfig.caBundle : "";
  }

  // Creates objects until `done` is true for the result: the API server reads new configurations a
  // moment after they are created.
  template <class T>
  Result<T> CreateUntil(T object, const std::function<bool(const Result<T>&)>& done) {
    for (int i = 0; !ctx().Done(); ++i) {
      object.metadata.name = "try-" + std::to_string(i);
      Result<T> created = client().Create(ctx(), object);
      if (done(created)) return created;
      (void)ctx().Sleep(std::chrono::milliseconds(5));
    }
    return Status::Timeout("it never came to pass");
  }

  Pod NewPod() {
    Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.labels["hooked"] = "yes";
    pod.spec.containers.push_back({.name = "main", .image = "main:v1"});
    return pod;
  }

  std::unique_ptr<testkit::TestCluster> cluster_;
  std::optional<Context> ctx_;
  WebhookOptions options_;
  std::optional<Scope> scope_;
};

bool IsMarked(const Result<Pod>& pod) {
  return pod.ok() && pod->metadata.annotations.contains("seen");
}

MutateHandler<Pod> Marking() {
  return [](Context&, const AdmissionRequest<Pod>& request, Pod& pod) {
    EXPECT_TRUE(request.IsCreate());
    EXPECT_EQ(request.review.namespace_, "default");
    pod.metadata.annotations["seen"] = request.review.userInfo.username;
    pod.spec.containers.insert(pod.spec.containers.begin(), {.name = "extra", .image = "extra:v1"});
    return AdmissionResponse::Allow();
  };
}

TEST_F(WebhookTest, MutatesPodsBeforeTheyAreStored) {
  const std::shared_ptr<WebhookServer> server = WebhookServer::Create(options_);
  server->Mutate<Pod>("/mutate", Marking());
  Start(server);
  ASSERT_TRUE(
      client().Create(ctx(), For<MutatingWebhookConfiguration>(*server, "pods", "/mutate")).ok());
  WaitForCa<MutatingWebhookConfiguration>();
  const Result<Pod> pod = CreateUntil<Pod>(NewPod(), IsMarked);
  ASSERT_TRUE(pod.ok()) << pod.status().ToString();
  const Result<Pod> stored = client().Get<Pod>(ctx(), KeyOf(*pod));
  ASSERT_TRUE(stored.ok());
  ASSERT_EQ(stored->spec.containers.size(), 2U);
  EXPECT_EQ(stored->spec.containers[0].name, "extra");
  EXPECT_EQ(stored->spec.containers[1].image, "main:v1");
  // Defaults are also applied to the container that the webhook added.
  EXPECT_EQ(stored->spec.containers[0].terminationMessagePath, "/dev/termination-log");
}

TEST_F(WebhookTest, DeniesWithTheReasonOfTheHandler) {
  const std::shared_ptr<WebhookServer> server = WebhookServer::Create(options_);
  std::atomic<bool> deleted = false;
  server->Validate<ConfigMap>(
      "/validate",
      [&deleted](Context&, const AdmissionRequest<ConfigMap>& request) -> AdmissionResponse {
        if (request.IsDelete()) {
          deleted = request.old_object != nullptr && request.old_object->data.contains("ok");
          return AdmissionResponse::Allow();
        }
        if (request.object->data.contains("ok")) return AdmissionResponse::Allow();
        return AdmissionResponse::Deny(Status::Invalid("it has no entry ok"));
      });
  Start(server);
  ASSERT_TRUE(
      client()
          .Create(ctx(), For<ValidatingWebhookConfiguration>(*server, "configmaps", "/validate"))
          .ok());
  WaitForCa<ValidatingWebhookConfiguration>();
  ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.labels["hooked"] = "yes";
  const Result<ConfigMap> refused = CreateUntil<ConfigMap>(
      map, [](const Result<ConfigMap>& made) { return made.status().Is(Reason::kInvalid); });
  EXPECT_EQ(refused.status().message(),
            "admission webhook \"a.example.com\" denied the request: it has no entry ok");
  map.metadata.name = "good";
  map.data["ok"] = "yes";
  ASSERT_TRUE(client().Create(ctx(), map).ok());
  ASSERT_TRUE(client().Delete<ConfigMap>(ctx(), {"default", "good"}).ok());
  EXPECT_TRUE(deleted);
}

TEST_F(WebhookTest, RestoresItsConfiguration) {
  const std::shared_ptr<WebhookServer> server = WebhookServer::Create(options_);
  server->Mutate<Pod>("/mutate", Marking());
  Start(server);  // for its port
  const std::shared_ptr<WebhookServer> second = WebhookServer::Create(options_);
  second->Mutate<Pod>("/mutate", Marking());
  second->Register(For<MutatingWebhookConfiguration>(*server, "pods", "/mutate"));
  Start(second);
  const std::string ca = WaitForCa<MutatingWebhookConfiguration>();
  EXPECT_TRUE(CreateUntil<Pod>(NewPod(), IsMarked).ok());

  // Both servers use the certificate in the Secret.
  const Result<Secret> secret = client().Get<Secret>(ctx(), {"default", "hook-cert"});
  ASSERT_TRUE(secret.ok());
  EXPECT_EQ(*secret->data.Get("ca.crt"), ca);
  EXPECT_EQ(secret->type, "kubernetes.io/tls");

  // The configuration is restored after the CA is removed and after it is deleted.
  ASSERT_TRUE(ChangeObject<MutatingWebhookConfiguration>(
                  ctx(), client(), {"", "hook"},
                  [](MutatingWebhookConfiguration& configuration) {
                    configuration.webhooks[0].clientConfig.caBundle = "";
                    return Result<bool>(true);
                  })
                  .ok());
  EXPECT_EQ(WaitForCa<MutatingWebhookConfiguration>(), ca);
  ASSERT_TRUE(client().Delete<MutatingWebhookConfiguration>(ctx(), {"", "hook"}).ok());
  EXPECT_EQ(WaitForCa<MutatingWebhookConfiguration>(), ca);
  EXPECT_TRUE(CreateUntil<Pod>(NewPod(), IsMarked).ok());
}

TEST_F(WebhookTest, UnchangedConfigurationIsWrittenOnce) {
  const std::shared_ptr<WebhookServer> server = WebhookServer::Create(options_);
  server->Mutate<Pod>("/mutate", Marking());
  MutatingWebhookConfiguration configuration =
      For<MutatingWebhookConfiguration>(*server, "pods", "/mutate");
  configuration.webhooks[0].clientConfig.url = "https://127.0.0.1:1/mutate";
  server->Register(configuration);
  Start(server);
  WaitForCa<MutatingWebhookConfiguration>();
  const auto first = client().Get<MutatingWebhookConfiguration>(ctx(), {"", "hook"});
  ASSERT_TRUE(first.ok());
  // A change of the Secret causes another sync.
  ASSERT_TRUE(ChangeObject<Secret>(ctx(), client(), {"default", "hook-cert"}, [](Secret& secret) {
                secret.metadata.labels["touched"] = "yes";
                return Result<bool>(true);
              }).ok());
  (void)ctx().Sleep(std::chrono::milliseconds(600));
  const auto later = client().Get<MutatingWebhookConfiguration>(ctx(), {"", "hook"});
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->metadata.resourceVersion, first->metadata.resourceVersion);
}

TEST_F(WebhookTest, FailurePolicyAppliesToFailures) {
  const std::shared_ptr<WebhookServer> server = WebhookServer::Create(options_);
  server->Mutate<Pod>(
      "/mutate",
      [](Context&, const AdmissionRequest<Pod>&, Pod&) -> AdmissionResponse { throw 7; });
  Start(server);
  MutatingWebhookConfiguration configuration =
      For<MutatingWebhookConfiguration>(*server, "pods", "/mutate");
  ASSERT_TRUE(client().Create(ctx(), configuration).ok());
  WaitForCa<MutatingWebhookConfiguration>();
  const Result<Pod> refused = CreateUntil<Pod>(NewPod(), [](const Result<Pod>& made) {
    return !made.ok() && made.status().message().find("the webhook failed") != std::string::npos;
  });
  EXPECT_TRUE(refused.status().Is(Reason::kInternalError)) << refused.status().ToString();
  ASSERT_TRUE(
      ChangeObject<MutatingWebhookConfiguration>(ctx(), client(), {"", "hook"}, [](auto& changed) {
        changed.webhooks[0].failurePolicy = "Ignore";
        return Result<bool>(true);
      }).ok());
  EXPECT_TRUE(CreateUntil<Pod>(NewPod(), [](const Result<Pod>& made) { return made.ok(); }).ok());
}

}  // namespace
}  // namespace cox
