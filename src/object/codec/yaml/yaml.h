// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/codec/json/json.h"
#include "object/type/type.h"
#include "object/type/value.h"

// YAML as used by the Kubernetes API: YAML 1.1 with the rules of sigs.k8s.io/yaml.
//
// Parsing returns the JSON equivalent of the document. Unquoted yes, no, on, off, y, n are
// booleans; 0x1F, 0o17, 017, 0b11 and 1_000 are integers; timestamps stay strings; << merges; a
// scalar key of a mapping becomes a string (1: is "1":). Of duplicate keys, the last value is kept.
//
// Errors: BadRequest, with goyaml's text ("yaml: line 2: mapping values are not allowed in this
//   context"). Callers add "error converting YAML to JSON: " in front where upstream does.
// Limits: depth (limits.h); aliases, in nodes (limits.h, as upstream) and in bytes: 1 MiB plus
// eight times the text in total. Time is linear in the text except for sorting keys.
// Threads: pure functions.
namespace cox::yaml {

// Parses the first document of `text`; an empty one is null. Duplicate keys add one entry to
// `strict`, with upstream's text for all of them:
// "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map".
Result<Value> Parse(std::string_view text, json::Strictness* strict = nullptr);

// Splits a stream at lines that begin with "---", like kubectl, without parsing YAML.
//
//   Documents documents(text);
//   for (std::string_view document; documents.Next(&document);) Use(document);
//   if (!documents.status().ok()) return documents.status();
//
// Ownership: borrows `text`.
class Documents {
 public:
  explicit Documents(std::string_view text) : rest_(text) {}

  // Returns the next document's text; false at the end and on failure, see status().
  bool Next(std::string_view* document);
  // BadRequest if anything but a comment follows "---" on its line.
  const Status& status() const { return status_; }

 private:
  std::string_view rest_;
  Status status_;
};

// All documents of a stream, without empty ones (including those with only comments).
Result<std::vector<Value>> ParseAll(std::string_view text, json::Strictness* strict = nullptr);

// The same bytes as sigs.k8s.io/yaml: keys in natural order (a2 before a10), lists at the
// indentation of their key, lines folded after column 80. Ends with a newline.
std::string Write(const Value& value);
void WriteTo(const Value& value, std::string* out);

// Decodes a document of a known type into the struct at `object`, and the reverse: Parse with
// json::FromValue, and json::ToValue with Write.
Status Decode(std::string_view text, const Type& type, void* object,
              json::Strictness* strict = nullptr);
// `meta`, if given, becomes the members apiVersion and kind.
void Encode(const Type& type, const void* object, std::string* out,
            const json::TypeMeta* meta = nullptr);

template <class T>
Result<T> Decode(std::string_view text, json::Strictness* strict = nullptr) {
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

}  // namespace cox::yaml
