// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "object/codec/json/json.h"
#include "object/runtime_type.h"

// For the tests of this folder: a type with every kind of list, map and struct, and JSON literals
// that use ' for ".
namespace cox::apply {

inline Value J(std::string_view text) {
  std::string json(text);
  for (char& c : json) {
    if (c == '\'') c = '"';
  }
  Result<Value> value = json::Parse(json);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status().ToString();
  return value.ok() ? std::move(*value) : Value();
}

inline constexpr std::string_view kTestSchema = R"json({
  "type": "object",
  "properties": {
    "metadata": {"type": "object", "properties": {
      "name": {"type": "string"}, "uid": {"type": "string"}, "resourceVersion": {"type": "string"},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}},
      "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
      "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}},
    "num": {"type": "integer"},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "maps": {"type": "object", "additionalProperties":
      {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}},
    "atomicMap": {"type": "object", "additionalProperties": {"type": "string"},
      "x-kubernetes-map-type": "atomic"},
    "struct": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"},
      "c": {"type": "object", "properties": {"d": {"type": "string"}}}}},
    "atomicStruct": {"type": "object", "x-kubernetes-map-type": "atomic",
      "properties": {"a": {"type": "string"}}},
    "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "atomicList": {"type": "array", "items": {"type": "string"}},
    "containers": {"type": "array", "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "image": {"type": "string"},
        "ports": {"type": "array", "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          "items": {"type": "object", "properties": {"port": {"type": "integer"},
            "protocol": {"type": "string", "default": "TCP"}, "host": {"type": "string"}}}}}}},
    "any": {"x-kubernetes-preserve-unknown-fields": true}
  }
})json";

inline const Type& TestType() {
  static const std::shared_ptr<const RuntimeType> kType = [] {
    Result<std::shared_ptr<const RuntimeType>> type = RuntimeType::FromSchema(J(kTestSchema));
    EXPECT_TRUE(type.ok()) << type.status().ToString();
    return *type;
  }();
  return kType->type();
}

}  // namespace cox::apply
