// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/bootstrap_token.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "api/core/v1.h"
#include "base/strings.h"
#include "object/scalar/time.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kType = "bootstrap.kubernetes.io/token";
constexpr std::string_view kGroup = "system:bootstrappers";
constexpr size_t kIdSize = 6, kSecretSize = 16;
constexpr size_t kMaxGroupSuffix = 256;

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsWellFormed(std::string_view token) {
  if (token.size() != kIdSize + 1 + kSecretSize || token[kIdSize] != '.') return false;
  return std::ranges::all_of(token.substr(0, kIdSize), IsLowerOrDigit) &&
         std::ranges::all_of(token.substr(kIdSize + 1), IsLowerOrDigit);
}

// "system:bootstrappers:" and up to 256 of [a-z0-9:-], ending with a letter or digit.
bool IsExtraGroup(std::string_view group) {
  if (!group.starts_with(kGroup)) return false;
  group.remove_prefix(kGroup.size());
  if (!group.starts_with(':')) return false;
  group.remove_prefix(1);
  return !group.empty() && group.size() <= kMaxGroupSuffix && IsLowerOrDigit(group.back()) &&
         std::ranges::all_of(group,
                             [](char c) { return IsLowerOrDigit(c) || c == ':' || c == '-'; });
}

std::string_view Data(const core::v1::Secret& secret, std::string_view key) {
  const std::string* value = secret.data.Get(key);
  return value == nullptr ? std::string_view() : *value;
}

// None if a group is not allowed for bootstrap tokens.
std::optional<std::vector<std::string>> GroupsOf(const core::v1::Secret& secret) {
  std::vector<std::string> groups = {std::string(kGroup)};
  const std::string_view extra = Data(secret, "auth-extra-groups");
  if (extra.empty()) return groups;
  for (std::string_view group : Split(extra, ',')) {
    if (!IsExtraGroup(group)) return std::nullopt;
    if (std::ranges::find(groups, group) == groups.end()) groups.emplace_back(group);
  }
  // Sorted after the common group, so that the order in the Secret does not matter.
  std::sort(groups.begin() + 1, groups.end());
  return groups;
}

bool IsExpired(const core::v1::Secret& secret, Clock::WallTime now) {
  const std::string_view text = Data(secret, "expiration");
  if (text.empty()) return false;
  const Result<Time> expires = Time::Parse(text);
  // An invalid time counts as expired.
  return !expires.ok() ||
         expires->unix_seconds() <=
             std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

class BootstrapTokenMethod final : public AuthMethod {
 public:
  BootstrapTokenMethod(const Registry& registry, const Clock& clock)
      : secrets_(registry.Hub(core::v1::Secret::kKind).store()), clock_(clock) {}

  TokenResult TryToken(std::string_view token, std::span<const std::string>) const override {
    const std::optional<TokenIdentity> none;
    if (!IsWellFormed(token)) return none;
    const std::string id(token.substr(0, kIdSize));
    const std::optional<Object> object = Find("bootstrap-token-" + id);
    if (!object) return none;
    const core::v1::Secret& secret = *object->As<core::v1::Secret>();
    if (secret.metadata.deletionTimestamp || secret.type != kType) return none;
    const std::string_view want = Data(secret, "token-secret");
    if (want.size() != kSecretSize ||
        CRYPTO_memcmp(want.data(), token.data() + kIdSize + 1, kSecretSize) != 0) {
      return none;
    }
    if (Data(secret, "token-id") != id || IsExpired(secret, clock_.Now()) ||
        Data(secret, "usage-bootstrap-authentication") != "true") {
      return none;
    }
    std::optional<std::vector<std::string>> groups = GroupsOf(secret);
    if (!groups) return none;
    return std::optional(
        TokenIdentity{.user = {.name = "system:bootstrap:" + id, .groups = std::move(*groups)},
                      .audiences = std::nullopt});
  }

 private:
  std::optional<Object> Find(const std::string& name) const {
    const storage::SnapshotPtr snapshot =
        secrets_.cache() == nullptr ? nullptr : secrets_.cache()->Current();
    const storage::EntryPtr entry =
        snapshot == nullptr ? nullptr : snapshot->Find(secrets_.Key(kNamespace, name));
    if (entry == nullptr) return std::nullopt;
    Result<Object> object = secrets_.Decode(entry->stored(), entry->revision());
    if (!object.ok()) return std::nullopt;
    return std::move(*object);
  }

  const ResourceStore& secrets_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<const AuthMethod> NewBootstrapTokenMethod(const Registry& registry,
                                                          const Clock& clock) {
  return std::make_unique<BootstrapTokenMethod>(registry, clock);
}

}  // namespace cox::apiserver
