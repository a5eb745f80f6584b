// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/review.h"

#include <gmock/gmock.h>

#include "api/autoscaling/v2.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

Result<admission::v1::AdmissionResponse> Read(std::string_view answer, bool mutating = true,
                                              std::string version = "v1") {
  Webhook webhook;
  webhook.review_version = std::move(version);
  return ReadReview(*json::Parse(answer), webhook, "u", mutating);
}
std::string V1(std::string_view response) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":)" +
         std::string(response) + "}";
}

TEST(ReadReview, RejectsResponsesThatDoNotMatchTheReview) {
  EXPECT_TRUE(Read(V1(R"({"uid":"u","allowed":true})"))->allowed);
  EXPECT_EQ(Read(V1(R"({"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch"})"))->patch,
            "[]");
  struct Case {
    std::string answer;
    bool mutating;
    std::string why;
  };
  const Case cases[] = {
      {V1("null"), true, "webhook response was absent"},
      {V1(R"({"uid":"v","allowed":true})"), true, "expected response.uid=\"u\", got \"v\""},
      {V1(R"({"allowed":true})"), true, "expected response.uid=\"u\", got \"\""},
      {R"({"response":{"uid":"u","allowed":true}})", true,
       "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="},
      {V1(R"({"uid":"u","allowed":true,"patch":"W10="})"), true,
       "webhook returned response.patch but not response.patchType"},
      {V1(R"({"uid":"u","allowed":true,"patchType":"JSONPatch"})"), true,
       "webhook returned response.patchType but not response.patch"},
      {V1(R"({"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch"})"), false,
       "validating webhook may not return response.patch"},
      {V1(R"({"uid":"u","allowed":true,"patchType":"JSONPatch"})"), false,
       "validating webhook may not return response.patchType"},
  };
  for (const Case& c : cases) EXPECT_EQ(Read(c.answer, c.mutating).status().message(), c.why);
  EXPECT_FALSE(Read(V1(R"({"uid":"u","allowed":"yes"})")).ok());
}

TEST(ReadReview, V1Beta1RequiresNeitherUidNorPatchType) {
  const auto answer = Read(R"({"response":{"allowed":true,"patch":"W10="}})", true, "v1beta1");
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(answer->patchType, "JSONPatch");
  EXPECT_EQ(Read(V1(R"({"allowed":true})"), true, "v1beta1").status().message(),
            "expected webhook response of admission.k8s.io/v1beta1, Kind=AdmissionReview, got "
            "admission.k8s.io/v1, Kind=AdmissionReview");
}

TEST(Denial, ContainsTheWebhooksMessageAndCodeOfAtLeast400) {
  struct Case {
    std::string_view status;
    int code;
    std::string_view reason, message;
  };
  const Case cases[] = {
      {"{}", 400, "", " without explanation"},
      {R"({"message":"no","code":403})", 403, "", ": no"},
      {R"({"message":"no","code":200})", 400, "", ": no"},
      {R"({"message":"teapot","code":418})", 418, "", ": teapot"},
      {R"({"message":"no","reason":"Forbidden","code":403})", 403, "Forbidden", ": no"},
      {R"({"reason":"Conflict"})", 409, "Conflict", ": Conflict"},
      {R"({"message":"far","code":900})", 500, "", ": far"},
  };
  for (const Case& c : cases) {
    const auto status = *json::Decode<meta::v1::Status>(c.status);
    const Status denial = Denial("w", &status);
    EXPECT_EQ(denial.code(), c.code) << c.status;
    EXPECT_EQ(ReasonName(denial.reason()), c.reason) << c.status;
    EXPECT_EQ(denial.message(),
              "admission webhook \"w\" denied the request" + std::string(c.message));
  }
  EXPECT_EQ(Denial("w", nullptr).message(),
            "admission webhook \"w\" denied the request without explanation");
  const auto detailed = *json::Decode<meta::v1::Status>(
      R"({"message":"m","details":{"causes":[{"reason":"R","message":"c","field":"f"}]}})");
  EXPECT_EQ(Denial("w", &detailed).details().causes,
            (std::vector<StatusCause>{{.type = "R", .message = "c", .field = "f"}}));
}

TEST(EncodeReview, ContainsTheRequestInTheVersionOfTheRule) {
  ApiHarness api;
  const ServedResource& v1 = *api.registry().Find("autoscaling", "v1", "horizontalpodautoscalers");
  const ServedResource& v2 = *api.registry().Find("autoscaling", "v2", "horizontalpodautoscalers");
  autoscaling::v2::HorizontalPodAutoscaler scaler;
  scaler.metadata.name = "h";
  scaler.metadata.namespace_ = "default";
  scaler.spec.maxReplicas = 7;
  const Object object = Object::Of(scaler);
  const UserInfo user{.name = "ann", .uid = "7", .groups = {"g"}, .extra = {{"k", {"v"}}}};
  Webhook webhook;
  webhook.review_version = "v1";
  const AdmissionRequest request{.operation = Operation::kUpdate,
                                 .resource = v2,
                                 .subresource = "status",
                                 .ns = "default",
                                 .name = "h",
                                 .user = user,
                                 .dry_run = true,
                                 .object = &object,
                                 .old = &object,
                                 .options = [] {
                                   return Value::MakeObject({{"a", 1}});
                                 }};
  const Value review = *json::Parse(EncodeReview(webhook, v1, request, "uid-1"));
  EXPECT_EQ(*review.Find("apiVersion"), Value("admission.k8s.io/v1"));
  const Value& sent = *review.Find("request");
  const auto text = [&](std::initializer_list<std::string_view> path) {
    const Value* const found = sent.At(path);
    return found == nullptr ? std::string("absent") : json::Write(*found);
  };
  EXPECT_EQ(text({"uid"}), "\"uid-1\"");
  EXPECT_EQ(text({"kind", "version"}), "\"v1\"");
  EXPECT_EQ(text({"resource", "version"}), "\"v1\"");
  EXPECT_EQ(text({"subResource"}), "\"status\"");
  EXPECT_EQ(text({"requestKind", "version"}), "\"v2\"");
  EXPECT_EQ(text({"requestResource", "resource"}), "\"horizontalpodautoscalers\"");
  EXPECT_EQ(text({"operation"}), "\"UPDATE\"");
  EXPECT_EQ(text({"userInfo"}),
            R"({"extra":{"k":["v"]},"groups":["g"],"uid":"7","username":"ann"})");
  EXPECT_EQ(text({"dryRun"}), "true");
  EXPECT_EQ(text({"options"}), R"({"a":1})");
  for (const std::string_view each : {"object", "oldObject"}) {
    EXPECT_EQ(text({each, "apiVersion"}), "\"autoscaling/v1\"") << each;
    EXPECT_EQ(text({each, "spec", "maxReplicas"}), "7") << each;
  }
}

}  // namespace
}  // namespace cox::apiserver
