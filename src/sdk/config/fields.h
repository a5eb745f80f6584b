// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "object/type/value.h"

namespace cox::sdk {

// Reads the members of an object in a kubeconfig like kubectl: absent or null members are empty,
// unknown members are ignored, a member of the wrong type is an error.
//
// status() returns the first error; values read after it are meaningless.
// Security: errors do not contain values, which may be secrets.
class Fields {
 public:
  // `value` may be null: all members are absent.
  // Lifetime: `value` must outlive this object.
  explicit Fields(const Value* value);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  std::string Text(std::string_view name);
  bool Flag(std::string_view name);
  std::vector<std::string> Texts(std::string_view name);
  std::string Base64(std::string_view name);
  // Relative paths are resolved against `folder`.
  std::filesystem::path Path(std::string_view name, const std::filesystem::path& folder);
  // Null if the member is absent.
  const Value* Object(std::string_view name);
  std::vector<const Value*> Objects(std::string_view name);

  void Fail(std::string_view name, std::string_view why);
  const Status& status() const { return status_; }

 private:
  const Value* Find(std::string_view name) const;
  const Value* Find(std::string_view name, Value::Kind kind, std::string_view kind_name);

  const Value* value_;
  Status status_;
};

}  // namespace cox::sdk
