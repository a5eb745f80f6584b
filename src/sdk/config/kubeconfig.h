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

// One or several merged kubeconfig files: the first file that contains a cluster, user or context
// defines that entry completely; the first file that sets current-context wins.
//
// Errors: BadRequest, with the file, the entry and the field, but without values that may be
//   secret.
class Kubeconfig {
 public:
  // `where` is the prefix of errors: the file's name. Relative paths in the text are resolved
  // against `folder`.
  Status Add(std::string_view text, std::string where, const std::filesystem::path& folder);

  // The configuration of `context` (empty: the current context).
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

// Decode an entry into `config`. Used by Kubeconfig.
Status ReadCluster(const Value& cluster, const std::filesystem::path& folder, Config* config);
Status ReadUser(const Value& user, const std::filesystem::path& folder, Config* config);

}  // namespace cox::sdk
