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

// One object of a configuration document. Reading a field that is absent (or null) gives what
// `fallback` says; one of another type is an error of the document. Every field that the program
// understands is read, whether or not it matters: those nobody asked for are errors too.
//
// Ownership: borrows the document. Cheap to copy.
class ConfigObject {
 public:
  // Whether it stands in the document at all.
  bool present() const { return value_ != nullptr; }
  bool Has(std::string_view name) const;
  // "issuer.audiences[1]"; empty for the root.
  const std::string& path() const { return path_; }

  std::string String(std::string_view name, std::string_view fallback = {}) const;
  // An error if it is absent or empty.
  std::string RequiredString(std::string_view name) const;
  // One of `allowed`; an error if it is none of them.
  std::string Choice(std::string_view name, std::initializer_list<std::string_view> allowed,
                     std::string_view fallback = {}) const;
  bool Bool(std::string_view name, bool fallback = false) const;
  int64_t Int(std::string_view name, int64_t fallback, int64_t min, int64_t max) const;
  // "1m30s".
  Duration Time(std::string_view name, Duration fallback) const;
  std::vector<std::string> Strings(std::string_view name) const;
  // Written in base64.
  std::string Bytes(std::string_view name) const;
  // Absent ones are not present(), and all they hold is absent.
  ConfigObject Object(std::string_view name) const;
  std::vector<ConfigObject> Objects(std::string_view name) const;
  // As it is, whatever it holds; null if absent.
  const Value* Raw(std::string_view name) const;

  // Adds an error: `message` about the field `name` (about this object if empty).
  void Fail(std::string_view name, std::string_view message) const;

 private:
  friend class ConfigDocument;
  ConfigObject(ConfigDocument& document, const Value* value, std::string path)
      : document_(&document), value_(value), path_(std::move(path)) {}
  const Value* Find(std::string_view name) const;
  // Find, and an error if it is no `kind`.
  const Value* Find(std::string_view name, Value::Kind kind) const;
  std::string PathOf(std::string_view name) const;

  ConfigDocument* document_;
  const Value* value_;  // an object, or null
  std::string path_;
};

// A configuration file that an administrator wrote, YAML or JSON, read strictly: a misspelt field
// must not silently leave a door open. All errors are told at once.
//
//   COX_ASSIGN_OR_RETURN(ConfigDocument document,
//                        ConfigDocument::Parse(text, "Policy", {"audit.k8s.io/v1"}));
//   for (const ConfigObject& rule : document.root().Objects("rules")) …
//   COX_RETURN_IF_ERROR(document.Finish());
//
// Errors: BadRequest, with the paths of what is wrong.
// Threads: one.
class ConfigDocument {
 public:
  // BadRequest if it is no YAML, or not a `kind` of one of `versions`.
  static Result<ConfigDocument> Parse(std::string_view text, std::string_view kind,
                                      std::initializer_list<std::string_view> versions);
  // The same of a value inside another document, which outlives nothing: it is copied.
  static Result<ConfigDocument> Of(Value value, std::string_view kind,
                                   std::initializer_list<std::string_view> versions);

  ConfigObject root() { return {*this, &value_.front(), ""}; }
  const std::string& api_version() const { return api_version_; }
  // After everything was read: OK if nothing was wrong and nothing was left over.
  Status Finish() const;

 private:
  friend class ConfigObject;
  explicit ConfigDocument(Value value) { value_.push_back(std::move(value)); }
  void FindUnread(const Value& value, const std::string& path,
                  std::vector<std::string>& errors) const;

  std::deque<Value> value_;  // one; it keeps its address when the document is moved
  std::string api_version_;
  std::vector<std::string> errors_;
  // What was asked of each object; those asked as a whole have "*".
  std::map<const Value*, std::set<std::string, std::less<>>> asked_;
};

}  // namespace cox::apiserver
