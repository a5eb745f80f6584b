// SPDX-License-Identifier: Apache-2.0
#include "apiserver/fencing/fencing.h"

#include <gmock/gmock.h>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "apiserver/call_harness.h"
#include "coxswain/fencing.h"

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kLease[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/x";

// Allows what concerns anything but Leases; those only if told so.
class LeaseAuthorizer final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo& request, const Selectors&) const override {
    asked = request.verb + " " + request.resource + "." + request.group + " " + request.namespace_ +
            "/" + request.name;
    return {may_read, "by test"};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }

  bool may_read = true;
  mutable std::string asked;
};

class FencingTest : public ::testing::Test {
 protected:
  FencingTest() {
    api_.Do({.method = "POST",
             .target = "/apis/coordination.k8s.io/v1/namespaces/default/leases",
             .body = R"({"metadata":{"name":"x"},"spec":{"holderIdentity":"a","leaseTransitions":3,
                         "leaseDurationSeconds":15}})"});
    api_.Do({.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"m"}})"});
  }

  // The request as the chain would have it answered: "200", or the code and the message.
  std::string Do(FakeRequest request, std::vector<std::string> tokens = {"default/x;a;3"}) {
    for (std::string& token : tokens) {
      request.headers.Add(std::string(kFencingHeader), std::move(token));
    }
    if (request.method == "PATCH") {
      request.headers.Add("content-type", "application/merge-patch+json");
    }
    FakeCall call(api_.clock(), std::move(request));
    if (Fencing::Concerns(*call)) {
      Result<std::shared_ptr<const Fence>> fence = fencing_.Enter(*call);
      if (!fence.ok()) {
        EXPECT_EQ(IsDeposed(fence.status()), fence.status().Is(Reason::kConflict));
        return std::to_string(fence.status().code()) + " " + fence.status().message();
      }
      call->fence = std::move(*fence);
      if (meanwhile_) meanwhile_();
    }
    api_.handlers().Handle(call.shared());
    const int code = call.exchange().status();
    return std::to_string(code) + (code >= 400 ? " " + call.exchange().Body() : "");
  }
  std::string Patch(std::vector<std::string> tokens) {
    return Do({.method = "PATCH",
               .target = std::string(kMaps) + "/m",
               .body = R"({"data":{"n":")" + std::to_string(++patches_) + R"("}})"},
              std::move(tokens));
  }
  void ChangeLease(std::string spec) {
    const std::string answer =
        api_.Text({.method = "PATCH",
                   .target = kLease,
                   .body = R"({"spec":)" + spec + "}",
                   .headers = {{"content-type", "application/merge-patch+json"}}});
    EXPECT_EQ(answer.substr(0, 3), "200") << answer;
  }

  ApiHarness api_;
  LeaseAuthorizer authorizer_;
  const Fencing fencing_{api_.registry(), authorizer_};
  std::function<void()> meanwhile_;
  int patches_ = 0;
};

TEST_F(FencingTest, WritesOfTheTermPass) {
  EXPECT_EQ(Patch({"default/x;a;3"}), "200");
  EXPECT_EQ(authorizer_.asked, "get leases.coordination.k8s.io default/x");
  EXPECT_EQ(Do({.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"n"}})"}), "201");
  EXPECT_EQ(Do({.method = "DELETE", .target = std::string(kMaps) + "/n"}), "200");
}

TEST_F(FencingTest, WritesOfOtherTermsAreConflictsThatSayWhich) {
  const struct {
    std::string_view token, says;
  } kCases[] = {
      {"default/x;a;2", R"(409 term 2 of "a" in Lease default/x is over: term 3 is that of "a")"},
      {"default/x;b;3", R"(409 term 3 of "b" in Lease default/x is over: term 3 is that of "a")"},
      {"default/x;a;4", R"(409 term 4 of "a" in Lease default/x is over)"},
      {"default/y;a;3", R"(409 term 3 of "a" in Lease default/y is over: there is no such Lease)"},
      {"other/x;a;3", R"(409 term 3 of "a" in Lease other/x is over: there is no such Lease)"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Patch({std::string(c.token)}), HasSubstr(c.says));
  }
  ChangeLease(R"({"holderIdentity":""})");
  EXPECT_THAT(Patch({"default/x;a;3"}), HasSubstr("is over: it was given back"));
}

