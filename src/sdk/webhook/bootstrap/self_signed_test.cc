// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/bootstrap/self_signed.h"

#include <gtest/gtest.h>

#include <climits>
#include <thread>

#include "api/apiextensions/v1.h"
#include "base/check.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "net/certificate.h"
#include "sdk/testing/memory_client.h"

namespace cox::sdk {
namespace {

using admissionregistration::v1::MutatingWebhookConfiguration;
using admissionregistration::v1::ValidatingWebhookConfiguration;
using apiextensions::v1::CustomResourceDefinition;
using std::chrono::hours;

SelfSigned Options() {
  return {.secret = {"system", "hook-cert"},
          .names = {"hook.system.svc"},
          .mutating = {"hook"},
          .validating = {"hook"},
          .crds = {"things.example.com"},
          .days = 90};
}

CaTargets Targets() {
  CaTargets targets;
  targets.mutating = {"hook"};
  targets.validating = {"hook"};
  targets.crds = {"things.example.com"};
  return targets;
}

// Records the installed certificates.
struct Installed {
  Mutex mu;
  CondVar changed;
  std::vector<std::string> certificates COX_GUARDED_BY(mu);

  SelfSignedCertificates::Install Function() {
    return [this](const net::CertificatePair& pair) {
      MutexLock lock(mu);
      certificates.push_back(pair.certificate_pem);
      changed.NotifyAll();
      return Status();
    };
  }
  size_t Count() {
    MutexLock lock(mu);
    return certificates.size();
  }
  Status WaitForCount(Context& ctx, size_t count) {
    MutexLock lock(mu);
    return ctx.Await(mu, changed, [&]() COX_REQUIRES(mu) { return certificates.size() >= count; });
  }
};

class SelfSignedTest : public ::testing::Test {
 protected:
  RealClock clock_;
  // Timeout of each test.
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(60));
  MemoryClient client_;

  MutatingWebhookConfiguration Mutating() {
    MutatingWebhookConfiguration configuration;
    configuration.metadata.name = "hook";
    configuration.webhooks.emplace_back().name = "a.example.com";
    configuration.webhooks.emplace_back().name = "b.example.com";
    return configuration;
  }
  void CreateTargets() {
    ASSERT_TRUE(client_.Create(ctx_, Mutating()).ok());
    ValidatingWebhookConfiguration validating;
    validating.metadata.name = "hook";
    validating.webhooks.emplace_back().name = "c.example.com";
    ASSERT_TRUE(client_.Create(ctx_, validating).ok());
    CustomResourceDefinition crd;
    crd.metadata.name = "things.example.com";
    crd.spec.conversion.emplace().webhook.emplace().clientConfig.emplace();
    ASSERT_TRUE(client_.Create(ctx_, crd).ok());
  }
};

TEST_F(SelfSignedTest, ConcurrentStartsShareOneCertificate) {
  constexpr size_t kReplicas = 8;
  std::vector<CertificateSet> got(kReplicas);
  Scope scope(ctx_, "replicas");
  for (size_t i = 0; i < kReplicas; ++i) {
    ASSERT_TRUE(scope
                    .Go("replica",
                        [&, i](Context& ctx) {
                          Result<CertificateSet> certificates =
                              GetOrCreateCertificates(ctx, client_, Options());
                          if (certificates.ok()) got[i] = *std::move(certificates);
                        })
                    .ok());
  }
  scope.Wait();
  EXPECT_EQ(client_.writes(), 1);
  EXPECT_FALSE(got[0].serving.certificate_pem.empty());
  for (const CertificateSet& each : got) EXPECT_EQ(each, got[0]);
}

TEST_F(SelfSignedTest, ConcurrentRenewalsShareOneCertificate) {
  core::v1::Secret old;
  old.metadata = {.name = "hook-cert", .namespace_ = "system"};
  old.data["tls.crt"] = "garbage";
  ASSERT_TRUE(client_.Create(ctx_, old).ok());
  std::vector<CertificateSet> got(4);
  Scope scope(ctx_, "replicas");
  for (CertificateSet& each : got) {
    ASSERT_TRUE(scope
                    .Go("replica",
                        [&](Context& ctx) {
                          Result<CertificateSet> certificates =
                              GetOrCreateCertificates(ctx, client_, Options());
                          if (certificates.ok()) each = *std::move(certificates);
                        })
                    .ok());
  }
  scope.Wait();
  EXPECT_EQ(client_.writes(), 2);
  for (const CertificateSet& each : got) EXPECT_EQ(each, got[0]);
}

TEST_F(SelfSignedTest, InjectsTheCaIntoAllTargets) {
  CreateTargets();
  ASSERT_TRUE(InjectCa(ctx_, client_, Targets(), "the CA").ok());
  const auto mutating = client_.Get<MutatingWebhookConfiguration>(ctx_, {"", "hook"});
  ASSERT_TRUE(mutating.ok());
  for (const auto& webhook : mutating->webhooks) {
    EXPECT_EQ(webhook.clientConfig.caBundle, "the CA");
  }
  const auto validating = client_.Get<ValidatingWebhookConfiguration>(ctx_, {"", "hook"});
  EXPECT_EQ(validating->webhooks[0].clientConfig.caBundle, "the CA");
  const auto crd = client_.Get<CustomResourceDefinition>(ctx_, {"", "things.example.com"});
  EXPECT_EQ(crd->spec.conversion->webhook->clientConfig->caBundle, "the CA");

  // A second call writes nothing.
  const int writes = client_.writes();
  ASSERT_TRUE(InjectCa(ctx_, client_, Targets(), "the CA").ok());
  EXPECT_EQ(client_.writes(), writes);
}

TEST_F(SelfSignedTest, SkipsMissingTargets) {
  EXPECT_TRUE(InjectCa(ctx_, client_, Targets(), "the CA").ok());
}

TEST_F(SelfSignedTest, CreatesItsOwnConfigurations) {
  CaTargets targets;
  targets.own_mutating = {Mutating()};
  ASSERT_TRUE(InjectCa(ctx_, client_, targets, "the CA").ok());
  const auto made = client_.Get<MutatingWebhookConfiguration>(ctx_, {"", "hook"});
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->webhooks.size(), 2U);
  EXPECT_EQ(made->webhooks[1].clientConfig.caBundle, "the CA");

