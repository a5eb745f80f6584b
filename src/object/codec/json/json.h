// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/type/type.h"
#include "object/type/value.h"

// JSON, with the strictness and the error texts of the Kubernetes API.
//
// Names are case-sensitive, as in the API. Numbers: integers that fit int64 stay integers. Output
// is compact; strings escape <, > and & (like Go's encoder, so that stored bytes are equal), and
// invalid UTF-8 is replaced by U+FFFD.
// Errors: BadRequest, with Go's texts.
// Limits: depth (limits.h); memory grows with the data that was read, not with announced sizes.
namespace cox::json {

// Unknown and duplicate fields of a document. Decoding continues after them; the caller decides
// what to do (fieldValidation=Strict, Warn or Ignore).
struct Strictness {
  // `unknown field "spec.foo"`, `duplicate field "metadata.labels.a"`; at most kMaxStrictErrors.
  std::vector<std::string> errors;

  void Unknown(std::string_view path);
  void Duplicate(std::string_view path);
  // Adds `error` unless it is a duplicate or the limit is reached.
  void Add(std::string error);
};

// Parses a document without a type. Of duplicate keys, the last value is kept.
Result<Value> Parse(std::string_view text, Strictness* strict = nullptr);
std::string Write(const Value& value);
void WriteTo(const Value& value, std::string* out);
// A JSON string literal, with quotes.
void WriteString(std::string_view text, std::string* out);

// Decodes a document of a known type into the struct at `object`. The struct does not contain
// `kind` and `apiVersion` of a top-level object: read them with PeekTypeMeta.
Status Decode(std::string_view text, const Type& type, void* object, Strictness* strict = nullptr);

// The kind and apiVersion of the outermost object.
struct TypeMeta {
  std::string api_version;
  std::string kind;
  // For encoding: embedded objects (the volumeClaimTemplates of a StatefulSet) get them too.
  bool embedded = false;
};
Result<TypeMeta> PeekTypeMeta(std::string_view text);

// Encodes the object, with `meta`, if given, as its first two members.
void Encode(const Type& type, const void* object, std::string* out, const TypeMeta* meta = nullptr);

template <class T>
Result<T> Decode(std::string_view text, Strictness* strict = nullptr) {
  T object{};
  COX_RETURN_IF_ERROR(Decode(text, T::kType, &object, strict));
  return object;
}
template <class T>
std::string Encode(const T& object) {
  std::string out;
  Encode(T::kType, &object, &out);
  return out;
}

// Conversions between struct and Value: the same result as encoding to JSON and parsing it, or the
// reverse, without the intermediate text.
Value ToValue(const Type& type, const void* object);
Status FromValue(const Value& value, const Type& type, void* object, Strictness* strict = nullptr);

template <class T>
Value ToValue(const T& object) {
  return ToValue(T::kType, &object);
}
template <class T>
Result<T> FromValue(const Value& value, Strictness* strict = nullptr) {
  T object{};
  COX_RETURN_IF_ERROR(FromValue(value, T::kType, &object, strict));
  return object;
}

}  // namespace cox::json
