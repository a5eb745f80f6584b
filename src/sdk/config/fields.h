// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "object/type/value.h"

namespace cox::sdk {

// Reads the members of one object of a kubeconfig, as kubectl does: what is absent or null is
// empty, what nobody asks for is ignored, a member of another type is an error.
//
// The first error stays, in status(); what is read after it is of no use. Values are not repeated
// in errors: they may be secrets.
class Fields {
 public:
  // `value` may be null: all is absent. Borrows it.
  explicit Fields(const Value* value);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  std::string Text(std::string_view name);
  bool Flag(std::string_view name);
  std::vector<std::string> Texts(std::string_view name);
  std::string Base64(std::string_view name);
  // Relative ones are relative to `folder`.
  std::filesystem::path Path(std::string_view name, const std::filesystem::path& folder);
  // Null if it is absent.
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
