// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/codec/json/json.h"
#include "object/type/type.h"
#include "object/type/value.h"

// YAML as the Kubernetes API reads and writes it: YAML 1.1 with the rules of sigs.k8s.io/yaml.
//
// Reading gives what the document would give as JSON. Unquoted yes, no, on, off, y, n are booleans;
// 0x1F, 0o17, 017, 0b11 and 1_000 are integers; times stay strings; << merges; a scalar that is a
// mapping's key becomes a string (1: is "1":). Of repeated keys the last stays.
//
// Errors: BadRequest, with the text goyaml gives ("yaml: line 2: mapping values are not allowed in
// this
//   context"). Callers put "error converting YAML to JSON: " before it where upstream does.
// Limits: depth (limits.h); aliases, in nodes (limits.h, as upstream) and in bytes: together 1 MiB
//   and eight times the text. Time is linear in the text but for sorting keys.
// Threads: pure functions.
namespace cox::yaml {

// The first document of `text`; an empty one is null. Keys that were set again add one entry to
// `strict`, upstream's text for all of them together:
// "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map".
Result<Value> Parse(std::string_view text, json::Strictness* strict = nullptr);

// Cuts a stream at lines that begin with "---", as kubectl does, before any YAML is read.
//
//   Documents documents(text);
//   for (std::string_view document; documents.Next(&document);) Use(document);
//   if (!documents.status().ok()) return documents.status();
//
// Ownership: borrows `text`.
class Documents {
 public:
  explicit Documents(std::string_view text) : rest_(text) {}

  // The next document's text; false at the end and on failure, which status() tells apart.
  bool Next(std::string_view* document);
  // BadRequest if something other than a comment follows a "---" on its line.
  const Status& status() const { return status_; }

 private:
  std::string_view rest_;
  Status status_;
};

// All documents of a stream, without the empty ones (also those that hold only comments).
Result<std::vector<Value>> ParseAll(std::string_view text, json::Strictness* strict = nullptr);

// Byte for byte what sigs.k8s.io/yaml writes: keys in natural order (a2 before a10), lists at the
// indentation of their key, lines folded after column 80. Ends with a newline.
std::string Write(const Value& value);
void WriteTo(const Value& value, std::string* out);

// A document of a known type, into the struct at `object` and out of it: json::FromValue and
// ToValue behind Parse and before Write.
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
