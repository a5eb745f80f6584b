// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/chain.h"

#include "apiserver/filters/authn/token_file.h"
#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

class ChainTest : public ::testing::Test {
 protected:
  ChainTest()
      : authenticator_(Methods(), /*anonymous=*/true),
        chain_(BuildChain(
            {.metrics = metrics_,
             .authenticator = authenticator_,
             .impersonation = impersonation_,
             .gate = gate_,
             .authorizer = authorizer_,
             .offload = [](std::shared_ptr<Call> call, auto then) { then(std::move(call)); },
             .dispatch =
                 [this](const std::shared_ptr<Call>& call) {
                   dispatched_ = call;
                   call->RespondText(200, "dispatched");
                 }})) {}

  static std::vector<std::unique_ptr<const AuthMethod>> Methods() {
    std::vector<std::unique_ptr<const AuthMethod>> methods;
    methods.push_back(std::move(*NewTokenFileMethod("secret,root,1,system:masters\n")));
    return methods;
  }

  std::shared_ptr<FakeExchange> Run(std::string method, std::string target,
                                    net::Headers headers = {}) {
    auto exchange =
        std::make_shared<FakeExchange>(clock_, net::Request{.method = std::move(method),
                                                            .target = std::move(target),
                                                            .headers = std::move(headers),
                                                            .body = {},
                                                            .peer = nullptr});
    RunChain(chain_, std::make_shared<Call>(exchange, "id"));
    return exchange;
  }

  TestClock clock_;
  MetricsRegistry registry_;
  RequestMetrics metrics_{registry_,
                          [] { return std::make_shared<const ServedSet>(ServedSet::Groups()); }};
  Authenticator authenticator_;
  UnionAuthorizer authorizer_{{}};  // system:masters only
  Impersonation impersonation_{authorizer_};
  class Gate final : public RequestGate {
   public:
    bool Enter(const std::shared_ptr<Call>& call) override {
      if (closed) parked = call;
      return !closed;
    }
    bool closed = false;
    std::shared_ptr<Call> parked;
  };
  Gate gate_;
  std::shared_ptr<Call> dispatched_;
  Chain chain_;
};

TEST_F(ChainTest, StagesAreInOrder) {
  std::vector<std::string_view> names;
  for (const Stage& stage : chain_.stages) names.push_back(stage.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"requestinfo", "metrics", "timeout", "authn",
                                                  "audit", "impersonation", "fairness", "authz",
                                                  "body", "fencing", "offload"}));
}

TEST_F(ChainTest, AllowedRequestIsDispatchedWithUserInfoAndQuery) {
  auto answer =
      Run("GET", "/api/v1/namespaces/ns/pods?limit=1", {{"authorization", "Bearer secret"}});
  EXPECT_EQ(answer->Body(), "dispatched");
  EXPECT_EQ(answer->Header("audit-id"), "id");
  ASSERT_NE(dispatched_, nullptr);
  EXPECT_EQ(dispatched_->user.name, "root");
  EXPECT_EQ(dispatched_->info.verb, "list");
  EXPECT_EQ(dispatched_->query.Get("limit"), "1");
  // The credential is removed after authentication.
  EXPECT_EQ(dispatched_->Header("authorization"), std::nullopt);
}

TEST_F(ChainTest, FailedStageDeterminesResponse) {
  const struct {
    std::string_view target, token;
    int code;
    std::string_view message;
  } kCases[] = {
      {"/api/v1/pods/%zz", "secret", 400, "invalid URL escape in the path"},
      {"/api/v1/pods", "wrong", 401, "Unauthorized"},
      {"/api/v1/pods", "", 403,
       R"(pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" at the cluster scope)"},
  };
  for (const auto& c : kCases) {
    net::Headers headers;
    if (!c.token.empty()) headers.Add("authorization", "Bearer " + std::string(c.token));
    auto answer = Run("GET", std::string(c.target), headers);
    EXPECT_EQ(answer->status(), c.code) << c.target;
    EXPECT_NE(answer->Body().find(c.message), std::string::npos) << answer->Body();
  }
  EXPECT_EQ(dispatched_, nullptr);
}

TEST_F(ChainTest, BodyIsAcceptedOnlyFromClientsThatMaySendIt) {
  const auto accepts = [&](const std::string& token) {
    net::Request request{.method = "POST", .target = "/api/v1/namespaces/ns/pods"};
    if (!token.empty()) request.headers.Add("authorization", "Bearer " + token);
    return AcceptsBody(request, authenticator_, authorizer_);
  };
  EXPECT_TRUE(accepts("secret"));
  EXPECT_FALSE(accepts("wrong"));
  EXPECT_FALSE(accepts("")) << "anonymous, and not authorized";
  EXPECT_TRUE(AcceptsBody({.method = "POST", .target = "/x"}, authenticator_, AlwaysAllow()));
}

TEST_F(ChainTest, RequestWithoutItsBodyIsNotDispatched) {
  for (const auto& [token, code] : {std::pair("secret", 503), std::pair("wrong", 401)}) {
    net::Request request{.method = "POST", .target = "/api/v1/namespaces/ns/pods"};
    request.headers.Add("authorization", std::string("Bearer ") + token);
    request.rejected = true;
    auto exchange = std::make_shared<FakeExchange>(clock_, std::move(request));
    RunChain(chain_, std::make_shared<Call>(exchange, "id"));
    EXPECT_EQ(exchange->status(), code);
  }
  EXPECT_EQ(dispatched_, nullptr);
}

