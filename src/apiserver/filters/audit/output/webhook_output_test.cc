// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/webhook_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "apiserver/testing/fake_output.h"
#include "net/testing/loopback.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using namespace std::chrono_literals;

AuditEventPtr Event(std::string_view id) {
  return MakeEvent(std::string(AuditEvent::kTypeMeta) + "\"auditID\":\"" + std::string(id) + "\"}");
}

class WebhookOutputTest : public testing::Test {
 protected:
  WebhookOutputTest() {
    std::ofstream(path_) << R"({"apiVersion":"v1","kind":"Config","current-context":"c",
      "contexts":[{"name":"c","context":{"cluster":"s","user":""}}],
      "clusters":[{"name":"s","cluster":{"server":"http://127.0.0.1:)"
                         << server_.server->port() << R"(/sink"}}]})";
  }
  ~WebhookOutputTest() override { std::filesystem::remove(path_); }

  void Answer(const net::ExchangePtr& exchange) {
    {
      MutexLock lock(mu_);
      bodies_.push_back(exchange->request().body);
    }
    const int call = ++calls_;
    // An empty response body is valid.
    exchange->Send({.status = call <= failures_ ? 503 : 200, .headers = {}, .body = {}});
  }

  RealClock clock_;
  Context ctx_{clock_};
  std::atomic<int> calls_ = 0;
  std::atomic<int> failures_ = 0;
  Mutex mu_;
  std::vector<std::string> bodies_ COX_GUARDED_BY(mu_);
  net::Loopback server_{[this](net::ExchangePtr exchange) { Answer(exchange); },
                        {},
                        /*tls=*/false};
  const std::string path_ =
      (std::filesystem::path(testing::TempDir()) / ("audit_hook." + std::to_string(getpid())))
          .string();
};

TEST_F(WebhookOutputTest, EventsArePostedAsEventList) {
  auto output = NewWebhookOutput(ctx_, {.kubeconfig = path_});
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_EQ((*output)->name(), "webhook");
  const std::vector<AuditEventPtr> events = {Event("a"), Event("b")};
  const AuditOutcome outcome = (*output)->Write(ctx_, events);
  EXPECT_EQ(outcome.lost, 0u) << outcome.status.message();
  MutexLock lock(mu_);
  ASSERT_EQ(bodies_.size(), 1u);
  EXPECT_EQ(bodies_[0],
            R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)"
            R"({"auditID":"a"},{"auditID":"b"}]})"
            "\n");
}

TEST_F(WebhookOutputTest, RejectedEventsAreRetriedAndFinallyDropped) {
  auto output = NewWebhookOutput(ctx_, {.kubeconfig = path_, .initial_backoff = 1ms});
  ASSERT_TRUE(output.ok()) << output.status().message();
  const std::vector<AuditEventPtr> events = {Event("a"), Event("b")};
  failures_ = 2;
  EXPECT_EQ((*output)->Write(ctx_, events).lost, 0u);
  EXPECT_EQ(calls_.load(), 3);
  failures_ = 1000;
  const AuditOutcome outcome = (*output)->Write(ctx_, events);
  EXPECT_EQ(outcome.lost, 2u);
  EXPECT_FALSE(outcome.status.ok());
  EXPECT_EQ(calls_.load(), 8);
}

TEST_F(WebhookOutputTest, MissingKubeconfigIsRejected) {
  EXPECT_FALSE(NewWebhookOutput(ctx_, {.kubeconfig = path_ + ".missing"}).ok());
}

}  // namespace
}  // namespace cox::apiserver
