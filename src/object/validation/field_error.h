// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "object/type/list.h"
#include "object/validation/field_path.h"

namespace cox {

// The value in an error, in upstream's format: strings quoted, numbers and booleans unquoted, null,
// and everything else as JSON.
//
// Converts implicitly from the types of fields, so that callers pass the value itself.
class FieldValue {
 public:
  FieldValue(std::string_view value);                                            // NOLINT: implicit
  FieldValue(const std::string& value) : FieldValue(std::string_view(value)) {}  // NOLINT
  FieldValue(const char* value) : FieldValue(std::string_view(value)) {}         // NOLINT
  FieldValue(bool value) : text_(value ? "true" : "false") {}                    // NOLINT
  FieldValue(int value) : text_(std::to_string(value)) {}                        // NOLINT
  FieldValue(long value) : text_(std::to_string(value)) {}                       // NOLINT
  FieldValue(long long value) : text_(std::to_string(value)) {}                  // NOLINT
  FieldValue(unsigned value) : text_(std::to_string(value)) {}                   // NOLINT
  FieldValue(unsigned long value) : text_(std::to_string(value)) {}              // NOLINT
  FieldValue(double value);                                                      // NOLINT
  FieldValue(std::nullptr_t) : text_("null") {}                                  // NOLINT
  FieldValue(std::span<const std::string> list);    // NOLINT: ["a","b"]
  FieldValue(const std::vector<std::string>& list)  // NOLINT
      : FieldValue(std::span<const std::string>(list)) {}
  FieldValue(const List<std::string>& list)  // NOLINT
      : FieldValue(std::span<const std::string>(list)) {}

  // JSON text, printed unchanged.
  static FieldValue Json(std::string text) { return FieldValue(Raw{}, std::move(text)); }
  // Prints no value.
  static FieldValue Omit() { return FieldValue(Raw{}, ""); }

  const std::string& text() const { return text_; }  // empty: no value

 private:
  struct Raw {};
  FieldValue(Raw, std::string text) : text_(std::move(text)) {}

  std::string text_;
};

// Appends `text` as a JSON string as Go does: <, >, & and U+2028, U+2029 are escaped too.
void AppendJsonString(std::string& out, std::string_view text);

// The error of one field. Created by the named functions, printed by ToString:
//   spec.x: Invalid value: "abc": must be ...
//
// `origin` is the rule that failed ("minimum", "format=k8s-label-key"); it is never printed.
struct FieldError {
  enum class Type : uint8_t {
    kNotFound,
    kRequired,
    kDuplicate,
    kInvalid,
    kNotSupported,
    kForbidden,
    kTooLong,
    kTooMany,
    kTooFew,
    kTooShort,
    kInternal,
    kTypeInvalid,
  };

  Type type;
  std::string field;
  FieldValue value = FieldValue::Omit();
  std::string detail;
  std::string origin;

  static FieldError NotFound(const FieldPath& field, FieldValue value);
  static FieldError Required(const FieldPath& field, std::string detail = "");
  static FieldError Duplicate(const FieldPath& field, FieldValue value);
  static FieldError Invalid(const FieldPath& field, FieldValue value, std::string detail);
  static FieldError TypeInvalid(const FieldPath& field, FieldValue value, std::string detail);
  // Lists the supported values in the order given.
  static FieldError NotSupported(const FieldPath& field, FieldValue value,
                                 std::span<const std::string_view> supported);
  static FieldError NotSupported(const FieldPath& field, FieldValue value,
                                 std::initializer_list<std::string_view> supported) {
    return NotSupported(field, std::move(value), std::span(supported.begin(), supported.size()));
  }
  static FieldError Forbidden(const FieldPath& field, std::string detail);
  // A negative limit is not printed. TooLong limits bytes, TooLongCharacters characters.
  static FieldError TooLong(const FieldPath& field, int64_t max_bytes);
  static FieldError TooLongCharacters(const FieldPath& field, int64_t max_characters);
  static FieldError TooShort(const FieldPath& field, int64_t min_characters);
  // A negative number is not printed.
  static FieldError TooMany(const FieldPath& field, int64_t actual, int64_t max);
  static FieldError TooFew(const FieldPath& field, int64_t actual, int64_t min);
  static FieldError Internal(const FieldPath& field, std::string_view what);

  FieldError WithOrigin(std::string_view from) && {
    origin = from;
    return std::move(*this);
  }

  // "FieldValueInvalid", ...: the type of the cause in a Status.
  std::string_view CauseType() const;
  // "Invalid value: "abc": must be ...", without the field.
  std::string Body() const;
  std::string ToString() const { return field + ": " + Body(); }
};

using FieldErrorList = std::vector<FieldError>;

// Moves the errors of `more` to the end of `list`.
void Append(FieldErrorList& list, FieldErrorList more);

// One text for all errors: "a" or "[a, b]", without duplicates. Empty for no errors.
std::string AggregateText(const FieldErrorList& list);

// The API's error for an invalid object: reason Invalid, a cause per error, and the message
//   Deployment.apps "web" is invalid: [spec.x: Required value, ...]
Status NewInvalid(std::string_view group, std::string_view kind, std::string_view name,
                  const FieldErrorList& errors);

}  // namespace cox
