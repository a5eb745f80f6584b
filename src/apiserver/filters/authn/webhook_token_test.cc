// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/webhook_token.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

const std::vector<std::string> kAudiences = {"api"};

class WebhookTokenTest : public ::testing::Test {
 protected:
  std::string Await(std::string_view token) {
    return Show(method_->AwaitToken(ctx_, token, kAudiences));
  }
  std::string Try(std::string_view token) { return Show(method_->TryToken(token, kAudiences)); }
  static std::string Show(const AuthMethod::TokenResult& found) {
    if (!found.ok()) {
      return AuthMethod::IsWouldWait(found.status()) ? "wait" : found.status().message();
    }
    if (!*found) return "none";
    const AuthMethod::TokenIdentity& identity = **found;
    std::string text =
        identity.user.name + " " + identity.user.uid + " [" + Join(identity.user.groups, " ") + "]";
    for (const auto& [key, values] : identity.user.extra)
      text += " " + key + "=" + Join(values, ",");
    return text + (identity.audiences ? " for " + Join(*identity.audiences, ",") : "");
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::string answer_;  // JSON
  std::vector<std::string> asked_;
  const std::unique_ptr<const AuthMethod> method_ = NewWebhookTokenMethod(
      [this](const Context&, std::string json) -> Result<Value> {
        asked_.push_back(std::move(json));
        if (answer_.empty()) return Status(Reason::kForbidden, "the webhook is broken");
        return json::Parse(answer_);
      },
      {.kubeconfig_file = "unused", .version = "v1", .cache_ttl = std::chrono::minutes(2)}, clock_,
      nullptr);
};

TEST_F(WebhookTokenTest, ResultIsCachedForTtl) {
  answer_ = R"({"status":{"authenticated":true,"user":{"username":"alice","uid":"7",
      "groups":["dev","ops"],"extra":{"k":["a","b"]}},"audiences":["api","x"]}})";
  EXPECT_EQ(Try("t"), "wait") << "the connection's loop does not ask";
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(Await("t"), "alice 7 [dev ops] k=a,b for api");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0],
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","metadata":{},)"
            R"("spec":{"audiences":["api"],"token":"t"},"status":{}})");
  EXPECT_EQ(Try("t"), "alice 7 [dev ops] k=a,b for api");
  EXPECT_EQ(Try("other"), "wait");
  clock_.Advance(std::chrono::seconds(121));
  EXPECT_EQ(Try("t"), "wait");
}

TEST_F(WebhookTokenTest, RejectionsAreCachedBrieflyAndErrorsNever) {
  answer_ = R"({"status":{"authenticated":false,"error":"too old"}})";
  EXPECT_EQ(Await("t"), "too old");
  EXPECT_EQ(Try("t"), "too old");
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(Try("t"), "wait");
  answer_ = "";
  EXPECT_EQ(Await("t"), "the webhook is broken");
  EXPECT_EQ(Try("t"), "wait");
}

TEST_F(WebhookTokenTest, IncompleteReviewsDoNotAuthenticate) {
  for (const char* answer :
       {"{}", "[]", R"({"status":{}})",
        R"({"status":{"authenticated":"true","user":{"username":"x"}}})",
        R"({"status":{"authenticated":true}})", R"({"status":{"user":{"username":"root"}}})",
        R"({"status":{"authenticated":true,"user":{"username":"x"},"audiences":["other"]}})"}) {
    answer_ = answer;
    clock_.Advance(std::chrono::minutes(1));
    EXPECT_EQ(Await("t"), "none") << answer;
  }
}

}  // namespace
}  // namespace cox::apiserver
