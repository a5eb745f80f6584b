// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coxswain/config.h"
#include "object/type/value.h"

namespace cox::sdk {

// One or several kubeconfig files, as one: of each cluster, user and context the first file that
// has it counts, whole; the current context is that of the first file that names one.
//
// Errors: BadRequest, with the file, the entry and the field, without any value that may be secret.
class Kubeconfig {
 public:
  // `where` begins the texts of errors: the file's name. Relative paths in the text are relative to
  // `folder`.
  Status Add(std::string_view text, std::string where, const std::filesystem::path& folder);

  // What `context` (if empty: the current one) says.
  Result<Config> Resolve(std::string_view context) const;

 private:
  // A named item of a list.
  struct Entry {
    std::string where;  // "/etc/cluster/config: users[\"me\"]"
    std::filesystem::path folder;
    Value value;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Result<const Entry*> FindContext(std::string_view name) const;

  Entries clusters_;
  Entries users_;
  Entries contexts_;
  std::string current_;
};

// The parts of an entry, into `config`. For Kubeconfig.
Status ReadCluster(const Value& cluster, const std::filesystem::path& folder, Config* config);
Status ReadUser(const Value& user, const std::filesystem::path& folder, Config* config);

}  // namespace cox::sdk
