// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/v2_protobuf.h"

#include <cstring>
#include <span>
#include <string_view>

#include "object/codec/yaml/yaml.h"

namespace cox::apiserver::openapi {
namespace {

// A message under construction. Nested messages are encoded first and then added as bytes.
class Message {
 public:
  void Bytes(uint32_t number, std::string_view bytes) {
    Varint(number << 3 | 2);
    Varint(bytes.size());
    out_.append(bytes);
  }
  void Bool(uint32_t number, bool value) {
    if (!value) return;
    Varint(number << 3);
    Varint(1);
  }
  void Int(uint32_t number, int64_t value) {
    if (value == 0) return;
    Varint(number << 3);
    Varint(static_cast<uint64_t>(value));
  }
  void Double(uint32_t number, double value) {
    if (value == 0) return;
    Varint(number << 3 | 1);
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    out_.append(bytes, 8);
  }
  // These write the member `key` of `from`, if it is present and has the right type.
  void String(uint32_t number, const Value& from, std::string_view key) {
    const Value* value = from.Find(key);
    if (value != nullptr && value->is_string() && !value->as_string().empty()) {
      Bytes(number, value->as_string());
    }
  }
  void Strings(uint32_t number, const Value& from, std::string_view key) {
    const Value* value = from.Find(key);
    if (value == nullptr || !value->is_array()) return;
    for (const Value& item : value->as_array()) {
      if (item.is_string()) Bytes(number, item.as_string());
    }
  }
  void Bool(uint32_t number, const Value& from, std::string_view key) {
    const Value* value = from.Find(key);
    if (value != nullptr && value->is_bool()) Bool(number, value->as_bool());
  }
  void Number(uint32_t number, const Value& from, std::string_view key) {
    const Value* value = from.Find(key);
    if (value != nullptr && value->is_number()) Double(number, value->as_number());
  }
  void Int(uint32_t number, const Value& from, std::string_view key) {
    const Value* value = from.Find(key);
    if (value != nullptr && value->is_int()) Int(number, value->as_int());
  }
  std::string Take() { return std::move(out_); }

 private:
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }

