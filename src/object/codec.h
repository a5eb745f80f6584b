// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/codec/json/json.h"
#include "object/object.h"
#include "object/scheme.h"

// Whole objects in and out, in the three forms the API speaks.
namespace cox {

enum class Format { kJson, kYaml, kProtobuf };

// "application/json", "application/yaml", "application/vnd.kubernetes.protobuf".
std::string_view MediaType(Format format);
// The form these bytes are in, by their beginning: protobuf has its magic, JSON a brace.
Format SniffFormat(std::string_view bytes);

// The step of DecodeObject that failed.
enum class DecodeStep : uint8_t {
  kSyntax,    // the bytes are not a document of the format
  kTypeMeta,  // apiVersion or kind is missing or malformed
  kKind,      // the scheme does not have the kind
  kFields,    // a field does not have the type that the kind defines
};

// Decodes an object of the kind that the bytes name. `expected` completes apiVersion and kind if
// the bytes do not have them. If decoding fails, `step` receives the step that failed.
//
// Errors: BadRequest with upstream's messages.
Result<Object> DecodeObject(std::string_view bytes, Format format, const Scheme& scheme,
                            const GroupVersionKind* expected = nullptr,
                            json::Strictness* strict = nullptr, DecodeStep* step = nullptr);

// Whether objects inside of others (the claims of a StatefulSet) say their kind and apiVersion in
// JSON: the API's answers do, files need not.
enum class Embedded : uint8_t { kUnnamed, kNamed };

// Writes an object with its kind and apiVersion. JSON ends with a newline, as upstream's does.
// REQUIRES: object.is_typed() for kProtobuf: custom resources have no protobuf form.
void EncodeObject(const Object& object, Format format, std::string* out,
                  Embedded embedded = Embedded::kUnnamed);

}  // namespace cox