  // A second call writes nothing, even if other writers have added fields.
  auto more = *made;
  more.metadata.labels["added"] = "by others";
  more.webhooks[0].timeoutSeconds = 10;
  ASSERT_TRUE(client_.Update(ctx_, more).ok());
  const int writes = client_.writes();
  ASSERT_TRUE(InjectCa(ctx_, client_, targets, "the CA").ok());
  EXPECT_EQ(client_.writes(), writes);
  ASSERT_TRUE(InjectCa(ctx_, client_, targets, "another CA").ok());
  EXPECT_EQ(client_.writes(), writes + 1);
}

TEST_F(SelfSignedTest, InjectsTheCaAgainAfterItWasOverwritten) {
  CreateTargets();
  Installed installed;
  SelfSignedCertificates certificates(client_, Options(), Targets(), installed.Function(), [] {});
  ASSERT_TRUE(certificates.Start(ctx_).ok());
  Scope scope(ctx_, "test");
  ASSERT_TRUE(scope.Go("follow", [&](Context& ctx) { certificates.Follow(ctx); }).ok());
  const std::function<bool(const MutatingWebhookConfiguration&)> complete =
      [](const MutatingWebhookConfiguration& configuration) {
        return configuration.webhooks[1].clientConfig.caBundle.starts_with("-----BEGIN");
      };
  ASSERT_TRUE(client_.WaitUntil(ctx_, "", "hook", complete).ok());
  // An update by a client that does not set the CA.
  ASSERT_TRUE(client_.Update(ctx_, Mutating()).ok());
  EXPECT_TRUE(client_.WaitUntil(ctx_, "", "hook", complete).ok());
  scope.Stop();
  scope.Wait();
}

