// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/review.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/check.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"

namespace cox::sdk {
namespace {

std::string Review(std::string_view object, std::string_view more = R"("operation":"CREATE")",
                   std::string_view kind = R"({"group":"","version":"v1","kind":"Pod"})") {
  std::string out = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{)";
  out += R"("uid":"u1","namespace":"ns","name":"p","kind":)";
  out += kind;
  out += R"(,"resource":{"group":"","version":"v1","resource":"pods"},"userInfo":{},"object":)";
  out += object;
  out += ",";
  out += more;
  return out + "}}";
}

constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns"},)"
    R"("spec":{"containers":[{"name":"c","image":"i","newField":[1]}]}})";

class ReviewTest : public ::testing::Test {
 protected:
  admission::v1::AdmissionResponse Response(const HookResponse& answer) {
    EXPECT_EQ(answer.code, 200) << answer.body;
    const auto meta = json::PeekTypeMeta(answer.body);
    EXPECT_TRUE(meta.ok());
    EXPECT_EQ(meta->api_version, "admission.k8s.io/v1");
    EXPECT_EQ(meta->kind, "AdmissionReview");
    auto review = json::Decode<admission::v1::AdmissionReview>(answer.body);
    COX_CHECK_OK(review.status());
    EXPECT_TRUE(review->response.has_value());
    EXPECT_EQ(review->response->uid, "u1");
    return *review->response;
  }

