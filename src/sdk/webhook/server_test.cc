// SPDX-License-Identifier: Apache-2.0
// Tests of the webhook server over HTTPS on the loopback interface.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "api/core/v1.h"
#include "base/check.h"
#include "base/scope.h"
#include "coxswain/webhook.h"
#include "net/certificate.h"
#include "net/testing/loopback.h"
#include "object/codec/json/json.h"
#include "sdk/testing/memory_client.h"

namespace cox::sdk {
namespace {

using core::v1::Pod;
using std::chrono::seconds;

constexpr std::string_view kPodReview =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1",)"
    R"("kind":{"group":"","version":"v1","kind":"Pod"},"operation":"CREATE","userInfo":{},)"
    R"("object":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    folder_ = std::filesystem::temp_directory_path() /
              ("cox-webhook-" + std::to_string(getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    ca_ = net::Loopback::Made({.common_name = "ca", .is_ca = true}, nullptr);
    WriteCertificate("first");
    options_.address = "127.0.0.1:0";
    options_.certificate_folder = folder_;
  }
  ~ServerTest() override {
    (void)Stop();
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / (name + ".new")) << text;
    std::filesystem::rename(folder_ / (name + ".new"), folder_ / name);
  }
  void WriteCertificate(const std::string& common_name, int days = 30) {
    const auto pair = net::Loopback::Made(
        {.common_name = common_name, .ip_addresses = {"127.0.0.1"}, .days = days}, &ca_);
    Write("tls.key", pair.key_pem);
    Write("tls.crt", pair.certificate_pem);
  }

  WebhookServer& Server() {
    if (server_ == nullptr) server_ = WebhookServer::Create(options_, &metrics_);
    return *server_;
  }
  // Adds /slow, which responds when go_on_ is true.
  void ServeSlowly() {
    Server().Validate<Pod>("/slow", [this](Context&, const AdmissionRequest<Pod>&) {
      entered_ = true;
      while (!go_on_) std::this_thread::yield();
      return AdmissionResponse::Allow();
    });
  }
  // Returns when the server is ready.
  void Start(Client* client = nullptr) {
    Server();
    COX_CHECK_OK(scope_.Go("server", [this, client](Context& ctx) {
      ended_ = server_->Run(ctx, client);
      ran_ = true;
    }));
    while (!server_->Ready(clock_).ok() && !ran_) std::this_thread::yield();
    COX_CHECK(!ran_) << ended_.ToString();
  }
  Status Stop() {
    scope_.Stop();
    scope_.Wait();
    return ended_;
  }

  std::unique_ptr<net::Client> MakeClient(const std::string& ca_pem = "",
                                          const net::CertificatePair& own = {}) {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = server_->port();
    options.tls_options.ca_pem = ca_pem.empty() ? ca_.certificate_pem : ca_pem;
    options.tls_options.certificate_pem = own.certificate_pem;
    options.tls_options.key_pem = own.key_pem;
    auto client = net::Client::Create(ctx_, options);
    COX_CHECK_OK(client.status());
    return *std::move(client);
  }
  Result<net::Response> Post(net::Client& client, const std::string& target,
                             std::string_view body = kPodReview) {
    net::Request request;
    request.method = "POST";
    request.target = target;
    request.headers.Add("content-type", "application/json");
    request.body = body;
    return client.Do(ctx_, std::move(request));
  }
  int CodeOf(const std::string& target, std::string_view body = kPodReview) {
    const auto client = MakeClient();
    const auto response = Post(*client, target, body);
    return response.ok() ? response->status : -1;
  }
  admission::v1::AdmissionResponse Ask(const std::string& target) {
    const auto client = MakeClient();
    const auto answer = Post(*client, target);
    COX_CHECK_OK(answer.status());
    EXPECT_EQ(answer->status, 200) << net::TextOf(*answer);
    auto review = json::Decode<admission::v1::AdmissionReview>(net::TextOf(*answer));
    COX_CHECK_OK(review.status());
    return *review->response;
  }
  bool Shows(const std::string& line) {
    return metrics_.Render().find(line + "\n") != std::string::npos;
  }

