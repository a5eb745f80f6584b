// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/conversion.h"

#include <gtest/gtest.h>

#include "api/apiextensions/v1.h"
#include "api/core/v1.h"
#include "base/check.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;

// Three versions of a kind, each with the fields of a ConfigMap.
const KindInfo kV1{.group = "example.com",
                   .version = "v1",
                   .kind = "Thing",
                   .type = &ConfigMap::kType,
                   .plural = "things",
                   .singular = "thing"};
const KindInfo kV2{.group = "example.com",
                   .version = "v2",
                   .kind = "Thing",
                   .type = &ConfigMap::kType,
                   .plural = "things",
                   .singular = "thing"};
const KindInfo kV3{.group = "example.com",
                   .version = "v3",
                   .kind = "Thing",
                   .type = &ConfigMap::kType,
                   .plural = "things",
                   .singular = "thing"};

// Records the conversion steps.
ConvertHandler<Object, Object> Marking(std::string mark) {
  return [mark = std::move(mark)](Context&, const Object& from, Object& to) {
    const ConfigMap& source = *from.As<ConfigMap>();
    ConfigMap& target = *to.As<ConfigMap>();
    if (source.data.contains("fail")) return Status::Invalid("cannot be a " + mark);
    target.data = source.data;
    target.data["way"] += mark;
    target.metadata.annotations["converted"] = mark;
    return Status();
  };
}

class ConversionTest : public ::testing::Test {
 protected:
  ConversionTest() {
    conversions_.Add(kV1, kV2, Marking("12"));
    conversions_.Add(kV2, kV1, Marking("21"));
    conversions_.Add(kV3, kV2, Marking("32"));
    conversions_.Add(kV2, kV3, Marking("23"));
  }
  apiextensions::v1::ConversionResponse Ask(const Conversions& conversions,
                                            const std::string& wanted, const std::string& objects) {
    const HookResponse answer = conversions.ConvertReview(
        ctx_, R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":)"
              R"({"uid":"u1","desiredAPIVersion":")" +
                  wanted + R"(","objects":[)" + objects + "]}}");
    EXPECT_EQ(answer.code, 200) << answer.body;
    auto review = json::Decode<apiextensions::v1::ConversionReview>(answer.body);
    COX_CHECK_OK(review.status());
    EXPECT_EQ(review->response->uid, "u1");
    return *review->response;
  }

  TestClock clock_;
  Context ctx_{clock_};
  Conversions conversions_;
};

TEST_F(ConversionTest, ConvertsDirectlyOrThroughTheHub) {
  const auto response =
      Ask(conversions_, "example.com/v3",
          R"({"apiVersion":"example.com/v2","kind":"Thing","metadata":{"name":"a"}},)"
          R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"b","new":1}},)"
          R"({"apiVersion":"example.com/v3","kind":"Thing","spec":7})");
  EXPECT_EQ(response.result.status, "Success");
  ASSERT_EQ(response.convertedObjects.size(), 3U);
  EXPECT_EQ(response.convertedObjects[0].raw,
            R"({"apiVersion":"example.com/v3","data":{"way":"23"},"kind":"Thing",)"
            R"("metadata":{"annotations":{"converted":"23"},"name":"a"}})");
  // Unknown metadata fields are kept in both steps.
  EXPECT_EQ(response.convertedObjects[1].raw,
            R"({"apiVersion":"example.com/v3","data":{"way":"1223"},"kind":"Thing",)"
            R"("metadata":{"annotations":{"converted":"23"},"name":"b","new":1}})");
  // An object that already has the version is not changed.
  EXPECT_EQ(response.convertedObjects[2].raw,
            R"({"apiVersion":"example.com/v3","kind":"Thing","spec":7})");
}

TEST_F(ConversionTest, ConvertsAllOrNone) {
  const auto response = Ask(conversions_, "example.com/v2",
                            R"({"apiVersion":"example.com/v1","kind":"Thing"},)"
                            R"({"apiVersion":"example.com/v1","kind":"Thing","data":{"fail":""}})");
  EXPECT_TRUE(response.convertedObjects.empty());
  EXPECT_EQ(response.result.status, "Failure");
  EXPECT_EQ(response.result.message, "cannot be a 12");
  EXPECT_EQ(response.result.code, 422);
}

TEST_F(ConversionTest, ReportsMissingConversions) {
  const auto response =
      Ask(conversions_, "example.com/v9", R"({"apiVersion":"example.com/v1","kind":"Thing"})");
  EXPECT_EQ(response.result.status, "Failure");
  EXPECT_NE(response.result.message.find("no conversion from example.com/v1"), std::string::npos)
      << response.result.message;
}

TEST_F(ConversionTest, OneHandlerCanConvertAllVersions) {
  Conversions any;
  any.Add([](Context&, const Value& object, const std::string& version) -> Result<Value> {
    Value out = object;
    out.as_object()["wanted"] = version;
    return out;
  });
  const auto response =
      Ask(any, "example.com/v2", R"({"apiVersion":"example.com/v1","kind":"Thing","spec":{}})");
  EXPECT_EQ(response.convertedObjects.at(0).raw,
            R"({"apiVersion":"example.com/v2","kind":"Thing","spec":{},)"
            R"("wanted":"example.com/v2"})");
}

TEST_F(ConversionTest, RejectsBodiesThatAreNotConversionReviews) {
  for (const char* body :
       {"", "{", R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"})",
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}})",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{}})",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",
            "request":{"uid":"u"}})"}) {
    EXPECT_EQ(conversions_.ConvertReview(ctx_, body).code, 400) << body;
  }
}

}  // namespace
}  // namespace cox::sdk