  TestClock clock_;
  Context ctx_{clock_};
};

TEST_F(ReviewTest, PatchContainsOnlyTheChangesOfTheHandler) {
  const auto answer =
      ReviewMutating(ctx_, Review(kPod), &core::v1::Pod::kKind,
                     [](Context&, const AdmissionRequest<Object>& request, Object& object) {
                       EXPECT_EQ(request.key(), (ObjectKey{"ns", "p"}));
                       EXPECT_TRUE(request.IsCreate());
                       object.As<core::v1::Pod>()->metadata.labels["a"] = "b";
                       EXPECT_TRUE(request.object->As<core::v1::Pod>()->metadata.labels.empty());
                       return AdmissionResponse::Allow().Warn("careful").Audit("seen", "yes");
                     });
  const auto response = Response(answer);
  EXPECT_TRUE(response.allowed);
  EXPECT_EQ(response.patchType, "JSONPatch");
  EXPECT_EQ(response.patch, R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])");
  EXPECT_EQ(response.warnings, std::vector<std::string>{"careful"});
  EXPECT_EQ(*response.auditAnnotations.Get("seen"), "yes");
}

TEST_F(ReviewTest, SendsNoPatchIfNothingChanged) {
  const auto response =
      Response(ReviewMutating(ctx_, Review(kPod), &core::v1::Pod::kKind,
                              [](Context&, const AdmissionRequest<Object>&, Object&) {
                                return AdmissionResponse::Allow();
                              }));
  EXPECT_TRUE(response.allowed);
  EXPECT_TRUE(response.patch.empty());
  EXPECT_FALSE(response.patchType.has_value());
}

TEST_F(ReviewTest, DenialHasNoPatch) {
  const auto response =
      Response(ReviewMutating(ctx_, Review(kPod), &core::v1::Pod::kKind,
                              [](Context&, const AdmissionRequest<Object>&, Object& object) {
                                object.As<core::v1::Pod>()->spec.nodeName = "n";
                                return AdmissionResponse::Deny("not here");
                              }));
  EXPECT_FALSE(response.allowed);
  EXPECT_TRUE(response.patch.empty());
  ASSERT_TRUE(response.status.has_value());
  EXPECT_EQ(response.status->code, 403);
  EXPECT_EQ(response.status->reason, "Forbidden");
  EXPECT_EQ(response.status->message, "not here");
}

TEST_F(ReviewTest, DenialByStatusContainsReasonAndCauses) {
  const Status why = Status::Invalid("bad image")
                         .WithDetails({.name = "p",
                                       .group = "",
                                       .kind = "Pod",
                                       .uid = "",
                                       .causes = {{.type = "FieldValueInvalid",
                                                   .message = "no tag",
                                                   .field = "spec.image"}}});
  const auto response = Response(
      ReviewValidating(ctx_, Review(kPod), &core::v1::Pod::kKind,
                       [&why](Context&, const AdmissionRequest<Object>&) -> AdmissionResponse {
                         COX_RETURN_IF_ERROR(why);
                         return AdmissionResponse::Allow();
                       }));
  EXPECT_FALSE(response.allowed);
  EXPECT_EQ(response.status->code, 422);
  EXPECT_EQ(response.status->reason, "Invalid");
  ASSERT_TRUE(response.status->details.has_value());
  EXPECT_EQ(response.status->details->causes[0].field, "spec.image");
}

TEST_F(ReviewTest, FailureIsNotAReviewSoThatTheFailurePolicyApplies) {
  const HookResponse answer =
      ReviewValidating(ctx_, Review(kPod), nullptr, [](Context&, const AdmissionRequest<Object>&) {
        return AdmissionResponse::Fail(Status::Unavailable("the database is away"));
      });
  EXPECT_EQ(answer.code, 503);
  EXPECT_EQ(answer.body, "the database is away\n");
}

TEST(AdmissionResponseTest, DenyAndFailNeverAllow) {
  EXPECT_FALSE(AdmissionResponse::Deny(Status()).allowed());
  EXPECT_FALSE(AdmissionResponse::Fail(Status()).allowed());
  EXPECT_TRUE(AdmissionResponse::Fail(Status()).failed());
  EXPECT_TRUE(AdmissionResponse::Allow().allowed());
}

TEST_F(ReviewTest, DeletionsHaveOnlyTheOldObject) {
  const std::string deletion =
      Review("null", R"("operation":"DELETE","dryRun":true,"oldObject":)" + std::string(kPod));
  const auto validated = Response(
      ReviewValidating(ctx_, deletion, &core::v1::Pod::kKind,
                       [](Context&, const AdmissionRequest<Object>& request) -> AdmissionResponse {
                         EXPECT_TRUE(request.IsDelete());
                         EXPECT_TRUE(request.dry_run());
                         EXPECT_EQ(request.object, nullptr);
                         EXPECT_NE(request.old_object, nullptr);
                         return AdmissionResponse::Deny("it stays");
                       }));
  EXPECT_FALSE(validated.allowed);
  // Mutating handlers are not called for deletions.
  const auto mutated = Response(
      ReviewMutating(ctx_, deletion, &core::v1::Pod::kKind,
                     [](Context&, const AdmissionRequest<Object>&, Object&) -> AdmissionResponse {
                       ADD_FAILURE();
                       return AdmissionResponse::Deny("asked");
                     }));
  EXPECT_TRUE(mutated.allowed);
}

TEST_F(ReviewTest, HandlesAnyKindAsAValue) {
  const auto response = Response(ReviewMutating(
      ctx_,
      Review(R"({"apiVersion":"example.com/v1","kind":"Thing","spec":{"size":1}})",
             R"("operation":"UPDATE","oldObject":{"apiVersion":"example.com/v1","kind":"Thing"})",
             R"({"group":"example.com","version":"v1","kind":"Thing"})"),
      nullptr, [](Context&, const AdmissionRequest<Object>& request, Object& object) {
        EXPECT_EQ(object.gvk().kind, "Thing");
        EXPECT_NE(request.old_object, nullptr);
        object.value().Find("spec")->as_object()["size"] = 2;
        return AdmissionResponse::Allow();
      }));
  EXPECT_EQ(response.patch, R"([{"op":"replace","path":"/spec/size","value":2}])");
}

TEST_F(ReviewTest, InvalidReviewsDoNotReachTheHandler) {
  const std::string other_kind =
      Review(kPod, R"("operation":"CREATE")", R"({"group":"apps","version":"v1","kind":"X"})");
  struct Case {
    const char* name;
    std::string body;
    const char* says;
  };
  const Case cases[] = {
      {"nothing", "", ""},
      {"no JSON", "{", ""},
      {"an array", "[]", ""},
      {"another review", R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview"})",
       "AdmissionReview"},
      {"an old review",
       R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{}})",
       "v1beta1"},
      {"no request", R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
       "no request"},
      {"no uid",
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":""}})",
       "no uid"},
      {"another kind", other_kind, "this webhook is for"},
      {"an object that is none", Review("[1]"), "request.object"},
      {"an object that does not fit", Review(R"({"spec":{"containers":7}})"), "request.object"},
      {"a predecessor that does not fit",
       Review(kPod, R"("operation":"UPDATE","oldObject":{"spec":7})"), "request.oldObject"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const HookResponse mutating =
        ReviewMutating(ctx_, test.body, &core::v1::Pod::kKind,
                       [](Context&, const AdmissionRequest<Object>&, Object&) -> AdmissionResponse {
                         ADD_FAILURE();
                         return Status();
                       });
    EXPECT_EQ(mutating.code, 400);
    EXPECT_NE(mutating.body.find(test.says), std::string::npos) << mutating.body;
    const HookResponse validating =
        ReviewValidating(ctx_, test.body, &core::v1::Pod::kKind,
                         [](Context&, const AdmissionRequest<Object>&) -> AdmissionResponse {
                           ADD_FAILURE();
                           return Status();
                         });
    EXPECT_EQ(validating.code, 400);
  }
}

TEST_F(ReviewTest, LateResponseIsATimeout) {
  Context limited = ctx_.WithTimeout(std::chrono::seconds(5));
  const HookResponse answer = ReviewValidating(limited, Review(kPod), nullptr,
                                               [this](Context&, const AdmissionRequest<Object>&) {
                                                 clock_.Advance(std::chrono::seconds(6));
                                                 return AdmissionResponse::Allow();
                                               });
  EXPECT_EQ(answer.code, 504);
}

}  // namespace
}  // namespace cox::sdk