TEST_F(SelfSignedTest, InstallsCertificatesRenewedByAnotherReplica) {
  Installed installed;
  SelfSignedCertificates certificates(client_, Options(), {}, installed.Function(), [] {});
  ASSERT_TRUE(certificates.Start(ctx_).ok());
  Scope scope(ctx_, "test");
  ASSERT_TRUE(scope.Go("follow", [&](Context& ctx) { certificates.Follow(ctx); }).ok());
  Result<core::v1::Secret> secret = client_.Get<core::v1::Secret>(ctx_, Options().secret);
  ASSERT_TRUE(secret.ok());
  Result<CertificateSet> renewed =
      Renewed(FromSecret(*secret), Options(), Renewal::kServing, clock_.Now());
  ASSERT_TRUE(renewed.ok());
  ToSecret(*renewed, *secret);
  ASSERT_TRUE(client_.Update(ctx_, *secret).ok());
  ASSERT_TRUE(installed.WaitForCount(ctx_, 2).ok());
  scope.Stop();
  scope.Wait();
  MutexLock lock(installed.mu);
  EXPECT_EQ(installed.certificates.back(), renewed->serving.certificate_pem);
}

TEST_F(SelfSignedTest, RetriesWhileTheServerIsUnavailable) {
  TestClock clock;
  Context ctx(clock);
  client_.SetFailing(true);
  Installed installed;
  SelfSignedCertificates certificates(client_, Options(), {}, installed.Function(), [] {});
  Scope scope(ctx, "test");
  Status started;
  ASSERT_TRUE(scope.Go("start", [&](Context& own) { started = certificates.Start(own); }).ok());
  clock.WaitForWaiters(1);  // it waits before the retry
  client_.SetFailing(false);
  clock.Advance(std::chrono::seconds(31));
  scope.Wait();
  EXPECT_TRUE(started.ok()) << started.ToString();
}

TEST_F(SelfSignedTest, RenewsBeforeExpiration) {
  TestClock clock;
  Context ctx(clock);
  Installed installed;
  SelfSignedCertificates certificates(client_, Options(), {}, installed.Function(), [] {});
  ASSERT_TRUE(certificates.Start(ctx).ok());
  Scope scope(ctx, "test");
  ASSERT_TRUE(scope.Go("follow", [&](Context& own) { certificates.Follow(own); }).ok());
  // There are no watch events: only the clock triggers the renewal.
  while (installed.Count() < 2) {
    ASSERT_TRUE(ctx_.status().ok());
    // It waits for a notification with a timer, or sleeps between two checks.
    while (clock.timers() == 0 && clock.waiters() == 0) std::this_thread::yield();
    clock.Advance(hours(6));
  }
  scope.Stop();
  scope.Wait();
  MutexLock lock(installed.mu);
  const auto first = net::ReadCertificate(installed.certificates.front());
  const auto second = net::ReadCertificate(installed.certificates[1]);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GT(second->not_after, first->not_after + hours(24) * 59);
}

TEST_F(SelfSignedTest, RejectsInvalidOptions) {
  struct Case {
    const char* name;
    void (*change)(SelfSigned& options);
  };
  const Case cases[] = {
      {"no names", [](SelfSigned& options) { options.names.clear(); }},
      {"no Secret", [](SelfSigned& options) { options.secret = {}; }},
      {"no days", [](SelfSigned& options) { options.days = 0; }},
      {"days before now", [](SelfSigned& options) { options.days = -5; }},
      {"a CA as short", [](SelfSigned& options) { options.ca_days = options.days; }},
      {"a CA that is shorter", [](SelfSigned& options) { options.ca_days = 30; }},
      {"a CA for ever", [](SelfSigned& options) { options.ca_days = INT_MAX; }},
  };
  for (const Case& test : cases) {
    SelfSigned options = Options();
    test.change(options);
    SelfSignedCertificates certificates(
        client_, options, {}, [](const auto&) { return Status(); }, [] {});
    EXPECT_TRUE(certificates.Start(ctx_).Is(Reason::kBadRequest)) << test.name;
  }
  EXPECT_EQ(client_.writes(), 0);
}

TEST_F(SelfSignedTest, ShortestAllowedValidityNeedsNoImmediateRenewal) {
  SelfSigned options = Options();
  options.days = 1;
  options.ca_days = 2;
  const Result<CertificateSet> first = GetOrCreateCertificates(ctx_, client_, options);
  const Result<CertificateSet> second = GetOrCreateCertificates(ctx_, client_, options);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(client_.writes(), 1);
}

}  // namespace
}  // namespace cox::sdk