  RealClock clock_;
  // Timeout of each test.
  Context ctx_ = Context(clock_).WithTimeout(seconds(60));
  std::filesystem::path folder_;
  net::CertificatePair ca_;
  WebhookOptions options_;
  MetricsRegistry metrics_;
  std::unique_ptr<WebhookServer> server_;
  Status ended_;
  std::atomic<bool> ran_ = false;
  std::atomic<bool> entered_ = false;  // a request is in /slow
  std::atomic<bool> go_on_ = false;
  Scope scope_{ctx_, "server-test"};
};

AdmissionResponse AllowPod(Context&, const AdmissionRequest<Pod>&) {
  return AdmissionResponse::Allow();
}

TEST_F(ServerTest, CallsTypedAndDynamicHandlers) {
  Server().Mutate<Pod>("/mutate", [](Context&, const AdmissionRequest<Pod>& request, Pod& pod) {
    EXPECT_EQ(request.object->metadata.name, "p");
    pod.spec.containers[0].image = "other";
    return AdmissionResponse::Allow();
  });
  Server().Mutate<Object>("/mutate-any",
                          [](Context&, const AdmissionRequest<Object>&, Object& object) {
                            object.value().as_object()["extra"] = true;
                            return AdmissionResponse::Allow();
                          });
  Server().Validate<Pod>("/validate", [](Context&, const AdmissionRequest<Pod>& request) {
    return AdmissionResponse::Deny("no " + request.object->metadata.name);
  });
  Server().Convert("/convert", [](Context&, const Value& object, const std::string&) {
    return Result<Value>(object);
  });
  Start();
  const auto mutated = Ask("/mutate?timeout=10s");
  EXPECT_EQ(mutated.uid, "u1");
  EXPECT_EQ(mutated.patch,
            R"([{"op":"replace","path":"/spec/containers/0/image","value":"other"}])");
  EXPECT_EQ(Ask("/mutate-any").patch, R"([{"op":"add","path":"/extra","value":true}])");
  const auto denied = Ask("/validate");
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.status->message, "no p");
  EXPECT_EQ(CodeOf("/convert",
                   R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",
                       "request":{"uid":"u","desiredAPIVersion":"e/v2","objects":[]}})"),
            200);
  EXPECT_TRUE(
      Shows(R"(controller_runtime_webhook_requests_total{code="200",webhook="/mutate"} 1)"));
  EXPECT_TRUE(Shows(R"(controller_runtime_webhook_requests_in_flight{webhook="/mutate"} 0)"));
  EXPECT_TRUE(Shows(R"(controller_runtime_webhook_latency_seconds_count{webhook="/mutate"} 1)"));
  EXPECT_TRUE(Shows("certwatcher_read_certificate_total 1"));
  EXPECT_TRUE(Shows("certwatcher_read_certificate_errors_total 0"));
  EXPECT_TRUE(Stop().ok());
  EXPECT_FALSE(Server().Ready(clock_).ok());
}

