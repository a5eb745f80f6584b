// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/token_file.h"

#include "base/strings.h"

namespace cox::apiserver {
namespace {

// The fields of one line. Fields with commas are quoted, and quotes in them are doubled. None if a
// quote is not closed.
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
  explicit TokenFileMethod(std::function<TokenTablePtr()> table) : table_(std::move(table)) {}

  TokenResult TryToken(std::string_view token, std::span<const std::string>) const override {
    const TokenTablePtr table = table_();
    const UserInfo* user = table->Find(token);
    if (user == nullptr) return std::optional<TokenIdentity>();
    return std::optional(TokenIdentity{.user = *user, .audiences = std::nullopt});
  }

 private:
  const std::function<TokenTablePtr()> table_;
};

}  // namespace

Result<TokenTablePtr> TokenTable::Parse(std::string_view csv) {
  auto table = std::make_shared<TokenTable>();
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
    table->users_.emplace(DigestOf((*fields)[0]), std::move(user));
  }
  return TokenTablePtr(std::move(table));
}

const UserInfo* TokenTable::Find(std::string_view token) const {
  const auto at = users_.find(DigestOf(token));
  return at == users_.end() ? nullptr : &at->second;
}

std::unique_ptr<const AuthMethod> NewTokenFileMethod(std::function<TokenTablePtr()> table) {
  return std::make_unique<TokenFileMethod>(std::move(table));
}

Result<std::unique_ptr<const AuthMethod>> NewTokenFileMethod(std::string_view csv) {
  COX_ASSIGN_OR_RETURN(TokenTablePtr table, TokenTable::Parse(csv));
  return NewTokenFileMethod([table] { return table; });
}

}  // namespace cox::apiserver
