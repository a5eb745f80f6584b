// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/kinds/core/tls_pair.h"
#include "apiserver/registry/validation/field_checks.h"
#include "object/codec/json/json.h"
#include "object/type/go_text.h"

namespace cox::apiserver {
namespace {

using core::v1::Secret;

constexpr const char* kImmutable = "field is immutable when `immutable` is set";
constexpr std::string_view kServiceAccountName = "kubernetes.io/service-account.name";
constexpr std::string_view kTls = "kubernetes.io/tls";

void RequireKey(FieldErrorList& errors, const Secret& secret, std::string_view key) {
  if (!secret.data.contains(key)) {
    errors.push_back(FieldError::Required(FieldPath("data").Key(key)));
  }
}

// Registry credentials are a JSON object. Errors must not contain them.
void RequireJsonObject(FieldErrorList& errors, const Secret& secret, std::string_view key) {
  const std::string* text = secret.data.Get(key);
  if (text == nullptr) return RequireKey(errors, secret, key);
  std::string problem;
  Result<Value> parsed = json::Parse(*text);
  if (!parsed.ok()) {
    problem = parsed.status().message();
  } else if (!parsed->is_object() && !parsed->is_null()) {
    problem = CannotUnmarshal(*parsed, "value of type map[string]interface {}");
  }
  if (problem.empty()) return;
  errors.push_back(FieldError::Invalid(FieldPath("data").Key(key), "<secret contents redacted>",
                                       std::move(problem)));
}

// Validates the keys that well-known types require.
void CheckType(FieldErrorList& errors, const Secret& secret) {
  if (secret.type == "kubernetes.io/service-account-token") {
    const std::string* account = secret.metadata.annotations.Get(kServiceAccountName);
    if (account == nullptr || account->empty()) {
      errors.push_back(FieldError::Required(
          FieldPath("metadata").Child("annotations").Key(kServiceAccountName)));
    }
  } else if (secret.type == "kubernetes.io/dockercfg") {
    RequireJsonObject(errors, secret, ".dockercfg");
  } else if (secret.type == "kubernetes.io/dockerconfigjson") {
    RequireJsonObject(errors, secret, ".dockerconfigjson");
  } else if (secret.type == "kubernetes.io/basic-auth") {
    // One of the two is sufficient.
    if (!secret.data.contains("username") && !secret.data.contains("password")) {
      RequireKey(errors, secret, "username");
      RequireKey(errors, secret, "password");
    }
  } else if (secret.type == "kubernetes.io/ssh-auth") {
    const std::string* key = secret.data.Get("ssh-privatekey");
    if (key == nullptr || key->empty()) {
      errors.push_back(FieldError::Required(FieldPath("data").Key("ssh-privatekey")));
    }
  } else if (secret.type == kTls) {
    RequireKey(errors, secret, "tls.crt");
    RequireKey(errors, secret, "tls.key");
  }
}

FieldErrorList CheckSecret(const Secret& secret) {
  FieldErrorList errors;
  size_t total = 0;
  FieldPath data("data");
  for (const auto& [key, value] : secret.data) {
    AppendInvalid(errors, data.Key(key), key, validation::IsConfigMapKey(key));
    total += value.size();
  }
  if (total > kMaxDataBytes) errors.push_back(FieldError::TooLong(data, kMaxDataBytes));
  CheckType(errors, secret);
  return errors;
}

class SecretStrategy final : public StrategyOf<Secret> {
 public:
  std::string_view storage_prefix() const override { return "secrets"; }

  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"type"};
    return kNames;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn,
                                          {.name = "Type", .type = "string"},
                                          {.name = "Data", .type = "string"},
                                          kAgeColumn};
    return kColumns;
  }

 protected:
  // stringData sets data without base64; it is never stored.
  void Default(Secret& secret) const override {
    for (const auto& [key, value] : secret.stringData) secret.data[key] = value;
    secret.stringData.clear();
    if (secret.type.empty()) secret.type = "Opaque";
  }

  FieldErrorList Check(const WriteContext&, const Secret& secret) const override {
    return CheckSecret(secret);
  }

  FieldErrorList CheckUpdate(const WriteContext&, const Secret& secret,
                             const Secret& old) const override {
    FieldErrorList errors;
    if (secret.type != old.type) {
      errors.push_back(validation::ImmutableField(FieldPath("type"), secret.type));
    }
    if (old.immutable.value_or(false)) {
      if (!secret.immutable.value_or(false)) {
        errors.push_back(FieldError::Forbidden(FieldPath("immutable"), kImmutable));
      }
      if (secret.data != old.data) {
        errors.push_back(FieldError::Forbidden(FieldPath("data"), kImmutable));
      }
    }
    Append(errors, CheckSecret(secret));
    return errors;
  }

  // Only a warning, because some clients store other data under this type.
  Warnings Warn(const WriteContext&, const Secret& secret, const Secret*) const override {
    if (secret.type != kTls) return {};
    const std::string* certificate = secret.data.Get("tls.crt");
    const std::string* key = secret.data.Get("tls.key");
    std::string problem =
        TlsPairProblem(certificate == nullptr ? "" : *certificate, key == nullptr ? "" : *key);
    if (problem.empty()) return {};
    return {problem};
  }

  FieldPairs FieldsOf(const Secret& secret) const override { return {{"type", secret.type}}; }
  Cells RowOf(const Secret& secret, const Time& now) const override {
    return {secret.metadata.name, secret.type, static_cast<int64_t>(secret.data.size()),
            Age(secret.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewSecretStrategy() { return std::make_unique<SecretStrategy>(); }

}  // namespace cox::apiserver
