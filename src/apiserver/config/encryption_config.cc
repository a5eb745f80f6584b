// SPDX-License-Identifier: Apache-2.0
#include "apiserver/config/encryption_config.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/config/config_reader.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using storage::EncryptionProvider;
using Kind = EncryptionProvider::Kind;

constexpr std::string_view kNoProvider =
    "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, "
    "Identity";
constexpr std::string_view kManyProviders =
    "more than one provider specified in a single element, should split into different list "
    "elements";
constexpr std::string_view kKmsV1 =
    "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.";

std::vector<storage::EncryptionKey> ReadKeys(const ConfigObject& provider, bool aes) {
  std::vector<storage::EncryptionKey> keys;
  std::set<std::string> names;
  const std::vector<ConfigObject> objects = provider.Objects("keys");
  if (objects.empty()) provider.Fail("keys", "at least one key is required");
  for (const ConfigObject& object : objects) {
    storage::EncryptionKey key{object.RequiredString("name"),
                               storage::KeyBytes(object.Bytes("secret"))};
    const size_t size = key.secret.size();
    if (!object.Has("secret")) {
      object.Fail("secret", "a secret must be provided");
    } else if (aes ? !storage::IsAesKeySize(size) : size != storage::kSecretboxKeySize) {
      object.Fail("secret", "secret is not of the expected length, got " + std::to_string(size) +
                                ", expected one of " + (aes ? "[16 24 32]" : "[32]"));
    }
    if (!names.insert(key.name).second) object.Fail("name", "is used by another key, too");
    keys.push_back(std::move(key));
  }
  return keys;
}

storage::kms::ServiceOptions ReadKms(const ConfigObject& kms, std::set<std::string>& names) {
  storage::kms::ServiceOptions options;
  const std::string version = kms.String("apiVersion", "v1");
  if (version == "v1") {
    kms.Fail("apiVersion", kKmsV1);
  } else if (version != "v2") {
    kms.Fail("apiVersion", "unsupported apiVersion " + Quote(version) + " for KMS provider, only " +
                               "v2 is supported");
  }
  options.name = kms.RequiredString("name");
  if (options.name.find(':') != std::string::npos) {
    kms.Fail("name", "invalid KMS provider name " + options.name + ", must not contain ':'");
  }
  if (!names.insert(options.name).second) {
    kms.Fail("name", "duplicate KMS provider name " + options.name + ", names must be unique");
  }
  options.endpoint = kms.RequiredString("endpoint");
  if (!options.endpoint.empty()) {
    const Result<std::string> path = storage::kms::SocketPath(options.endpoint);
    if (!path.ok()) kms.Fail("endpoint", path.status().message());
  }
  if (kms.Has("cachesize")) kms.Fail("cachesize", "cachesize is not supported in v2");
  static_cast<void>(kms.Raw("cachesize"));
  const Duration timeout = kms.Time("timeout", Duration::Seconds(3));
  if (timeout.nanos <= 0) kms.Fail("timeout", "timeout should be a positive value");
  options.timeout = std::chrono::milliseconds(std::max<int64_t>(timeout.nanos / 1'000'000, 1));
  return options;
}

EncryptionProvider ReadProvider(const ConfigObject& object, std::set<std::string>& kms_names) {
  EncryptionProvider provider;
  int kinds = 0;
  const auto is = [&](std::string_view name, Kind kind) {
    if (!object.Has(name)) return false;
    provider.kind = kind;
    ++kinds;
    return true;
  };
  if (is("identity", Kind::kIdentity)) static_cast<void>(object.Object("identity"));
  if (is("aesgcm", Kind::kAesGcm)) provider.keys = ReadKeys(object.Object("aesgcm"), true);
  if (is("aescbc", Kind::kAesCbc)) provider.keys = ReadKeys(object.Object("aescbc"), true);
  if (is("secretbox", Kind::kSecretbox)) {
    provider.keys = ReadKeys(object.Object("secretbox"), false);
  }
  if (is("kms", Kind::kKms)) provider.kms = ReadKms(object.Object("kms"), kms_names);
  if (kinds == 0) object.Fail("", kNoProvider);
  if (kinds > 1) object.Fail("", kManyProviders);
  return provider;
}

// The error in a resource name; empty if it is valid.
std::string ResourceProblem(std::string_view name) {
  const CutResult cut = Cut(name, '.');
  if (name.empty()) return "must not be empty";
  if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return "resource name should not contain capital letters";
  }
  if (name == "*") {
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all "
           "resources";
  }
  if (cut.before == "*" && cut.after.find('*') != cut.after.npos && cut.after != "*") {
    return "a wildcard stands for a whole group or all groups";
  }
  if (cut.before != "*" && name.find('*') != name.npos) {
    return "wildcards stand for all resources of a group: *.<group>";
  }
  if (cut.after == "extensions") {
    return "'extensions' group has been removed and cannot be used for encryption";
  }
  if (name == "events.events.k8s.io" || name == "*.events.k8s.io") {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use "
           "'events' instead in the config file";
  }
  return {};
}

// Whether `pattern` matches everything that `name` matches, and more.
bool Covers(std::string_view pattern, std::string_view name) {
  if (pattern == name || !pattern.starts_with("*.")) return false;
  if (pattern == "*.*") return true;
  return Cut(name, '.').after == pattern.substr(2);
}

std::vector<std::string> ReadResources(const ConfigObject& rule) {
  std::vector<std::string> names = rule.Strings("resources");
  if (names.empty()) rule.Fail("resources", "at least one resource is required");
  for (const std::string& name : names) {
    const std::string problem = ResourceProblem(name);
    if (!problem.empty()) rule.Fail("resources", Quote(name) + ": " + problem);
    if (std::count(names.begin(), names.end(), name) > 1) {
      rule.Fail("resources",
                Quote(name) + ": the same resource cannot be specified multiple times");
    }
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& other) { return Covers(other, name); })) {
      rule.Fail("resources", Quote(name) +
                                 ": using overlapping resources such as 'secrets' and "
                                 "'*.' in the same resource list is not allowed as they "
                                 "will be masked");
    }
  }
  return names;
}

}  // namespace

Result<storage::EncryptionOptions> ParseEncryptionConfig(std::string_view text) {
  COX_ASSIGN_OR_RETURN(
      ConfigDocument document,
      ConfigDocument::Parse(text, "EncryptionConfiguration", {"apiserver.config.k8s.io/v1"}));
  const ConfigObject root = document.root();
  storage::EncryptionOptions options;
  std::set<std::string> kms_names;
  const std::vector<ConfigObject> rules = root.Objects("resources");
  if (rules.empty()) root.Fail("resources", "at least one rule is required");
  for (const ConfigObject& object : rules) {
    storage::EncryptionRule rule;
    rule.resources = ReadResources(object);
    const std::vector<ConfigObject> providers = object.Objects("providers");
    if (providers.empty()) object.Fail("providers", "at least one provider is required");
    for (const ConfigObject& provider : providers) {
      rule.providers.push_back(ReadProvider(provider, kms_names));
    }
    options.rules.push_back(std::move(rule));
  }
  COX_RETURN_IF_ERROR(document.Finish());
  return options;
}

}  // namespace cox::apiserver
