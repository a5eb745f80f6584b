// SPDX-License-Identifier: Apache-2.0
#include "object/validation/field_error.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

const FieldPath kPath("f");

TEST(FieldPath, GrowsByChildrenIndicesAndKeys) {
  EXPECT_EQ(FieldPath("a").ToString(), "a");
  EXPECT_EQ(FieldPath("a").Child("b").Child("c").ToString(), "a.b.c");
  EXPECT_EQ(FieldPath("a").Index(0).ToString(), "a[0]");
  EXPECT_EQ(FieldPath("a").Index(0).Child("b").Key("k").Key("l").Index(1).ToString(),
            "a[0].b[k][l][1]");
  EXPECT_EQ(FieldPath("a").Key("").Child("").ToString(), "a[][]");
  EXPECT_EQ(FieldPath("").ToString(), "[]");
  EXPECT_EQ(FieldPath("a").Key("k.l/m").ToString(), "a[k.l/m]");
  EXPECT_EQ(FieldPath("").Child("x").ToString(), "[].x");
  EXPECT_EQ(FieldPath().ToString(), "<nil>");
  EXPECT_EQ(FieldPath().Child("x").ToString(), "x");
}

// The expected texts are upstream's.
TEST(FieldError, TextMatchesUpstream) {
  const std::vector<std::string> kList = {"a", "b"};
  struct Case {
    FieldError error;
    std::string_view cause, body;
  };
  const Case kCases[] = {
      {FieldError::Invalid(kPath, "a\"b\n", "d"), "FieldValueInvalid",
       "Invalid value: \"a\\\"b\\n\": d"},
      {FieldError::Invalid(kPath, 5, "d"), "FieldValueInvalid", "Invalid value: 5: d"},
      {FieldError::Invalid(kPath, int64_t{-5}, ""), "FieldValueInvalid", "Invalid value: -5"},
      {FieldError::Invalid(kPath, true, "d"), "FieldValueInvalid", "Invalid value: true: d"},
      {FieldError::Invalid(kPath, nullptr, "d"), "FieldValueInvalid", "Invalid value: null: d"},
      {FieldError::Invalid(kPath, kList, "d"), "FieldValueInvalid",
       "Invalid value: [\"a\",\"b\"]: d"},
      {FieldError::Invalid(kPath, 1.5, "d"), "FieldValueInvalid", "Invalid value: 1.5: d"},
      {FieldError::Invalid(kPath, 1e21, "d"), "FieldValueInvalid", "Invalid value: 1e+21: d"},
      {FieldError::Invalid(kPath, FieldValue::Json("{\"a\":1}"), "d"), "FieldValueInvalid",
       "Invalid value: {\"a\":1}: d"},
      {FieldError::Invalid(kPath, FieldValue::Omit(), "d"), "FieldValueInvalid",
       "Invalid value: d"},
      {FieldError::Required(kPath, "d"), "FieldValueRequired", "Required value: d"},
      {FieldError::Required(kPath), "FieldValueRequired", "Required value"},
      {FieldError::NotSupported(kPath, "z", {"B", "A"}), "FieldValueNotSupported",
       "Unsupported value: \"z\": supported values: \"B\", \"A\""},
      {FieldError::NotSupported(kPath, "z", {}), "FieldValueNotSupported",
       "Unsupported value: \"z\""},
      {FieldError::NotSupported(kPath, 5, {"A"}), "FieldValueNotSupported",
       "Unsupported value: 5: supported values: \"A\""},
      {FieldError::Duplicate(kPath, "z"), "FieldValueDuplicate", "Duplicate value: \"z\""},
      {FieldError::Duplicate(kPath, 5), "FieldValueDuplicate", "Duplicate value: 5"},
      {FieldError::Forbidden(kPath, "d"), "FieldValueForbidden", "Forbidden: d"},
      {FieldError::Forbidden(kPath, ""), "FieldValueForbidden", "Forbidden"},
      {FieldError::TooLong(kPath, 2), "FieldValueTooLong",
       "Too long: may not be more than 2 bytes"},
      {FieldError::TooLong(kPath, 1), "FieldValueTooLong", "Too long: may not be more than 1 byte"},
      {FieldError::TooLong(kPath, -1), "FieldValueTooLong", "Too long: value is too long"},
      {FieldError::TooLongCharacters(kPath, 2), "FieldValueTooLong",
       "Too long: may not be more than 2 characters"},
      {FieldError::TooLongCharacters(kPath, 1), "FieldValueTooLong",
       "Too long: may not be more than 1 character"},
      {FieldError::TooLongCharacters(kPath, -1), "FieldValueTooLong",
       "Too long: value is too long"},
      {FieldError::TooMany(kPath, 5, 3), "FieldValueTooMany",
       "Too many: 5: must have at most 3 items"},
      {FieldError::TooMany(kPath, -1, 3), "FieldValueTooMany",
       "Too many: must have at most 3 items"},
      {FieldError::TooMany(kPath, 5, -1), "FieldValueTooMany", "Too many: 5: has too many items"},
      {FieldError::TooMany(kPath, -1, -1), "FieldValueTooMany", "Too many: has too many items"},
      {FieldError::TooMany(kPath, 1, 1), "FieldValueTooMany",
       "Too many: 1: must have at most 1 item"},
      {FieldError::TooFew(kPath, 0, 1), "FieldValueTooFew",
       "Too few: 0: must have at least 1 item"},
      {FieldError::TooFew(kPath, -1, 2), "FieldValueTooFew",
       "Too few: -1: must have at least 2 items"},
      {FieldError::TooShort(kPath, 1), "FieldValueTooShort",
       "Too short: must be at least 1 character"},
      {FieldError::TooShort(kPath, 2), "FieldValueTooShort",
       "Too short: must be at least 2 characters"},
      {FieldError::TypeInvalid(kPath, "z", "d"), "FieldValueTypeInvalid",
       "Invalid value: \"z\": d"},
      {FieldError::Internal(kPath, "boom"), "InternalError", "Internal error: boom"},
      {FieldError::NotFound(kPath, "z"), "FieldValueNotFound", "Not found: \"z\""},
      {FieldError::NotFound(kPath, 5), "FieldValueNotFound", "Not found: 5"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(c.error.Body(), c.body);
    EXPECT_EQ(c.error.CauseType(), c.cause);
    EXPECT_EQ(c.error.ToString(), "f: " + std::string(c.body));
  }
  EXPECT_EQ(FieldError::Invalid(FieldPath(), "x", "d").ToString(),
            "<nil>: Invalid value: \"x\": d");
}

TEST(FieldError, JsonStringsAreEscapedLikeInGo) {
  struct Case {
    std::string text, json;
  };
  const Case kCases[] = {
      {"", R"("")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\b\t\n\f\r", R"("\b\t\n\f\r")"},
      {std::string("\x00\x0b\x1f", 3), R"("\u0000\u000b\u001f")"},
      {"<x>&", R"("\u003cx\u003e\u0026")"},
      {"\xe2\x80\xa8\xe2\x80\xa9", R"("\u2028\u2029")"},
      {"\xc3\xa9\x7f", "\"\xc3\xa9\x7f\""},
      {"\xff", R"("\ufffd")"},
  };
  for (const Case& c : kCases) {
    std::string json;
    AppendJsonString(json, c.text);
    EXPECT_EQ(json, c.json);
  }
}

TEST(FieldError, NewInvalidConvertsErrorLists) {
  const FieldError kInvalid = FieldError::Invalid(kPath, "x", "d");
  const FieldError kRequired = FieldError::Required(FieldPath("g"), "e");
  struct Case {
    std::string_view group;
    std::string_view name;
    FieldErrorList errors;
    std::string_view message;
  };
  const Case kCases[] = {
      {"apps", "x", {}, "Deployment.apps \"x\" is invalid"},
      {"", "x", {kRequired}, "Deployment \"x\" is invalid: g: Required value: e"},
      {"apps",
       "x",
       {kInvalid, kRequired},
       "Deployment.apps \"x\" is invalid: [f: Invalid value: \"x\": d, g: Required value: e]"},
      {"apps",
       "x",
       {kInvalid, kInvalid},
       "Deployment.apps \"x\" is invalid: f: Invalid value: \"x\": d"},
      {"apps", "a\"b", {kRequired}, "Deployment.apps \"a\\\"b\" is invalid: g: Required value: e"},
  };
  for (const Case& c : kCases) {
    const Status status = NewInvalid(c.group, "Deployment", c.name, c.errors);
    EXPECT_EQ(status.message(), c.message);
    EXPECT_EQ(status.reason(), Reason::kInvalid);
    EXPECT_EQ(status.code(), 422);
    EXPECT_EQ(status.details().name, c.name);
    EXPECT_EQ(status.details().group, c.group);
    EXPECT_EQ(status.details().kind, "Deployment");
    EXPECT_EQ(status.details().causes.size(), c.errors.size());
  }
  EXPECT_EQ(NewInvalid("", "Pod", "x", {kInvalid}).details().causes[0],
            (StatusCause{"FieldValueInvalid", "Invalid value: \"x\": d", "f"}));
}

TEST(FieldError, ManyErrorsAreAggregatedInLinearTime) {
  FieldErrorList errors;
  for (int i = 0; i < 200'000; ++i) errors.push_back(FieldError::Invalid(kPath, i, "d"));
  EXPECT_GT(AggregateText(errors).size(), 200'000u);
}

TEST(FieldError, AppendMovesToTheEnd) {
  FieldErrorList errors = {FieldError::Required(kPath)};
  Append(errors, {FieldError::Forbidden(kPath, "no")});
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(AggregateText(errors), "[f: Required value, f: Forbidden: no]");
  EXPECT_EQ(AggregateText({}), "");
}

}  // namespace
}  // namespace cox
