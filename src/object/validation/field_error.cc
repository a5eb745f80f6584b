// SPDX-License-Identifier: Apache-2.0
#include "object/validation/field_error.h"

#include <array>
#include <iterator>
#include <unordered_set>

#include "base/strings.h"

namespace cox {
namespace {

struct TypeRow {
  std::string_view cause;
  std::string_view title;
};

// In the order of FieldError::Type.
constexpr std::array<TypeRow, 12> kTypes = {{
    {"FieldValueNotFound", "Not found"},
    {"FieldValueRequired", "Required value"},
    {"FieldValueDuplicate", "Duplicate value"},
    {"FieldValueInvalid", "Invalid value"},
    {"FieldValueNotSupported", "Unsupported value"},
    {"FieldValueForbidden", "Forbidden"},
    {"FieldValueTooLong", "Too long"},
    {"FieldValueTooMany", "Too many"},
    {"FieldValueTooFew", "Too few"},
    {"FieldValueTooShort", "Too short"},
    {"InternalError", "Internal error"},
    {"FieldValueTypeInvalid", "Invalid value"},
}};

const TypeRow& Row(FieldError::Type type) { return kTypes[static_cast<size_t>(type)]; }

// "1 item", "2 items".
std::string Count(int64_t n, std::string_view unit) {
  std::string out = std::to_string(n) + " " + std::string(unit);
  if (n != 1) out += 's';
  return out;
}

FieldError Make(FieldError::Type type, const FieldPath& field, FieldValue value,
                std::string detail) {
  return {.type = type,
          .field = field.ToString(),
          .value = std::move(value),
          .detail = std::move(detail),
          .origin = {}};
}

}  // namespace

FieldValue::FieldValue(std::string_view value) : text_(Quote(value)) {}

FieldValue::FieldValue(double value) : text_(FormatDouble(value)) {}

FieldValue::FieldValue(std::span<const std::string> list) : text_("[") {
  for (const std::string& item : list) {
    if (text_.size() > 1) text_ += ',';
    AppendJsonString(text_, item);
  }
  text_ += ']';
}

void AppendJsonString(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    const char c = text[0];
    if (!rune.valid) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f') {
      out.append({'\\', "btn?fr"[c - '\b']});
    } else if (rune.value < 0x20 || c == '<' || c == '>' || c == '&') {
      out.append("\\u00").append({kHex[(rune.value >> 4) & 15], kHex[rune.value & 15]});
    } else if (rune.value == 0x2028 || rune.value == 0x2029) {
      out.append("\\u202").append({kHex[rune.value & 15]});
    } else {
      out.append(text.substr(0, rune.size));
    }
    text.remove_prefix(rune.size);
  }
  out += '"';
}

FieldError FieldError::NotFound(const FieldPath& field, FieldValue value) {
  return Make(Type::kNotFound, field, std::move(value), "");
}
FieldError FieldError::Required(const FieldPath& field, std::string detail) {
  return Make(Type::kRequired, field, FieldValue::Omit(), std::move(detail));
}
FieldError FieldError::Duplicate(const FieldPath& field, FieldValue value) {
  return Make(Type::kDuplicate, field, std::move(value), "");
}
FieldError FieldError::Invalid(const FieldPath& field, FieldValue value, std::string detail) {
  return Make(Type::kInvalid, field, std::move(value), std::move(detail));
}
FieldError FieldError::TypeInvalid(const FieldPath& field, FieldValue value, std::string detail) {
  return Make(Type::kTypeInvalid, field, std::move(value), std::move(detail));
}

FieldError FieldError::NotSupported(const FieldPath& field, FieldValue value,
                                    std::span<const std::string_view> supported) {
  std::string detail;
  for (std::string_view item : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    AppendQuoted(detail, item);
  }
  return Make(Type::kNotSupported, field, std::move(value), std::move(detail));
}

FieldError FieldError::Forbidden(const FieldPath& field, std::string detail) {
  return Make(Type::kForbidden, field, FieldValue::Omit(), std::move(detail));
}

FieldError FieldError::TooLong(const FieldPath& field, int64_t max_bytes) {
  return Make(
      Type::kTooLong, field, FieldValue::Omit(),
      max_bytes < 0 ? "value is too long" : "may not be more than " + Count(max_bytes, "byte"));
}
FieldError FieldError::TooLongCharacters(const FieldPath& field, int64_t max_characters) {
  return Make(Type::kTooLong, field, FieldValue::Omit(),
              max_characters < 0 ? "value is too long"
                                 : "may not be more than " + Count(max_characters, "character"));
}
FieldError FieldError::TooShort(const FieldPath& field, int64_t min_characters) {
  return Make(Type::kTooShort, field, FieldValue::Omit(),
              "must be at least " + Count(min_characters, "character"));
}

FieldError FieldError::TooMany(const FieldPath& field, int64_t actual, int64_t max) {
  return Make(Type::kTooMany, field, actual < 0 ? FieldValue::Omit() : FieldValue(actual),
              max < 0 ? "has too many items" : "must have at most " + Count(max, "item"));
}
FieldError FieldError::TooFew(const FieldPath& field, int64_t actual, int64_t min) {
  return Make(Type::kTooFew, field, actual, "must have at least " + Count(min, "item"));
}
FieldError FieldError::Internal(const FieldPath& field, std::string_view what) {
  return Make(Type::kInternal, field, FieldValue::Omit(), std::string(what));
}

std::string_view FieldError::CauseType() const { return Row(type).cause; }

std::string FieldError::Body() const {
  std::string out(Row(type).title);
  if (!value.text().empty()) out.append(": ").append(value.text());
  if (!detail.empty()) out.append(": ").append(detail);
  return out;
}

void Append(FieldErrorList& list, FieldErrorList more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

std::string AggregateText(const FieldErrorList& list) {
  std::vector<std::string> texts;
  std::unordered_set<std::string> seen;
  for (const FieldError& error : list) {
    std::string text = error.ToString();
    if (seen.insert(text).second) texts.push_back(std::move(text));
  }
  if (texts.size() == 1) return texts[0];
  return texts.empty() ? "" : "[" + Join(texts, ", ") + "]";
}

Status NewInvalid(std::string_view group, std::string_view kind, std::string_view name,
                  const FieldErrorList& errors) {
  StatusDetails details{
      .name = std::string(name), .group = std::string(group), .kind = std::string(kind)};
  for (const FieldError& error : errors) {
    details.causes.push_back(
        {.type = std::string(error.CauseType()), .message = error.Body(), .field = error.field});
  }
  std::string message(kind);
  if (!group.empty()) message.append(".").append(group);
  message.append(" ").append(Quote(name)).append(" is invalid");
  if (!errors.empty()) message.append(": ").append(AggregateText(errors));
  return {Reason::kInvalid, std::move(message), std::move(details)};
}

}  // namespace cox