TEST_F(FencingTest, AMalformedHeaderIsABadRequest) {
  EXPECT_THAT(Patch({""}), HasSubstr("400 malformed coxswain-fencing header"));
  EXPECT_THAT(Patch({"x;a;3"}), HasSubstr("400 malformed"));
  EXPECT_THAT(Patch({"default/x;a;3", "default/x;a;3"}), HasSubstr("400 more than one"));
}

TEST_F(FencingTest, WhoMayNotReadTheLeaseLearnsNothingOfIt) {
  authorizer_.may_read = false;
  const std::string refused = Patch({"default/x;a;3"});
  EXPECT_THAT(refused, HasSubstr("403 leases.coordination.k8s.io \"x\" is forbidden"));
  EXPECT_EQ(Patch({"default/x;b;3"}), refused) << "the same for a wrong guess";
}

TEST_F(FencingTest, OnlyWritesAreConcerned) {
  const std::vector<std::string> wrong = {"default/x;b;9"};
  EXPECT_EQ(Do({.target = std::string(kMaps) + "/m"}, wrong), "200");
  EXPECT_EQ(Do({.target = kMaps}, wrong), "200");
  EXPECT_EQ(Patch({}), "200") << "and those with the header";
  FakeCall call(api_.clock(), {.method = "POST", .target = "/healthz"});
  EXPECT_FALSE(Fencing::Concerns(*call));
}

// What passed the door is stopped at the store: the term ended while it was on its way, in an
// admission webhook, say.
TEST_F(FencingTest, ATermThatEndsOnTheWayIsNoticedInTheTransaction) {
  const struct {
    const char* what;
    FakeRequest request;
  } kCases[] = {
      {"update",
       {.method = "PATCH",
        .target = std::string(kMaps) + "/m",
        .body = R"({"data":{"late":"1"}})"}},
      {"create", {.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"late"}})"}},
      {"delete", {.method = "DELETE", .target = std::string(kMaps) + "/m"}},
      {"deletecollection", {.method = "DELETE", .target = kMaps}},
  };
  int term = 3;
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    const std::string token = "default/x;a;" + std::to_string(term);
    ++term;
    meanwhile_ = [&] { ChangeLease(R"({"leaseTransitions":)" + std::to_string(term) + "}"); };
    EXPECT_THAT(Do(c.request, {token}), testing::AllOf(HasSubstr("409"), HasSubstr("is over")));
  }
  EXPECT_THAT(api_.Text({.target = kMaps}),
              testing::AllOf(HasSubstr("\"m\""), testing::Not(HasSubstr("late"))));
}

TEST_F(FencingTest, ARenewalOnTheWayDoesNoHarm) {
  meanwhile_ = [&] { ChangeLease(R"({"renewTime":"2030-01-02T03:04:05.000001Z"})"); };
  EXPECT_EQ(Patch({"default/x;a;3"}), "200");
  EXPECT_EQ(Do({.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"n"}})"}), "201");
}

// Guards are compared in the write itself: a Lease that changes between the check and the write.
TEST_F(FencingTest, AFenceThatMovesBetweenCheckAndWriteIsCheckedAgain) {
  class Moving final : public Fence {
   public:
    explicit Moving(ResourceStore& leases) : leases_(leases) {}
    Result<storage::Guard> Check(Context& ctx) const override {
      COX_ASSIGN_OR_RETURN(storage::KeyValue kv, leases_.GetStored(ctx, "default", "x"));
      storage::Guard guard{kv.key, kv.revision};
      if (++checks > 2) return DeposedStatus(Reason::kConflict, "over");
      // Behind the back of whoever asked.
      COX_RETURN_IF_ERROR(
          leases_.storage().Update(ctx, kv.key, kv.value.view(), kv.revision).status());
      return guard;
    }
    storage::Store& store() const override { return leases_.storage(); }
    mutable int checks = 0;

   private:
    ResourceStore& leases_;
  };
  const Moving fence(api_.registry().Hub(coordination::v1::Lease::kKind).store());
  const UserInfo user;
  const WriteContext w{api_.ctx(), user, Time(), false, nullptr, &fence};
  const Result<storage::Revision> created =
      CreateFenced(w, api_.store(), "/registry/configmaps/default/late", "x", {});
  EXPECT_TRUE(IsDeposed(created.status())) << created.status().ToString();
  EXPECT_EQ(fence.checks, 3);
  EXPECT_FALSE(api_.store().Get(api_.ctx(), "/registry/configmaps/default/late")->kv.has_value());
}

}  // namespace
}  // namespace cox::apiserver
