// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/codec/json/json.h"
#include "object/object.h"
#include "object/scheme.h"

// Encoding and decoding of whole objects in the three formats of the API.
namespace cox {

enum class Format { kJson, kYaml, kProtobuf };

// "application/json", "application/yaml", "application/vnd.kubernetes.protobuf".
std::string_view MediaType(Format format);
// Detects the format: protobuf by its magic number, JSON by its first brace; YAML otherwise.
Format SniffFormat(std::string_view bytes);

// The step of DecodeObject that failed.
enum class DecodeStep : uint8_t {
  kSyntax,    // the bytes are not a document of the format
  kTypeMeta,  // apiVersion or kind is missing or malformed
  kKind,      // the scheme does not have the kind
  kFields,    // a field does not have the type that the kind defines
};

// Decodes an object of the kind in `bytes`. `expected` supplies apiVersion and kind if the bytes do
// not contain them. If decoding fails, `step` receives the step that failed.
//
// Errors: BadRequest with upstream's messages.
Result<Object> DecodeObject(std::string_view bytes, Format format, const Scheme& scheme,
                            const GroupVersionKind* expected = nullptr,
                            json::Strictness* strict = nullptr, DecodeStep* step = nullptr);

// Whether embedded objects (the volumeClaimTemplates of a StatefulSet) have kind and apiVersion in
// JSON: they do in responses of the API, but not necessarily in files.
enum class Embedded : uint8_t { kUnnamed, kNamed };

// Encodes an object with its kind and apiVersion. JSON ends with a newline, as upstream's does.
// REQUIRES: object.is_typed() for kProtobuf; custom resources have no protobuf encoding.
void EncodeObject(const Object& object, Format format, std::string* out,
                  Embedded embedded = Embedded::kUnnamed);

}  // namespace cox
