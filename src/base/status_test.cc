// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <vector>

namespace cox {
namespace {

TEST(Status, DefaultIsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), 200);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.details(), StatusDetails{});
  EXPECT_EQ(status.ToString(), "OK");
  EXPECT_FALSE(status.Is(Reason::kUnknown));
}

TEST(Status, ReasonsMatchNamesAndCodesOfTheApi) {
  struct Case {
    Reason reason;
    std::string_view name;
    int code;
  };
  const std::vector<Case> cases = {
      {Reason::kUnknown, "", 500},
      {Reason::kUnauthorized, "Unauthorized", 401},
      {Reason::kForbidden, "Forbidden", 403},
      {Reason::kNotFound, "NotFound", 404},
      {Reason::kAlreadyExists, "AlreadyExists", 409},
      {Reason::kConflict, "Conflict", 409},
      {Reason::kGone, "Gone", 410},
      {Reason::kInvalid, "Invalid", 422},
      {Reason::kServerTimeout, "ServerTimeout", 500},
      {Reason::kStoreReadError, "StorageReadError", 500},
      {Reason::kTimeout, "Timeout", 504},
      {Reason::kTooManyRequests, "TooManyRequests", 429},
      {Reason::kBadRequest, "BadRequest", 400},
      {Reason::kMethodNotAllowed, "MethodNotAllowed", 405},
      {Reason::kNotAcceptable, "NotAcceptable", 406},
      {Reason::kRequestEntityTooLarge, "RequestEntityTooLarge", 413},
      {Reason::kUnsupportedMediaType, "UnsupportedMediaType", 415},
      {Reason::kInternalError, "InternalError", 500},
      {Reason::kExpired, "Expired", 410},
      {Reason::kServiceUnavailable, "ServiceUnavailable", 503},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ReasonName(c.reason), c.name);
    EXPECT_EQ(ReasonCode(c.reason), c.code) << c.name;
    EXPECT_EQ(Status(c.reason, "m").code(), c.code) << c.name;
  }
}

TEST(Status, FactoriesSetTheirReason) {
  struct Case {
    Status status;
    Reason reason;
  };
  const std::vector<Case> cases = {
      {Status::BadRequest("m"), Reason::kBadRequest},
      {Status::NotFound("m"), Reason::kNotFound},
      {Status::AlreadyExists("m"), Reason::kAlreadyExists},
      {Status::Conflict("m"), Reason::kConflict},
      {Status::Forbidden("m"), Reason::kForbidden},
      {Status::Invalid("m"), Reason::kInvalid},
      {Status::Expired("m"), Reason::kExpired},
      {Status::Timeout("m"), Reason::kTimeout},
      {Status::TooLarge("m"), Reason::kRequestEntityTooLarge},
      {Status::Unavailable("m"), Reason::kServiceUnavailable},
      {Status::Internal("m"), Reason::kInternalError},
  };
  for (const Case& c : cases) {
    EXPECT_FALSE(c.status.ok());
    EXPECT_TRUE(c.status.Is(c.reason));
    EXPECT_FALSE(c.status.Is(Reason::kUnknown));
    EXPECT_EQ(c.status.message(), "m");
  }
}

TEST(Status, WithContextPrependsToMessageAndKeepsDetails) {
  const StatusDetails details{.name = "web", .causes = {{"FieldValueInvalid", "bad", "spec.x"}}};
  const Status status = Status::Invalid("bad").WithDetails(details).WithContext("pod web");
  EXPECT_EQ(status.message(), "pod web: bad");
  EXPECT_TRUE(status.Is(Reason::kInvalid));
  EXPECT_EQ(status.details(), details);
}

TEST(Status, OkStaysOkWithContextAndDetails) {
  EXPECT_TRUE(Status().WithContext("c").ok());
  EXPECT_TRUE(Status().WithDetails({.name = "x"}).ok());
}

TEST(Status, ToStringContainsTheReason) {
  EXPECT_EQ(Status::NotFound("gone").ToString(), "NotFound: gone");
  EXPECT_EQ(Status(Reason::kUnknown, "odd").ToString(), "Unknown: odd");
}

TEST(Status, EqualityComparesContent) {
  EXPECT_EQ(Status(), Status());
  EXPECT_EQ(Status::NotFound("a"), Status::NotFound("a"));
  EXPECT_NE(Status::NotFound("a"), Status::NotFound("b"));
  EXPECT_NE(Status::NotFound("a"), Status::Internal("a"));
  EXPECT_NE(Status::NotFound("a"), Status());
  EXPECT_NE(Status::NotFound("a"), Status::NotFound("a").WithDetails({.name = "x"}));
}

TEST(Status, CopiesAreIndependentOfTheOriginal) {
  Status original = Status::NotFound("a");
  const Status copy = original;
  original = Status();
  EXPECT_TRUE(original.ok());
  EXPECT_EQ(copy.message(), "a");
}

}  // namespace
}  // namespace cox
