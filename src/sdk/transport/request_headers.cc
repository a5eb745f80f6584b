// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/request_headers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "object/codec/json/text.h"

namespace cox::sdk {
namespace {

// Printable ASCII: other characters are invalid, and could inject another header.
bool IsFieldValue(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

Result<std::shared_ptr<const std::string>> ParseToken(std::span<const std::string> texts) {
  const std::string_view token = TrimSpace(texts[0]);
  if (token.empty()) return Status::BadRequest("the token file is empty");
  if (!IsFieldValue(token)) return Status::BadRequest("the token file holds no token");
  return std::make_shared<const std::string>("Bearer " + std::string(token));
}

Status AddImpersonation(const Config::Impersonate& as, net::Headers* headers) {
  if (as.user.empty()) {
    if (as.uid.empty() && as.groups.empty() && as.extra.empty()) return {};
    return Status::BadRequest("impersonating a uid, groups or extra needs a user to impersonate");
  }
  headers->Add("impersonate-user", as.user);
  if (!as.uid.empty()) headers->Add("impersonate-uid", as.uid);
  for (const std::string& group : as.groups) headers->Add("impersonate-group", group);
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) headers->Add(ImpersonateExtraField(key), value);
  }
  return {};
}

}  // namespace

std::string ImpersonateExtraField(std::string_view key) {
  static constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789!#$&'*+-.^_`|~";
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string name = "impersonate-extra-";
  for (const char c : key) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (kAllowed.find(lower) != std::string_view::npos) {
      name += lower;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += '%';
      name += kHex[byte >> 4];
      name += kHex[byte & 15];
    }
  }
  return name;
}

std::string DefaultUserAgent(const std::string& program) {
#if defined(__x86_64__)
  constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kArchitecture = "arm64";
#else
  constexpr std::string_view kArchitecture = "unknown";
#endif
  return (program.empty() ? "coxswain-client" : program) + "/v0 (linux/" +
         std::string(kArchitecture) + ") coxswain";
}

Result<std::unique_ptr<RequestHeaders>> RequestHeaders::Open(const Context& ctx,
                                                             const Config& config,
                                                             const std::string& program) {
  auto made = std::make_unique<RequestHeaders>();
  made->fixed_.Add("user-agent",
                   config.user_agent.empty() ? DefaultUserAgent(program) : config.user_agent);
  COX_RETURN_IF_ERROR(AddImpersonation(config.impersonate, &made->fixed_));
  for (const auto& [name, value] : made->fixed_) {
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return Status::BadRequest(name + ": must not have line breaks");
    }
  }
  const std::string& token = config.token.Reveal();
  const bool has_token = !token.empty() || !config.token_file.empty();
  if (!config.username.empty() && has_token) {
    return Status::BadRequest("a user has a name and password or a token, not both");
  }
  if (!config.token_file.empty()) {
    COX_ASSIGN_OR_RETURN(made->token_file_,
                         WatchedFile<std::string>::Open(
                             ctx, {.name = "token", .paths = {config.token_file}}, ParseToken));
  } else if (!token.empty()) {
    if (!IsFieldValue(token)) return Status::BadRequest("the token holds what no token can");
    made->authorization_ = "Bearer " + token;
  } else if (!config.username.empty()) {
    if (config.username.find(':') != std::string::npos) {
      return Status::BadRequest("a username must not have a colon");
    }
    made->authorization_ = "Basic ";
    json::WriteBase64(config.username + ":" + config.password.Reveal(), &made->authorization_);
  }
  return made;
}

void RequestHeaders::Add(const std::string& plugin_token, net::Headers* headers) const {
  for (const auto& [name, value] : fixed_) headers->Remove(name);
  for (const auto& [name, value] : fixed_) headers->Add(name, value);
  if (token_file_ != nullptr) {
    headers->Set("authorization", *token_file_->Current());
  } else if (!authorization_.empty()) {
    headers->Set("authorization", authorization_);
  } else if (!plugin_token.empty()) {
    headers->Set("authorization", "Bearer " + plugin_token);
  }
}

}  // namespace cox::sdk