TEST_F(ServerTest, RejectsRequestsThatAreNotReviews) {
  options_.max_body_bytes = 10'000;
  Server().Validate<Pod>("/validate", AllowPod);
  Start();
  const auto client = MakeClient();
  const auto code = [&](const std::string& method, const std::string& target,
                        const std::string& type, std::string body) {
    net::Request request;
    request.method = method;
    request.target = target;
    request.headers.Add("content-type", type);
    request.body = std::move(body);
    const auto response = client->Do(ctx_, std::move(request));
    return response.ok() ? response->status : -1;
  };
  const std::string good(kPodReview);
  EXPECT_EQ(code("POST", "/validate", "application/json; charset=utf-8", good), 200);
  EXPECT_EQ(code("POST", "/other", "application/json", good), 404);
  EXPECT_EQ(code("GET", "/validate", "application/json", ""), 405);
  EXPECT_EQ(code("POST", "/validate", "application/yaml", good), 415);
  EXPECT_EQ(code("POST", "/validate", "application/json", std::string(10'001, ' ')), 413);
  EXPECT_EQ(code("POST", "/validate", "application/json", "{"), 400);
  EXPECT_EQ(code("POST", "/validate", "application/json", R"({"kind":"Pod"})"), 400);
  EXPECT_TRUE(
      Shows(R"(controller_runtime_webhook_requests_total{code="413",webhook="/validate"} 1)"));
  EXPECT_TRUE(
      Shows(R"(controller_runtime_webhook_requests_total{code="400",webhook="/validate"} 2)"));
}

TEST_F(ServerTest, CatchesExceptionsOfHandlers) {
  Server().Validate<Pod>("/throws",
                         [](Context&, const AdmissionRequest<Pod>&) -> AdmissionResponse {
                           throw std::runtime_error("oops");
                         });
  Server().Validate<Pod>(
      "/throws-odd", [](Context&, const AdmissionRequest<Pod>&) -> AdmissionResponse { throw 7; });
  Server().Validate<Pod>("/fails", [](Context&, const AdmissionRequest<Pod>&) {
    return AdmissionResponse::Fail(Status::Unavailable("later"));
  });
  Start();
  EXPECT_EQ(CodeOf("/throws"), 500);
  EXPECT_EQ(CodeOf("/throws-odd"), 500);
  EXPECT_EQ(CodeOf("/fails"), 503);
  EXPECT_TRUE(Shows("controller_runtime_webhook_panics_total 2"));
  EXPECT_TRUE(
      Shows(R"(controller_runtime_webhook_requests_total{code="500",webhook="/throws"} 1)"));
  EXPECT_TRUE(Shows(R"(controller_runtime_webhook_requests_in_flight{webhook="/throws"} 0)"));
}

TEST_F(ServerTest, HandlersGetTheTimeoutOfTheRequest) {
  Server().Validate<Pod>("/slow", [](Context& ctx, const AdmissionRequest<Pod>&) {
    // Returns long before the default timeout of 30 s.
    (void)ctx.Sleep(seconds(300));
    return AdmissionResponse::Allow();
  });
  Start();
  EXPECT_EQ(CodeOf("/slow?timeout=50ms"), 504);
}

TEST_F(ServerTest, TimeoutIncludesTheTimeInTheQueue) {
  options_.max_concurrent = 1;
  Server().Validate<Pod>("/slow", [](Context& ctx, const AdmissionRequest<Pod>&) {
    (void)ctx.Sleep(seconds(300));
    return AdmissionResponse::Allow();
  });
  Start();
  std::atomic<int> late = 0;
  Scope callers(ctx_, "callers");
  for (int i = 0; i < 4; ++i) {
    COX_CHECK_OK(callers.Go("caller", [&](Context&) {
      if (CodeOf("/slow?timeout=300ms") == 504) ++late;
    }));
  }
  callers.Wait();
  // The timeout also applies to waiting requests.
  EXPECT_EQ(late, 4);
}

TEST_F(ServerTest, LimitsTheBytesOfWaitingBodies) {
  options_.max_body_bytes = 4'000;
  options_.max_concurrent = 1;
  ServeSlowly();
  Start();
  std::string large(kPodReview);
  large.resize(3'900, ' ');  // four fit, with 400 bytes left
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> others = 0;
  Scope callers(ctx_, "callers");
  const auto call = [&](const std::string& body) {
    COX_CHECK_OK(callers.Go("caller", [&, body](Context&) {
      const auto client = MakeClient();
      const auto response = Post(*client, "/slow", body);
      const int code = response.ok() ? response->status : -1;
      const bool told = code == 503 && response->headers.Get("retry-after") == "1";
      ++(code == 200 ? answered : told ? refused : others);
    }));
  };
  call(large);
  while (!entered_ && others == 0) std::this_thread::yield();
  for (int i = 0; i < 8; ++i) call(large);
  while (refused + others < 4 && ctx_.status().ok()) std::this_thread::yield();
  go_on_ = true;
  callers.Wait();
  EXPECT_EQ(answered, 5);  // the first, and four that waited
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(others, 0);
  // The waiting requests have released their bytes.
  EXPECT_EQ(CodeOf("/slow", large), 200);
}

TEST_F(ServerTest, FinishesRequestsInFlightOnStop) {
  ServeSlowly();
  Start();
  std::atomic<int> code = 0;
  Scope callers(ctx_, "callers");
  COX_CHECK_OK(callers.Go("caller", [&](Context&) { code = CodeOf("/slow"); }));
  while (!entered_) std::this_thread::yield();
  scope_.Stop();
  go_on_ = true;
  callers.Wait();
  EXPECT_EQ(code, 200);
  EXPECT_TRUE(Stop().ok());
}

TEST_F(ServerTest, ReloadsCertificatesWithoutDroppingRequests) {
  Server().Validate<Pod>("/validate", AllowPod);
  Start();
  std::atomic<bool> done = false;
  std::atomic<int> failed = 0;
  std::atomic<int> answered = 0;
  Scope load(ctx_, "load");
  for (int i = 0; i < 2; ++i) {
    COX_CHECK_OK(load.Go("load", [&](Context&) {
      while (!done) {
        const int code = CodeOf("/validate");  // a new connection each time
        ++(code == 200 ? answered : failed);
      }
    }));
  }
  for (int i = 0; i < 5; ++i) {
    WriteCertificate("next-" + std::to_string(i));
    const int before = answered;
    while (answered < before + 5 && failed == 0) std::this_thread::yield();
  }
  done = true;
  load.Wait();
  EXPECT_EQ(failed, 0);
  // Finally a certificate of another CA: used without a restart.
  ca_ = net::Loopback::Made({.common_name = "next-ca", .is_ca = true}, nullptr);
  WriteCertificate("of-another-ca");
  while (CodeOf("/validate") != 200) {
    ASSERT_TRUE(ctx_.status().ok()) << "the new certificate is not used";
  }
}

TEST_F(ServerTest, KeepsTheCertificateIfTheNewOneIsInvalid) {
  Server().Validate<Pod>("/validate", AllowPod);
  Start();
  Write("tls.crt", "not a certificate");
  while (!Shows("certwatcher_read_certificate_errors_total 1")) {
    ASSERT_TRUE(ctx_.status().ok());
    std::this_thread::yield();
  }
  EXPECT_EQ(CodeOf("/validate"), 200);
  EXPECT_TRUE(Server().Ready(clock_).ok());
}

TEST_F(ServerTest, IsNotReadyWithAnExpiredCertificate) {
  Server().Validate<Pod>("/validate", AllowPod);
  Start();
  class Later final : public Clock {
   public:
    WallTime Now() const override { return clock_.Now() + std::chrono::hours(24 * 31); }
    SteadyTime Monotonic() const override { return clock_.Monotonic(); }
    Timer After(Duration delay, std::function<void()> callback) override {
      return clock_.After(delay, std::move(callback));
    }
    WakeCause Park(Waiter& waiter, SteadyTime deadline) override {
      return clock_.Park(waiter, deadline);
    }

   private:
    RealClock clock_;
  };
  const Status late = Server().Ready(Later());
  EXPECT_NE(late.message().find("expired"), std::string::npos) << late.ToString();
}

TEST_F(ServerTest, RunReturnsConfigurationErrors) {
  Write("tls.key", "not a key");
  EXPECT_TRUE(Server().Run(ctx_, nullptr).Is(Reason::kBadRequest));
  EXPECT_TRUE(Shows("certwatcher_read_certificate_errors_total 1"));
  options_.certificate_folder = folder_ / "nowhere";
  MetricsRegistry nowhere;
  EXPECT_TRUE(WebhookServer::Create(options_, &nowhere)->Run(ctx_, nullptr).Is(Reason::kNotFound));
  EXPECT_NE(nowhere.Render().find("certwatcher_read_certificate_errors_total 1\n"),
            std::string::npos);
  options_.certificate_folder = folder_;
  WriteCertificate("good");
  for (const char* address : {"nonsense", "", "0"}) {
    options_.address = address;
    EXPECT_TRUE(WebhookServer::Create(options_)->Run(ctx_, nullptr).Is(Reason::kBadRequest))
        << address;
  }
}

TEST_F(ServerTest, RequiresClientCertificatesIfAClientCaIsSet) {
  const auto client_ca = net::Loopback::Made({.common_name = "client-ca", .is_ca = true}, nullptr);
  const auto other_ca = net::Loopback::Made({.common_name = "other-ca", .is_ca = true}, nullptr);
  const net::CertificateRequest request{.common_name = "kube-apiserver", .client_auth = true};
  const auto good = net::Loopback::Made(request, &client_ca);
  const auto bad = net::Loopback::Made(request, &other_ca);
  Write("client-ca.crt", client_ca.certificate_pem);
  options_.client_ca_file = folder_ / "client-ca.crt";
  Server().Validate<Pod>("/validate", AllowPod);
  Start();
  const auto code = [&](const net::CertificatePair& own) {
    const auto client = MakeClient("", own);
    const auto response = Post(*client, "/validate");
    return response.ok() ? response->status : -1;
  };
  EXPECT_EQ(code(good), 200);
  EXPECT_EQ(code({}), 401);
  EXPECT_EQ(code(bad), 401);
  // The file is reloaded.
  Write("client-ca.crt", other_ca.certificate_pem);
  while (code(bad) != 200) ASSERT_TRUE(ctx_.status().ok());
  EXPECT_EQ(code(good), 401);
}

TEST_F(ServerTest, ReplicasShareOneSelfSignedCertificate) {
  using admissionregistration::v1::MutatingWebhookConfiguration;
  options_.self_signed = SelfSigned{.secret = {"system", "hook-cert"}, .names = {"127.0.0.1"}};
  MutatingWebhookConfiguration configuration;
  configuration.metadata.name = "hook";
  configuration.webhooks.emplace_back().name = "a.example.com";
  MemoryClient cluster;
  const auto second = WebhookServer::Create(options_);
  for (WebhookServer* server : {&Server(), second.get()}) {
    server->Validate<Pod>("/validate", AllowPod);
    server->Register(configuration);
  }
  Scope other(ctx_, "other");
  COX_CHECK_OK(other.Go("second", [&](Context& ctx) { (void)second->Run(ctx, &cluster); }));
  Start(&cluster);
  while (!second->Ready(clock_).ok()) {
    ASSERT_TRUE(ctx_.status().ok());
    std::this_thread::yield();
  }
  const auto made = cluster.Get<MutatingWebhookConfiguration>(ctx_, {"", "hook"});
  ASSERT_TRUE(made.ok());
  // Both servers use a certificate of the injected CA.
  const std::string& bundle = made->webhooks[0].clientConfig.caBundle;
  const auto code = [&](uint16_t port) {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = port;
    options.tls_options.ca_pem = bundle;
    const auto client = net::Client::Create(ctx_, options);
    const auto response = Post(**client, "/validate");
    return response.ok() ? response->status : -1;
  };
  EXPECT_EQ(code(Server().port()), 200);
  EXPECT_EQ(code(second->port()), 200);
  other.Stop();
  other.Wait();
  EXPECT_TRUE(Stop().ok());
}

}  // namespace
}  // namespace cox::sdk