TEST_F(ChainTest, ImpersonationPrecedesAuthorizationAndRemovesHeaders) {
  auto answer = Run("GET", "/api/v1/pods",
                    {{"authorization", "Bearer secret"},
                     {"impersonate-user", "zed"},
                     {"impersonate-group", "system:masters"}});
  EXPECT_EQ(answer->Body(), "dispatched");
  EXPECT_EQ(dispatched_->user.name, "zed");
  EXPECT_EQ(dispatched_->Header("impersonate-user"), std::nullopt);
  EXPECT_EQ(dispatched_->Header("impersonate-group"), std::nullopt);
  answer =
      Run("GET", "/api/v1/pods", {{"authorization", "Bearer secret"}, {"impersonate-user", "zed"}});
  EXPECT_EQ(answer->status(), 403);
}

TEST_F(ChainTest, QueuedCallContinuesAfterFairness) {
  gate_.closed = true;
  auto answer = Run("GET", "/api/v1/pods", {{"authorization", "Bearer secret"}});
  ASSERT_NE(gate_.parked, nullptr);
  EXPECT_EQ(gate_.parked->user.name, "root");
  EXPECT_FALSE(answer->answered());
  RunChain(chain_, gate_.parked, chain_.after_fairness);
  EXPECT_EQ(answer->Body(), "dispatched");
}

TEST_F(ChainTest, ListWithNameFieldSelectorIsAuthorizedByName) {
  for (const auto& [query, name] :
       {std::pair("fieldSelector=metadata.name%3Dweb", R"(pods \"web\" is forbidden)"),
        {"fieldSelector=metadata.name%3Da/b", "pods is forbidden"},
        {"fieldSelector=metadata.name!%3Dweb", "pods is forbidden"},
        {"fieldSelector=a%3Db", "pods is forbidden"}}) {
    auto answer = Run("GET", std::string("/api/v1/namespaces/ns/pods?") + query);
    EXPECT_NE(answer->Body().find(name), std::string::npos) << answer->Body();
  }
}

// An authorizer that may block if the test says so. It records whether it was called after the
// request had left the event loop.
class SlowAuthorizer final : public Authorizer {
 public:
  bool MayBlock() const override { return slow; }
  Decision Decide(const UserInfo&, const RequestInfo&, const Selectors&) const override {
    called_after_move = moved;
    return {true, {}};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }

  bool slow = false;
  bool moved = false;
  mutable bool called_after_move = false;
};

TEST_F(ChainTest, AuthorizerThatMayBlockIsNotCalledOnTheLoop) {
  SlowAuthorizer authorizer;
  const Impersonation impersonation(authorizer);
  int moves = 0;
  chain_ = BuildChain({.metrics = metrics_,
                       .authenticator = authenticator_,
                       .impersonation = impersonation,
                       .gate = gate_,
                       .authorizer = authorizer,
                       .offload =
                           [&](std::shared_ptr<Call> call, auto then) {
                             ++moves;
                             authorizer.moved = true;
                             then(std::move(call));
                             authorizer.moved = false;
                           },
                       .dispatch = [](const auto& call) { call->RespondText(200, "done"); }});
  EXPECT_EQ(Run("GET", "/api/v1/pods")->Body(), "done");
  EXPECT_FALSE(authorizer.called_after_move);
  EXPECT_EQ(moves, 1);
  authorizer.slow = true;
  EXPECT_EQ(Run("GET", "/api/v1/pods")->Body(), "done");
  EXPECT_TRUE(authorizer.called_after_move);
  EXPECT_EQ(moves, 2);
}

TEST_F(ChainTest, ExtraSpaceBeforeTokenIsIgnoredWithWarning) {
  auto answer = Run("GET", "/api/v1/pods", {{"authorization", "Bearer  secret"}});
  EXPECT_EQ(answer->status(), 403);
  EXPECT_NE(answer->Header("warning").find("contains extra space before the bearer token"),
            std::string::npos);
}

TEST(RunChainTest, StageThatMustWaitIsRerunElsewhereWithTheRestOfTheChain) {
  TestClock clock;
  std::string log;
  const auto note = [&log](std::string_view name, const std::shared_ptr<Call>& call) {
    log.append(name).append(call->may_wait ? "+ " : "- ");
  };
  const Chain chain = {{{"first",
                         [&](const std::shared_ptr<Call>& call) -> Result<Next> {
                           note("first", call);
                           return Next::kGoOn;
                         }},
                        {"waits",
                         [&](const std::shared_ptr<Call>& call) -> Result<Next> {
                           note("waits", call);
                           return call->may_wait ? Next::kGoOn : Next::kWait;
                         }},
                        {"last",
                         [&](const std::shared_ptr<Call>& call) -> Result<Next> {
                           note("last", call);
                           return Next::kDone;
                         }}},
                       [&log](std::shared_ptr<Call> call, auto then) {
                         log += "moved ";
                         then(std::move(call));
                       }};
  RunChain(chain, FakeCall(clock, {.target = "/"}).shared());
  EXPECT_EQ(log, "first- waits- moved waits+ last+ ");
}

TEST_F(ChainTest, OnlyShortRequestsHaveTimeout) {
  Run("GET", "/api/v1/pods", {{"authorization", "Bearer secret"}});
  EXPECT_NE(dispatched_->ctx().deadline(), Clock::kNever);
  Run("GET", "/api/v1/pods?watch=1", {{"authorization", "Bearer secret"}});
  EXPECT_EQ(dispatched_->ctx().deadline(), Clock::kNever);
}

}  // namespace
}  // namespace cox::apiserver
