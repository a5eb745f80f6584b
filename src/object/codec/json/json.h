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
// Names are case-sensitive, as the API's are. Numbers: integers that fit int64 stay integers.
// Output is compact; strings escape <, > and & (as Go's encoder does, so stored bytes agree),
// invalid UTF-8 becomes U+FFFD. Errors: BadRequest, with the text a Go server would give. Limits:
// depth (limits.h); memory grows with what was read, never with what a peer announced.
namespace cox::json {

// Where a document is more than its type allows. Reading goes on past these: whether they matter
// is the caller's decision (fieldValidation=Strict, Warn or Ignore).
struct Strictness {
  // `unknown field "spec.foo"`, `duplicate field "metadata.labels.a"`; at most kMaxStrictErrors.
  std::vector<std::string> errors;

  void Unknown(std::string_view path);
  void Duplicate(std::string_view path);
  // Keeps `error` unless it stands there already or there are enough.
  void Add(std::string error);
};

// A document without a type. Of repeated keys the last stays.
Result<Value> Parse(std::string_view text, Strictness* strict = nullptr);
std::string Write(const Value& value);
void WriteTo(const Value& value, std::string* out);
// A JSON string literal, with quotes.
void WriteString(std::string_view text, std::string* out);

// A document of a known type, straight into the struct at `object` and out of it.
// `kind` and `apiVersion` of a top-level object are not part of the struct: read them with
// PeekTypeMeta.
Status Decode(std::string_view text, const Type& type, void* object, Strictness* strict = nullptr);

// The outermost object's kind and apiVersion, without reading the rest into anything.
struct TypeMeta {
  std::string api_version;
  std::string kind;
  // For writing: objects inside (the claims of a StatefulSet) say what they are too.
  bool embedded = false;
};
Result<TypeMeta> PeekTypeMeta(std::string_view text);

// Writes the object; `meta`, if given, as its first two members.
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

// Between struct and Value: the same result as encoding to JSON and parsing it, or the reverse,
// without the text between.
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
