// SPDX-License-Identifier: Apache-2.0
// Documents without a type: text to Value and back.
#include <algorithm>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/json/reader.h"
#include "object/codec/json/text.h"
#include "object/type/limits.h"

namespace cox::json {
namespace {

// An open array or object.
struct Open {
  Value container;
  std::string key;  // of the member being read
};

// Parses text to a Value with an explicit stack, so that the depth does not use the thread's stack.
class Parser {
 public:
  Parser(std::string_view text, Strictness* strict) : reader_(text), strict_(strict) {}

  Result<Value> Run() {
    Value done;
    do {
      Value value;
      bool opened = false;
      if (!One(&value, &opened)) return reader_.status();
      if (!opened && !Place(std::move(value), &done)) return reader_.status();
      if (opened && !Close(&done)) return reader_.status();
    } while (!stack_.empty());
    if (!reader_.End()) return reader_.status();
    return done;
  }

 private:
  // Reads a scalar, or opens a container.
  bool One(Value* value, bool* opened) {
    Number number;
    bool flag;
    switch (reader_.Peek()) {
      case Token::kNull:
        return reader_.TakeNull();
      case Token::kBool:
        if (!reader_.TakeBool(&flag)) return false;
        *value = flag;
        return true;
      case Token::kNumber:
        return reader_.TakeNumber(&number) && NumberValue(number, value);
      case Token::kString:
        if (!reader_.TakeString(&text_)) return false;
        *value = std::string_view(text_);
        return true;
      case Token::kArray:
        *opened = true;
        stack_.push_back({Value(Value::Array()), {}});
        return reader_.BeginArray();
      case Token::kObject:
        *opened = true;
        stack_.push_back({Value(Value::Object()), {}});
        return reader_.BeginObject();
      case Token::kError:
        break;
    }
    return false;
  }

  bool NumberValue(const Number& number, Value* value) {
    double d;
    if (number.integer) {
      *value = number.value;
    } else if (ToDouble(number.text, &d)) {
      *value = d;
    } else {
      return reader_.Fail("json: cannot unmarshal number " + std::string(number.text) +
                          " into Go value of type float64");
    }
    return true;
  }

  // Stores a finished value in its container, then closes the containers that end here.
  bool Place(Value value, Value* done) {
    Put(std::move(value), done);
    return Close(done);
  }

  void Put(Value value, Value* done) {
    if (stack_.empty()) {
      *done = std::move(value);
      return;
    }
    Open& top = stack_.back();
    if (top.container.is_object()) {
      top.container.as_object().Append(std::move(top.key), std::move(value));
    } else {
      top.container.as_array().push_back(std::move(value));
    }
  }

  bool Close(Value* done) {
    while (!stack_.empty()) {
      Open& top = stack_.back();
      bool is_object = top.container.is_object();
      bool more;
      std::string_view key;
      if (!(is_object ? reader_.NextKey(&key, &more) : reader_.NextItem(&more))) return false;
      if (more) {
        if (is_object) top.key.assign(key);
        return true;
      }
      if (is_object) {
        if (strict_ != nullptr) ReportDuplicates(top.container.as_object());
        top.container.as_object().Seal();
      }
      Value value = std::move(top.container);
      stack_.pop_back();
      Put(std::move(value), done);
    }
    return true;
  }

  void ReportDuplicates(const Value::Object& object) {
    std::vector<std::string_view> keys;
    for (const auto& member : object) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    for (size_t i = 1; i < keys.size(); ++i) {
      if (keys[i] == keys[i - 1] && (i < 2 || keys[i - 2] != keys[i]))
        strict_->Duplicate(PathTo(keys[i]));
    }
  }

  std::string PathTo(std::string_view key) const {
    std::string path;
    for (size_t i = 0; i + 1 < stack_.size(); ++i) {
      const Open& open = stack_[i];
      if (open.container.is_object()) {
        if (!path.empty()) path += '.';
        path += open.key;
      } else {
        path += "[" + std::to_string(open.container.as_array().size()) + "]";
      }
    }
    if (!path.empty()) path += '.';
    return path.append(key);
  }

  Reader reader_;
  Strictness* strict_;
  std::vector<Open> stack_;
  std::string text_;
};

}  // namespace

void Strictness::Unknown(std::string_view path) { Add("unknown field " + Quote(path)); }
void Strictness::Duplicate(std::string_view path) { Add("duplicate field " + Quote(path)); }

void Strictness::Add(std::string error) {
  if (errors.size() >= limits::kMaxStrictErrors) return;
  if (std::find(errors.begin(), errors.end(), error) == errors.end())
    errors.push_back(std::move(error));
}

Result<Value> Parse(std::string_view text, Strictness* strict) {
  return Parser(text, strict).Run();
}

void WriteTo(const Value& value, std::string* out) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      out->append("null");
      break;
    case Value::Kind::kBool:
      out->append(value.as_bool() ? "true" : "false");
      break;
    case Value::Kind::kInt:
      WriteInt(value.as_int(), out);
      break;
    case Value::Kind::kDouble:
      WriteDouble(value.as_double(), out);
      break;
    case Value::Kind::kString:
      WriteString(value.as_string(), out);
      break;
    case Value::Kind::kArray: {
      char before = '[';
      for (const Value& item : value.as_array()) {
        out->push_back(std::exchange(before, ','));
        WriteTo(item, out);
      }
      out->append(before == '[' ? "[]" : "]");
      break;
    }
    case Value::Kind::kObject: {
      char before = '{';
      for (const auto& [key, member] : value.as_object()) {
        out->push_back(std::exchange(before, ','));
        WriteString(key, out);
        out->push_back(':');
        WriteTo(member, out);
      }
      out->append(before == '{' ? "{}" : "}");
      break;
    }
  }
}

std::string Write(const Value& value) {
  std::string out;
  WriteTo(value, &out);
  return out;
}

}  // namespace cox::json
