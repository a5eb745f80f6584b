// SPDX-License-Identifier: Apache-2.0
#include "sdk/election/fenced_client.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "sdk/testing/function_client.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;

class FakeLeadership final : public Leadership {
 public:
  explicit FakeLeadership(Context until) : until_(std::move(until)) {}
  std::optional<Hold> Held() const override {
    if (!leads) return std::nullopt;
    return Hold{token, until_};
  }
  std::string WhyNot() const override { return "not I"; }
  void Depose(const FencingToken& of, const Status& why) override {
    EXPECT_EQ(of, token);
    deposed = why;
  }

  bool leads = true;
  const FencingToken token{.lease = {"ns", "l"}, .holder = "me", .transitions = 3};
  Status deposed;

 private:
  Context until_;
};

class FencedClientTest : public ::testing::Test {
 protected:
  FencedClientTest() {
    client_.execute = [this](Context& ctx, const Operation& operation) -> Result<Object> {
      ++requests_;
      header_ = operation.headers.Get(kFencingHeader).value_or("");
      if (during_) during_(ctx);
      if (ctx.Done()) return ctx.status();
      if (!answer_.ok()) return answer_;
      return Object::Of(ConfigMap());
    };
  }
  Status Do(Operation::Verb verb) {
    const Resource maps = Resource::Of<ConfigMap>();
    return fenced_->Execute(ctx_, {.verb = verb, .resource = maps, .key = {"ns", "a"}}).status();
  }

  TestClock clock_;
  Context ctx_{clock_};
  Context until_{clock_};
  FakeLeadership leadership_{until_};
  FunctionClient client_;
  const std::unique_ptr<Client> fenced_ = MakeFencedClient(leadership_, client_);
  int requests_ = 0;
  std::string header_;
  Status answer_;
  std::function<void(Context&)> during_;
};

using Verb = Operation::Verb;

TEST_F(FencedClientTest, WritesContainTheTermAndReadsDoNot) {
  for (const Verb verb : {Verb::kCreate, Verb::kUpdate, Verb::kPatch, Verb::kApply, Verb::kDelete,
                          Verb::kDeleteAll}) {
    EXPECT_TRUE(Do(verb).ok());
    EXPECT_EQ(header_, "ns/l;me;3");
  }
  EXPECT_TRUE(Do(Verb::kGet).ok());
  EXPECT_EQ(header_, "");
}

TEST_F(FencedClientTest, WritesAreRejectedIfNotLeading) {
  leadership_.leads = false;
  const Status refused = Do(Verb::kPatch);
  EXPECT_TRUE(IsDeposed(refused));
  EXPECT_TRUE(refused.Is(Reason::kForbidden)) << "a Conflict would be tried again";
  EXPECT_EQ(refused.message(), "not I");
  EXPECT_EQ(requests_, 0);
  EXPECT_TRUE(Do(Verb::kGet).ok());
}

TEST_F(FencedClientTest, WriteInFlightIsCanceledWhenTheTermEnds) {
  during_ = [this](Context& call) {
    EXPECT_FALSE(call.Done());
    until_.Stop(Status::Timeout("could not renew"));
    EXPECT_TRUE(call.Done());
  };
  const Status given_up = Do(Verb::kUpdate);
  EXPECT_TRUE(IsDeposed(given_up));
  EXPECT_EQ(given_up.message(), "could not renew");
  EXPECT_FALSE(ctx_.Done()) << "the caller's own context goes on";
}

TEST_F(FencedClientTest, RejectionByTheServerEndsTheTerm) {
  answer_ = Status::Conflict("the object has been modified");
  EXPECT_EQ(Do(Verb::kUpdate), answer_) << "any other conflict is the caller's";
  EXPECT_TRUE(leadership_.deposed.ok());
  answer_ = DeposedStatus(Reason::kConflict, "term 3 is over");
  const Status refused = Do(Verb::kUpdate);
  EXPECT_TRUE(IsDeposed(refused) && refused.Is(Reason::kForbidden)) << refused.ToString();
  EXPECT_EQ(leadership_.deposed, answer_);
}

}  // namespace
}  // namespace cox::sdk
