// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/reviews/reviews.h"
#include "apiserver/filters/authn/token_file.h"

#include "api/core/v1.h"
#include "apiserver/filters/authn/service_account/authenticator.h"
#include "apiserver/testing/test_keys.h"
#include "apiserver/testing/write_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

// Allows alice to get pods.
class AliceOnly final : public Authorizer {
 public:
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors&) const override {
    const bool allowed =
        user.name == "alice" && request.verb == "get" && request.resource == "pods";
    return {allowed, allowed ? "it is alice" : ""};
  }
  UserRules Rules(const UserInfo&, std::string_view ns) const override {
    UserRules rules = AlwaysAllow().Rules({}, ns);
    rules.error = "half of it";
    rules.incomplete = true;
    return rules;
  }
};

class ReviewsTest : public ::testing::Test {
 protected:
  ReviewsTest() {
    ServiceAccountTokenOptions options;
    options.signing_key_pem = RsaKeys().private_pem;
    options.max_expiration = std::chrono::hours(2);
    tokens_ = *ServiceAccountTokens::Create(std::move(options));
    std::vector<std::unique_ptr<const AuthMethod>> methods;
    methods.push_back(std::move(*NewTokenFileMethod("alicetoken,alice,1,dev\n")));
    methods.push_back(NewServiceAccountMethod(tokens_, api_.registry(), api_.clock()));
    authenticator_ =
        std::make_unique<const Authenticator>(std::move(methods), true, tokens_->api_audiences());
    reviews_ = std::make_unique<const Reviews>(Reviews::Parts{.authenticator = *authenticator_,
                                                              .authorizer = authorizer_,
                                                              .tokens = tokens_,
                                                              .resources = api_.handlers()});
    core::v1::ServiceAccount account;
    account.metadata.name = "sa";
    account.metadata.namespace_ = "default";
    account_ = api_.Create(Object::Of(account));
  }

  // Returns the body of the response. Sets code_ and warning_.
  Value Ask(const std::string& path, const std::string& body, net::Headers headers = {}) {
    FakeCall call(api_.clock(),
                  {.method = "POST", .target = path, .body = body, .headers = std::move(headers)});
    call->user = {.name = "alice", .uid = "1", .groups = {"dev"}, .extra = {{"k", {"v"}}}};
    EXPECT_TRUE(reviews_->Handle(*call)) << path;
    code_ = call.exchange().status();
    warning_ = call.exchange().Header("warning");
    Result<Value> value = json::Parse(call.exchange().Body());
    EXPECT_TRUE(value.ok()) << call.exchange().Body();
    return *value;
  }
  std::string Status(const std::string& path, const std::string& body) {
    const Value value = Ask(path, body);
    return std::to_string(code_) + " " +
           json::Write(code_ < 300 ? *value.Find("status") : *value.Find("message"));
  }

  WriteHarness api_;
  AliceOnly authorizer_;
  std::shared_ptr<const ServiceAccountTokens> tokens_;
  std::unique_ptr<const Authenticator> authenticator_;
  std::unique_ptr<const Reviews> reviews_;
  meta::v1::ObjectMeta account_;
  int code_ = 0;
  std::string warning_;
};

const std::string kAuthn = "/apis/authentication.k8s.io/v1/";
const std::string kAuthz = "/apis/authorization.k8s.io/v1/";
const std::string kToken = "/api/v1/namespaces/default/serviceaccounts/sa/token";

TEST_F(ReviewsTest, HandlesOnlyCreateRequestsForReviews) {
  for (const auto& [method, path] :
       {std::pair("GET", kAuthn + "tokenreviews"),
        {"POST", kAuthn + "tokenreviews/x"},
        {"POST", "/apis/authentication.k8s.io/v2/tokenreviews"},
        {"POST", "/apis/authentication.k8s.io/v1/namespaces/ns/tokenreviews"},
        {"POST", kAuthz + "localsubjectaccessreviews"},
        {"GET", kToken},
        {"POST", std::string("/api/v1/namespaces/default/serviceaccounts")}}) {
    FakeCall call(api_.clock(), {.method = method, .target = path});
    EXPECT_FALSE(reviews_->Handle(*call)) << method << path;
  }
}

