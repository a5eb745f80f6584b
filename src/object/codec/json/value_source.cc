// SPDX-License-Identifier: Apache-2.0
#include "object/codec/json/value_source.h"

#include "object/codec/json/json.h"
#include "object/codec/json/text.h"

namespace cox::json {

Token ValueSource::Peek() {
  if (!status_.ok()) return Token::kError;
  switch (at_->kind()) {
    case Value::Kind::kNull:
      return Token::kNull;
    case Value::Kind::kBool:
      return Token::kBool;
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      return Token::kNumber;
    case Value::Kind::kString:
      return Token::kString;
    case Value::Kind::kArray:
      return Token::kArray;
    case Value::Kind::kObject:
      break;
  }
  return Token::kObject;
}

bool ValueSource::TakeBool(bool* value) {
  *value = at_->as_bool();
  return true;
}

bool ValueSource::TakeNumber(Number* number) {
  number_text_.clear();
  WriteTo(*at_, &number_text_);
  number->text = number_text_;
  number->integer = at_->is_int();
  if (number->integer) number->value = at_->as_int();
  return true;
}

bool ValueSource::TakeString(std::string* value) {
  value->assign(at_->as_string());
  return true;
}

bool ValueSource::TakeRaw(std::string* text) {
  text->clear();
  WriteTo(*at_, text);
  return true;
}

bool ValueSource::BeginArray() {
  open_.push_back({at_});
  return true;
}

bool ValueSource::NextItem(bool* more) {
  Open& top = open_.back();
  const Value::Array& items = top.container->as_array();
  *more = top.next < items.size();
  if (*more) {
    at_ = &items[top.next++];
  } else {
    open_.pop_back();
  }
  return true;
}

bool ValueSource::BeginObject() {
  open_.push_back({at_});
  return true;
}

bool ValueSource::NextKey(std::string_view* key, bool* more) {
  Open& top = open_.back();
  const ValueObject& object = top.container->as_object();
  *more = top.next < object.size();
  if (*more) {
    const ValueObject::Member& member = object.begin()[static_cast<std::ptrdiff_t>(top.next++)];
    *key = member.key;
    at_ = &member.value;
  } else {
    open_.pop_back();
  }
  return true;
}

bool ValueSource::Fail(std::string message) {
  if (status_.ok()) status_ = Status::BadRequest(std::move(message));
  return false;
}

}  // namespace cox::json
