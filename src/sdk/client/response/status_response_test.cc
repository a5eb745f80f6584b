// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/status_response.h"

#include <gtest/gtest.h>

#include "base/status_code.h"
#include "object/codec.h"

namespace cox::sdk {
namespace {

meta::v1::Status Sample() {
  meta::v1::Status status;
  status.status = "Failure";
  status.reason = "Invalid";
  status.code = 422;
  status.message = "no";
  meta::v1::StatusDetails& details = status.details.emplace();
  details.name = "web";
  details.group = "apps";
  details.kind = "Deployment";
  details.uid = "u";
  details.retryAfterSeconds = 3;
  details.causes.push_back({"FieldValueRequired", "Required value", "spec.x"});
  return status;
}

TEST(StatusResponseTest, StatusRoundTrips) {
  const Object object = [] {
    Object made(meta::v1::Status::kKind, GroupVersionKind{"", "v1", "Status"});
    *made.As<meta::v1::Status>() = Sample();
    return made;
  }();
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    std::string body;
    EncodeObject(object, format, &body);
    const Status status = StatusFromResponse(422, {}, body);
    EXPECT_TRUE(status.Is(Reason::kInvalid));
    EXPECT_EQ(status.message(), "no");
    EXPECT_EQ(status.details(),
              (StatusDetails{.name = "web",
                             .group = "apps",
                             .kind = "Deployment",
                             .uid = "u",
                             .causes = {{"FieldValueRequired", "Required value", "spec.x"}},
                             .retry_after_seconds = 3}));
  }
}

TEST(StatusResponseTest, ReasonIsDerivedFromNameThenCode) {
  struct Case {
    std::string reason;
    int code;
    Reason expected;
  };
  for (const Case& c : std::vector<Case>{
           {"NotFound", 404, Reason::kNotFound},
           {"AlreadyExists", 409, Reason::kAlreadyExists},
           {"Gone", 410, Reason::kGone},
           {"Expired", 410, Reason::kExpired},
           {"StorageReadError", 500, Reason::kStoreReadError},
           {"", 500, Reason::kUnknown},
           {"", 0, Reason::kUnknown},
           {"", 404, Reason::kNotFound},
           {"", 409, Reason::kConflict},
           {"", 504, Reason::kTimeout},
           {"SomethingNew", 403, Reason::kForbidden},
           {"SomethingNew", 410, Reason::kExpired},
           {"SomethingNew", 500, Reason::kInternalError},
           {"IAmATeapot", 418, NamelessReason(418)},
       }) {
    meta::v1::Status status;
    status.status = "Failure";
    status.reason = c.reason;
    status.code = c.code;
    EXPECT_TRUE(ToStatus(status).Is(c.expected)) << c.reason << " " << c.code;
  }
  meta::v1::Status success;
  success.status = "Success";
  EXPECT_TRUE(ToStatus(success).ok());
}

TEST(StatusResponseTest, OtherContentIsTruncatedAndQuoted) {
  const Status html = StatusFromResponse(502, {{"retry-after", "7"}},
                                         "<html>\n" + std::string(100'000, 'x') + "</html>");
  EXPECT_EQ(html.code(), 502);
  EXPECT_EQ(html.details().retry_after_seconds, 7);
  EXPECT_LT(html.message().size(), 700u);
  EXPECT_EQ(html.message().find('\n'), std::string::npos) << "no line of its own in a log";
  EXPECT_TRUE(StatusFromResponse(503, {}, "").Is(Reason::kServiceUnavailable));
  EXPECT_EQ(StatusFromResponse(404, {}, "404 page not found\n").message(),
            "the server answered with code 404 and \"404 page not found\"");
  // A Success status in an error response is ignored.
  EXPECT_TRUE(
      StatusFromResponse(409, {}, R"({"kind":"Status","apiVersion":"v1","status":"Success"})")
          .Is(Reason::kConflict));
  EXPECT_TRUE(StatusFromResponse(301, {}, "moved").code() >= 400);
}

TEST(StatusResponseTest, RetryAfterIsANumberOfSeconds) {
  EXPECT_EQ(RetryAfter({}), std::nullopt);
  for (const auto& [text, seconds] : std::vector<std::pair<std::string, std::optional<int>>>{
           {"1", 1},
           {" 30 ", 30},
           {"0", 0},
           {"-1", std::nullopt},
           {"1.5", std::nullopt},
           {"", std::nullopt},
           {"Wed, 21 Oct 2015 07:28:00 GMT", std::nullopt},
           {"99999999999999", std::nullopt},
           {"999999999", 86'400}}) {
    EXPECT_EQ(RetryAfter({{"retry-after", text}}), seconds) << text;
  }
}

}  // namespace
}  // namespace cox::sdk