TEST_F(ReviewsTest, SelfSubjectReviewReturnsTheUser) {
  EXPECT_EQ(
      Status(kAuthn + "selfsubjectreviews", R"({"status":{"userInfo":{"username":"x"}}})"),
      R"(201 {"userInfo":{"extra":{"k":["v"]},"groups":["dev"],"uid":"1","username":"alice"}})");
  Ask(kAuthn + "selfsubjectreviews", "{}",
      {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  EXPECT_EQ(code_, 406);
}

TEST_F(ReviewsTest, TokenReviewAuthenticatesTokens) {
  EXPECT_EQ(Status(kAuthn + "tokenreviews", R"({"spec":{"token":"alicetoken"}})"),
            R"(201 {"audiences":["https://kubernetes.default.svc"],"authenticated":true,"user":)"
            R"({"groups":["dev","system:authenticated"],"uid":"1","username":"alice"}})");
  EXPECT_EQ(Status(kAuthn + "tokenreviews", R"({"spec":{"token":"no"}})"),
            R"(201 {"error":"invalid bearer token","user":{}})");
  EXPECT_EQ(Status(kAuthn + "tokenreviews", "{}"),
            R"(400 "token is required for TokenReview in authentication")");
}

TEST_F(ReviewsTest, IssuedTokensAreValidForTheirAudienceOnly) {
  const Value made = Ask(kToken, R"({"spec":{"audiences":["a"],"expirationSeconds":600}})");
  ASSERT_EQ(code_, 201) << json::Write(made);
  EXPECT_EQ(made.At({"metadata", "uid"})->as_string(), account_.uid);
  const std::string token(made.At({"status", "token"})->as_string());
  EXPECT_EQ(Status(kAuthn + "tokenreviews",
                   R"({"spec":{"audiences":["b","a"],"token":")" + token + R"("}})")
                .substr(0, 41),
            R"(201 {"audiences":["a"],"authenticated":tr)");
  EXPECT_EQ(Status(kAuthn + "tokenreviews", R"({"spec":{"token":")" + token + R"("}})"),
            R"(201 {"error":"[invalid bearer token, token audiences [\"a\"] is invalid for the )"
            R"(target audiences [\"https://kubernetes.default.svc\"]]","user":{}})");
}

TEST_F(ReviewsTest, InvalidTokenRequestsAreRejected) {
  const struct {
    std::string body, want;
  } kCases[] = {
      {R"({"spec":{"expirationSeconds":599}})",
       R"(422 "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid )"
       R"(value: 599: may not specify a duration less than 10 minutes")"},
      {R"({"metadata":{"name":"other"}})",
       R"(422 "TokenRequest.authentication.k8s.io \"sa\" is invalid: metadata.name: Invalid value: )"
       R"(\"other\": must match the service account name if specified")"},
      {R"({"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"none"}}})",
       R"(404 "pods \"none\" not found")"},
      {R"({"spec":{"boundObjectRef":{"kind":"Node","apiVersion":"v1","name":"none"}}})",
       R"(404 "nodes \"none\" not found")"},
      {R"({"spec":{"boundObjectRef":{"kind":"ConfigMap","apiVersion":"v1","name":"none"}}})",
       R"(400 "cannot bind token to object of type /v1, Kind=ConfigMap")"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Status(kToken, c.body), c.want) << c.body;
}

TEST_F(ReviewsTest, TokenExpirationIsLimitedToTheMaximum) {
  const Value made = Ask(kToken, R"({"spec":{"expirationSeconds":86400}})");
  EXPECT_EQ(made.At({"spec", "expirationSeconds"})->as_int(), 7200);
  EXPECT_NE(warning_.find("requested expiration of 86400 seconds shortened to 7200 seconds"),
            std::string::npos);
}

TEST_F(ReviewsTest, AccessReviewEvaluatesTheGivenSubject) {
  EXPECT_EQ(
      Status(kAuthz + "subjectaccessreviews",
             R"({"spec":{"user":"alice","resourceAttributes":{"verb":"get","resource":"pods"}}})"),
      R"(201 {"allowed":true,"reason":"it is alice"})");
  EXPECT_EQ(
      Status(kAuthz + "subjectaccessreviews",
             R"({"spec":{"user":"bob","resourceAttributes":{"verb":"get","resource":"pods"}}})"),
      R"(201 {"allowed":false})");
  EXPECT_EQ(Status(kAuthz + "selfsubjectaccessreviews",
                   R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})"),
            R"(201 {"allowed":true,"reason":"it is alice"})");
  EXPECT_EQ(
      Status(kAuthz + "namespaces/ns/localsubjectaccessreviews",
             R"({"spec":{"user":"alice","resourceAttributes":{"namespace":"x"}}})"),
      R"(422 ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid )"
      R"(value: \"x\": must match metadata.namespace")");
}

TEST_F(ReviewsTest, UnparsableSelectorsAreReportedInEvaluationError) {
  const struct {
    std::string selectors, want;
  } kCases[] = {
      {R"("labelSelector":{"requirements":[{"key":"a","operator":"Bogus"}]})",
       "spec.resourceAttributes.labelSelector ignored due to parse error"},
      {R"("labelSelector":{"requirements":[{"key":"a","operator":"Bogus"},{"key":"b","operator":"Exists"}]})",
       "spec.resourceAttributes.labelSelector partially ignored due to parse error"},
      {R"("fieldSelector":{"rawSelector":"no selector"})",
       "spec.resourceAttributes.fieldSelector ignored due to parse error"},
  };
  for (const auto& c : kCases) {
    const Value answer = Ask(
        kAuthz + "selfsubjectaccessreviews",
        R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods",)" + c.selectors + "}}}");
    ASSERT_EQ(code_, 201) << json::Write(answer);
    EXPECT_EQ(answer.At({"status", "evaluationError"})->as_string(), c.want);
    EXPECT_TRUE(answer.At({"status", "allowed"})->as_bool());
  }
}

TEST_F(ReviewsTest, RulesReviewSeparatesResourceAndNonResourceRules) {
  EXPECT_EQ(Status(kAuthz + "selfsubjectrulesreviews", R"({"spec":{"namespace":"ns"}})"),
            R"(201 {"evaluationError":"half of it","incomplete":true,"nonResourceRules":)"
            R"([{"nonResourceURLs":["*"],"verbs":["*"]}],"resourceRules":)"
            R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})");
  EXPECT_EQ(Status(kAuthz + "selfsubjectrulesreviews", "{}"), R"(400 "no namespace on request")");
}

}  // namespace
}  // namespace cox::apiserver
