// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/scalar/time.h"
#include "object/type/value.h"

namespace cox::apiserver {

class ConfigDocument;

// One object of a configuration document. An absent (or null) field yields `fallback`; a field of
// another type is an error. The program must read every field that it supports, even if it has no
// effect: fields that were not read are reported as unknown.
//
// Ownership: Borrows the document. Cheap to copy.
class ConfigObject {
 public:
  // Whether the object is in the document.
  bool present() const { return value_ != nullptr; }
  bool Has(std::string_view name) const;
  // "issuer.audiences[1]"; empty for the root.
  const std::string& path() const { return path_; }

  std::string String(std::string_view name, std::string_view fallback = {}) const;
  // Reports an error if it is absent or empty.
  std::string RequiredString(std::string_view name) const;
  // One of `allowed`; reports an error for other values.
  std::string Choice(std::string_view name, std::initializer_list<std::string_view> allowed,
                     std::string_view fallback = {}) const;
  bool Bool(std::string_view name, bool fallback = false) const;
  int64_t Int(std::string_view name, int64_t fallback, int64_t min, int64_t max) const;
  // A duration such as "1m30s".
  Duration Time(std::string_view name, Duration fallback) const;
  std::vector<std::string> Strings(std::string_view name) const;
  // Decoded from base64.
  std::string Bytes(std::string_view name) const;
  // For an absent object, present() is false and all its fields are absent.
  ConfigObject Object(std::string_view name) const;
  std::vector<ConfigObject> Objects(std::string_view name) const;
  // The unparsed value, which counts as read completely; null if absent.
  const Value* Raw(std::string_view name) const;

  // Reports an error about the field `name` (about this object if it is empty).
  void Fail(std::string_view name, std::string_view message) const;

 private:
  friend class ConfigDocument;
  ConfigObject(ConfigDocument& document, const Value* value, std::string path)
      : document_(&document), value_(value), path_(std::move(path)) {}
  const Value* Find(std::string_view name) const;
  // Find, with an error if the value is not of `kind`.
  const Value* Find(std::string_view name, Value::Kind kind) const;
  std::string PathOf(std::string_view name) const;

  ConfigDocument* document_;
  const Value* value_;  // an object, or null
  std::string path_;
};

// A strict parser for configuration files, YAML or JSON: a misspelt field must not silently weaken
// security. All errors are reported at once.
//
//   COX_ASSIGN_OR_RETURN(ConfigDocument document,
//                        ConfigDocument::Parse(text, "Policy", {"audit.k8s.io/v1"}));
//   for (const ConfigObject& rule : document.root().Objects("rules")) …
//   COX_RETURN_IF_ERROR(document.Finish());
//
// Errors: BadRequest with the paths of all invalid fields.
// Threads: One.
class ConfigDocument {
 public:
  // Errors: BadRequest if it is not valid YAML, or not of `kind` in one of `versions`.
  static Result<ConfigDocument> Parse(std::string_view text, std::string_view kind,
                                      std::initializer_list<std::string_view> versions);
  // The same for a value inside another document, which is copied.
  static Result<ConfigDocument> Of(Value value, std::string_view kind,
                                   std::initializer_list<std::string_view> versions);

  ConfigObject root() { return {*this, &value_.front(), ""}; }
  const std::string& api_version() const { return api_version_; }
  // Must be called after all fields have been read: OK if there are no errors and no unknown
  // fields.
  Status Finish() const;

 private:
  friend class ConfigObject;
  explicit ConfigDocument(Value value) { value_.push_back(std::move(value)); }
  void FindUnread(const Value& value, const std::string& path,
                  std::vector<std::string>& errors) const;

  std::deque<Value> value_;  // one; its address is stable when the document is moved
  std::string api_version_;
  std::vector<std::string> errors_;
  // The field names that were read, per object; "*" for objects that were read as a whole.
  std::map<const Value*, std::set<std::string, std::less<>>> known_fields_;
};

}  // namespace cox::apiserver
