// SPDX-License-Identifier: Apache-2.0
#include <openssl/sha.h>

#include <array>
#include <map>

#include "apiserver/authn/authenticator.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

// Tokens are kept and looked up by their hash: comparing them takes the same time wherever they
// differ, and a dump of memory holds none.
using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest Hash(std::string_view token) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

// The fields of one line; fields with commas are quoted, quotes in them doubled. None if a quote
// stays open.
std::optional<std::vector<std::string>> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return fields;
}

class TokenFileMethod final : public AuthMethod {
 public:
  explicit TokenFileMethod(std::map<Digest, UserInfo> users) : users_(std::move(users)) {}

  Result<std::optional<TokenIdentity>> TryToken(std::string_view token,
                                                std::span<const std::string>) const override {
    auto at = users_.find(Hash(token));
    if (at == users_.end()) return std::optional<TokenIdentity>();
    return std::optional(TokenIdentity{.user = at->second, .audiences = std::nullopt});
  }

 private:
  const std::map<Digest, UserInfo> users_;
};

}  // namespace

Result<std::unique_ptr<const AuthMethod>> NewTokenFileMethod(std::string_view csv) {
  std::map<Digest, UserInfo> users;
  int number = 0;
  for (std::string_view line : Split(csv, '\n')) {
    ++number;
    if (line.empty() || line == "\r" || line.front() == '#') continue;
    const std::optional<std::vector<std::string>> fields = Fields(line);
    if (!fields || fields->size() < 3 || (*fields)[0].empty()) {
      return Status::BadRequest("token file, line " + std::to_string(number) +
                                ": want token,user,uid[,\"group,group\"]");
    }
    UserInfo user{.name = (*fields)[1], .uid = (*fields)[2], .groups = {}, .extra = {}};
    if (fields->size() > 3) {
      for (std::string_view group : Split((*fields)[3], ',')) {
        if (!group.empty()) user.groups.emplace_back(group);
      }
    }
    users.emplace(Hash((*fields)[0]), std::move(user));
  }
  return std::unique_ptr<const AuthMethod>(std::make_unique<TokenFileMethod>(std::move(users)));
}

}  // namespace cox::apiserver
