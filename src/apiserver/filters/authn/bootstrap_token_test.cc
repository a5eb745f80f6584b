// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/bootstrap_token.h"

#include "api/core/v1.h"
#include "apiserver/testing/write_harness.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

class BootstrapTokenTest : public ::testing::Test, protected WriteHarness {
 protected:
  // Stores the Secret of a valid token, changed by `change`, and returns the identity of `token`.
  std::string Identity(const std::function<void(core::v1::Secret&)>& change,
                       std::string_view token = "abc123.0123456789abcdef") {
    core::v1::Secret secret;
    secret.metadata.namespace_ = "kube-system";
    secret.metadata.name = "bootstrap-token-abc123";
    secret.type = "bootstrap.kubernetes.io/token";
    secret.data["token-id"] = "abc123";
    secret.data["token-secret"] = "0123456789abcdef";
    secret.data["usage-bootstrap-authentication"] = "true";
    if (change) change(secret);
    // Written directly to storage, because objects that another server version stored must be
    // handled.
    Object object = Object::Of(secret);
    const ResourceStore& store = registry().Hub(core::v1::Secret::kKind).store();
    const std::string key = store.Key("kube-system", secret.metadata.name);
    Store(key, store.Encode(object));
    Sync(core::v1::Secret::kKind);
    const AuthMethod::TokenResult found =
        NewBootstrapTokenMethod(registry(), clock())->TryToken(token, {});
    if (!found.ok()) return found.status().message();
    if (!*found) return "none";
    return (*found)->user.name + " [" + Join((*found)->user.groups, " ") + "]";
  }

  void Store(const std::string& key, const std::string& bytes) {
    auto there = store().Get(ctx(), key);
    ASSERT_TRUE(there.ok());
    if (there->kv) {
      ASSERT_TRUE(store().Delete(ctx(), key, there->kv->revision).ok());
    }
    ASSERT_TRUE(store().Create(ctx(), key, bytes).ok());
  }
};

TEST_F(BootstrapTokenTest, ValidTokenYieldsBootstrapUserAndGroups) {
  EXPECT_EQ(Identity(nullptr), "system:bootstrap:abc123 [system:bootstrappers]");
  EXPECT_EQ(Identity([](core::v1::Secret& secret) {
              secret.data["auth-extra-groups"] =
                  "system:bootstrappers:workers,system:bootstrappers:a:b-c";
            }),
            "system:bootstrap:abc123 [system:bootstrappers system:bootstrappers:a:b-c "
            "system:bootstrappers:workers]");
}

TEST_F(BootstrapTokenTest, InvalidSecretDoesNotAuthenticate) {
  using Change = std::function<void(core::v1::Secret&)>;
  const std::pair<const char*, Change> kCases[] = {
      {"type", [](auto& s) { s.type = "Opaque"; }},
      {"id", [](auto& s) { s.data["token-id"] = "abc124"; }},
      {"no secret", [](auto& s) { s.data.erase("token-secret"); }},
      {"usage", [](auto& s) { s.data["usage-bootstrap-authentication"] = "yes"; }},
      {"no usage", [](auto& s) { s.data.erase("usage-bootstrap-authentication"); }},
      {"expired", [](auto& s) { s.data["expiration"] = "2030-01-02T03:04:05Z"; }},
      {"expiry unreadable", [](auto& s) { s.data["expiration"] = "tomorrow"; }},
      {"group", [](auto& s) { s.data["auth-extra-groups"] = "system:masters"; }},
      {"group", [](auto& s) { s.data["auth-extra-groups"] = "system:bootstrappers:x-"; }},
      {"group", [](auto& s) { s.data["auth-extra-groups"] = "system:bootstrappers:A"; }},
      {"group", [](auto& s) { s.data["auth-extra-groups"] = "system:bootstrappersx"; }},
      {"going",
       [](auto& s) { s.metadata.deletionTimestamp = *Time::Parse("2029-01-01T00:00:00Z"); }},
  };
  for (const auto& [what, change] : kCases) EXPECT_EQ(Identity(change), "none") << what;
  EXPECT_NE(Identity([](auto& s) { s.data["expiration"] = "2030-01-02T03:04:06Z"; }), "none");
}

TEST_F(BootstrapTokenTest, OtherTokensDoNotMatch) {
  for (const char* token :
       {"abc123.0123456789abcdeX", "abc123.0123456789abcdee", "abc124.0123456789abcdef",
        "abc123.0123456789abcde", "abc123-0123456789abcdef", "ABC123.0123456789abcdef",
        "abc1230.123456789abcdef", "", "../../x.0123456789abcdef"}) {
    EXPECT_EQ(Identity(nullptr, token), "none") << token;
  }
}

}  // namespace
}  // namespace cox::apiserver