  std::string out_;
};

// Any JSON value is encoded as YAML text.
std::string Any(const Value& value) {
  Message message;
  message.Bytes(2, yaml::Write(value));
  return message.Take();
}

std::string Named(std::string_view name, std::string_view value) {
  Message message;
  message.Bytes(1, name);
  message.Bytes(2, value);
  return message.Take();
}

// "x-..." members.
void Extensions(const Value& from, uint32_t number, Message* message) {
  for (const auto& member : from.as_object()) {
    if (member.key.starts_with("x-")) message->Bytes(number, Named(member.key, Any(member.value)));
  }
}

std::string Schema(const Value& schema);

// A map of schemas: Properties, Definitions.
std::string NamedSchemas(const Value& schemas) {
  Message message;
  for (const auto& member : schemas.as_object()) {
    message.Bytes(1, Named(member.key, Schema(member.value)));
  }
  return message.Take();
}

// Writes the members of a schema that contain schemas.
void NestedSchemas(const Value& schema, Message* message) {
  if (const Value* more = schema.Find("additionalProperties")) {
    Message item;
    if (more->is_bool()) {
      item.Bool(2, more->as_bool());
    } else if (more->is_object()) {
      item.Bytes(1, Schema(*more));
    }
    message->Bytes(21, item.Take());
  }
  if (const Value* type = schema.Find("type")) {
    Message item;
    if (type->is_string()) item.Bytes(1, type->as_string());
    item.Strings(1, schema, "type");
    message->Bytes(22, item.Take());
  }
  if (const Value* items = schema.Find("items"); items != nullptr && items->is_object()) {
    Message item;
    item.Bytes(1, Schema(*items));
    message->Bytes(23, item.Take());
  }
  if (const Value* all = schema.Find("allOf"); all != nullptr && all->is_array()) {
    for (const Value& part : all->as_array()) {
      if (part.is_object()) message->Bytes(24, Schema(part));
    }
  }
  if (const Value* properties = schema.Find("properties");
      properties != nullptr && properties->is_object()) {
    message->Bytes(25, NamedSchemas(*properties));
  }
}

std::string Schema(const Value& schema) {
  Message message;
  if (!schema.is_object()) return {};
  message.String(1, schema, "$ref");
  message.String(2, schema, "format");
  message.String(3, schema, "title");
  message.String(4, schema, "description");
  if (const Value* value = schema.Find("default")) message.Bytes(5, Any(*value));
  message.Number(6, schema, "multipleOf");
  message.Number(7, schema, "maximum");
  message.Bool(8, schema, "exclusiveMaximum");
  message.Number(9, schema, "minimum");
  message.Bool(10, schema, "exclusiveMinimum");
  message.Int(11, schema, "maxLength");
  message.Int(12, schema, "minLength");
  message.String(13, schema, "pattern");
  message.Int(14, schema, "maxItems");
  message.Int(15, schema, "minItems");
  message.Bool(16, schema, "uniqueItems");
  message.Int(17, schema, "maxProperties");
  message.Int(18, schema, "minProperties");
  message.Strings(19, schema, "required");
  if (const Value* values = schema.Find("enum"); values != nullptr && values->is_array()) {
    for (const Value& value : values->as_array()) message.Bytes(20, Any(value));
  }
  NestedSchemas(schema, &message);
  Extensions(schema, 31, &message);
  return message.Take();
}

// The field numbers of query and path parameters differ by one after `name`.
std::string SimpleParameter(const Value& parameter, bool query) {
  const uint32_t shift = query ? 1 : 0;
  Message message;
  message.Bool(1, parameter, "required");
  message.String(2, parameter, "in");
  message.String(3, parameter, "description");
  message.String(4, parameter, "name");
  message.String(5 + shift, parameter, "type");
  message.String(6 + shift, parameter, "format");
  message.Bool(19 + shift, parameter, "uniqueItems");
  return message.Take();
}

std::string Parameter(const Value& parameter) {
  Message message;
  const Value* in = parameter.Find("in");
  if (in != nullptr && *in == Value("body")) {
    Message body;
    body.String(1, parameter, "description");
    body.String(2, parameter, "name");
    body.String(3, parameter, "in");
    body.Bool(4, parameter, "required");
    if (const Value* schema = parameter.Find("schema")) body.Bytes(5, Schema(*schema));
    message.Bytes(1, body.Take());
    return message.Take();
  }
  const bool query = in != nullptr && *in == Value("query");
  Message simple;
  simple.Bytes(query ? 3 : 4, SimpleParameter(parameter, query));
  message.Bytes(2, simple.Take());
  return message.Take();
}

// Writes parameters or references to shared ones.
void Parameters(const Value& from, uint32_t number, Message* message) {
  const Value* parameters = from.Find("parameters");
  if (parameters == nullptr || !parameters->is_array()) return;
  for (const Value& parameter : parameters->as_array()) {
    Message item;
    if (parameter.Find("$ref") != nullptr) {
      Message reference;
      reference.String(1, parameter, "$ref");
      item.Bytes(2, reference.Take());
    } else {
      item.Bytes(1, Parameter(parameter));
    }
    message->Bytes(number, item.Take());
  }
}

std::string Responses(const Value& responses) {
  Message message;
  for (const auto& member : responses.as_object()) {
    Message response;
    response.String(1, member.value, "description");
    if (const Value* schema = member.value.Find("schema")) {
      Message item;
      item.Bytes(1, Schema(*schema));
      response.Bytes(2, item.Take());
    }
    Message value;
    value.Bytes(1, response.Take());
    message.Bytes(1, Named(member.key, value.Take()));
  }
  return message.Take();
}

std::string Operation(const Value& operation) {
  Message message;
  message.Strings(1, operation, "tags");
  message.String(2, operation, "summary");
  message.String(3, operation, "description");
  message.String(5, operation, "operationId");
  message.Strings(6, operation, "produces");
  message.Strings(7, operation, "consumes");
  Parameters(operation, 8, &message);
  if (const Value* responses = operation.Find("responses")) {
    message.Bytes(9, Responses(*responses));
  }
  message.Strings(10, operation, "schemes");
  Extensions(operation, 13, &message);
  return message.Take();
}

std::string Paths(const Value& paths) {
  static constexpr std::string_view kMethods[] = {"get",     "put",  "post", "delete",
                                                  "options", "head", "patch"};
  Message message;
  for (const auto& member : paths.as_object()) {
    Message item;
    uint32_t number = 2;
    for (const std::string_view method : kMethods) {
      if (const Value* operation = member.value.Find(method)) {
        item.Bytes(number, Operation(*operation));
      }
      ++number;
    }
    Parameters(member.value, 9, &item);
    message.Bytes(2, Named(member.key, item.Take()));
  }
  return message.Take();
}

void Security(const Value& document, Message* message) {
  if (const Value* security = document.Find("security")) {
    for (const Value& requirement : security->as_array()) {
      Message item;
      for (const auto& member : requirement.as_object()) item.Bytes(1, Named(member.key, ""));
      message->Bytes(12, item.Take());
    }
  }
  if (const Value* definitions = document.Find("securityDefinitions")) {
    Message all;
    for (const auto& member : definitions->as_object()) {
      Message key;
      key.String(1, member.value, "type");
      key.String(2, member.value, "name");
      key.String(3, member.value, "in");
      key.String(4, member.value, "description");
      Message item;
      item.Bytes(2, key.Take());
      all.Bytes(1, Named(member.key, item.Take()));
    }
    message->Bytes(13, all.Take());
  }
}

}  // namespace

std::string V2Protobuf(const Value& document) {
  Message message;
  message.String(1, document, "swagger");
  if (const Value* info = document.Find("info")) {
    Message part;
    part.String(1, *info, "title");
    part.String(2, *info, "version");
    message.Bytes(2, part.Take());
  }
  if (const Value* paths = document.Find("paths")) message.Bytes(8, Paths(*paths));
  if (const Value* definitions = document.Find("definitions")) {
    message.Bytes(9, NamedSchemas(*definitions));
  }
  if (const Value* parameters = document.Find("parameters")) {
    Message part;
    for (const auto& member : parameters->as_object()) {
      part.Bytes(1, Named(member.key, Parameter(member.value)));
    }
    message.Bytes(10, part.Take());
  }
  Security(document, &message);
  return message.Take();
}

}  // namespace cox::apiserver::openapi
