// SPDX-License-Identifier: Apache-2.0
#include "kubelet/images/pull_records.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file_watch.h"
#include "base/replace_file.h"
#include "base/strings.h"
#include "net/digest.h"
#include "object/codec/json/json.h"
#include "object/type/value.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kApiVersion = "kubelet.config.k8s.io/v1beta1";
// Records per image that are kept; a Pod whose Secret was dropped pulls the image again.
constexpr size_t kMaxSecrets = 100;

std::string RepositoryOf(std::string_view image) {
  const ImageName name = ParseImageName(image);
  return name.registry + "/" + name.repository;
}

std::string FileName(std::string_view key) { return "sha256-" + net::Sha256Hex(key); }

void RemoveFile(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
}

// The names of the records in a folder.
std::vector<std::string> RecordFiles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("sha256-") && !name.ends_with(".new")) names.push_back(std::move(name));
  }
  return names;
}

Result<Value> ReadRecord(const std::string& path) {
  COX_ASSIGN_OR_RETURN(const std::string text, ReadBoundedFile(path));
  COX_ASSIGN_OR_RETURN(Value value, json::Parse(text));
  if (!value.is_object()) return Status::BadRequest("not an object");
  return value;
}

std::string TextAt(const Value& value, std::string_view key) {
  const Value* const found = value.Find(key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

bool IsSame(const SecretReference& a, const SecretReference& b) {
  return a.uid == b.uid && a.ns == b.ns && a.name == b.name;
}

}  // namespace

Status CheckAllowlist(const std::vector<std::string>& allowlist) {
  for (const std::string& entry : allowlist) {
    // An image that the entry matches: "r.example:5000/*" has a port, not a tag.
    std::string image = entry;
    if (entry.ends_with("/*")) image.replace(image.size() - 1, 1, "x");
    if (image.empty() || image.front() == '/' || image.find('*') != image.npos ||
        ParseImageName(image).tagged) {
      return Status::BadRequest(Quote(entry) +
                                " must be an image without tag and digest; it may end with /*");
    }
  }
  return {};
}

void PullRecords::Load() {
  if (std::exchange(loaded_, true)) return;
  for (std::string& name : RecordFiles(options_.directory + "/pulling")) {
    left_intents_.insert(std::move(name));
  }
  for (std::string& name : RecordFiles(options_.directory + "/pulled")) {
    const Result<Value> value = ReadRecord(options_.directory + "/pulled/" + name);
    if (!value.ok() || FileName(TextAt(*value, "imageRef")) != name || !AddRecord(*value))
      damaged_.insert(std::move(name));
  }
}

bool PullRecords::AddRecord(const Value& value) {
  const std::string ref = TextAt(value, "imageRef");
  const Value* const mappings = value.Find("credentialMapping");
  if (ref.empty() || mappings == nullptr || !mappings->is_object()) return false;
  Record& record = records_[ref];
  for (const auto& [repository, entry] : mappings->as_object()) {
    Mapping& mapping = record.mappings[std::string(repository)];
    const Value* const all = entry.Find("nodePodsAccessible");
    mapping.accessible_to_all = all != nullptr && all->is_bool() && all->as_bool();
    const Value* const secrets = entry.Find("kubernetesSecrets");
    if (secrets == nullptr || !secrets->is_array()) continue;
    for (const Value& secret : secrets->as_array()) {
      mapping.secrets.push_back(
          {{TextAt(secret, "uid"), TextAt(secret, "namespace"), TextAt(secret, "name")},
           TextAt(secret, "credentialHash")});
    }
  }
  return true;
}

Status PullRecords::Write(const std::string& ref, const Record& record) const {
  ValueObject mappings;
  for (const auto& [repository, mapping] : record.mappings) {
    if (mapping.accessible_to_all) {
      mappings[repository] = Value::MakeObject({{"nodePodsAccessible", true}});
      continue;
    }
    Value::Array secrets;
    for (const KnownSecret& known : mapping.secrets) {
      secrets.push_back(Value::MakeObject({{"uid", known.secret.uid},
                                           {"namespace", known.secret.ns},
                                           {"name", known.secret.name},
                                           {"credentialHash", known.hash}}));
    }
    mappings[repository] = Value::MakeObject({{"kubernetesSecrets", std::move(secrets)}});
  }
  const Value value = Value::MakeObject({{"kind", "ImagePulledRecord"},
                                         {"apiVersion", std::string(kApiVersion)},
                                         {"imageRef", ref},
                                         {"credentialMapping", std::move(mappings)}});
  return ReplaceFile(options_.directory + "/pulled/" + FileName(ref), json::Write(value),
                     /*secret=*/true);
}

Status PullRecords::Begin(const std::string& image) {
  MutexLock lock(mu_);
  Load();
  int& running = pulls_[image];
  if (running == 0) {
    const Value value = Value::MakeObject(
        {{"kind", "ImagePullIntent"}, {"apiVersion", std::string(kApiVersion)}, {"image", image}});
    Status written = ReplaceFile(options_.directory + "/pulling/" + FileName(image),
                                 json::Write(value), /*secret=*/true);
    if (!written.ok()) {
      pulls_.erase(image);
      return written;
    }
  }
  ++running;
  return {};
}

Status PullRecords::Succeeded(const std::string& image, const std::string& ref,
                              const ImageCredential* credential) {
  MutexLock lock(mu_);
  Load();
  Record& record = records_[ref];
  record.pulled = ++pulled_;
  Mapping& mapping = record.mappings[RepositoryOf(image)];
  if (credential == nullptr) {
    mapping = {.accessible_to_all = true, .secrets = {}};
  } else if (!mapping.accessible_to_all) {
    std::erase_if(mapping.secrets, [&](const KnownSecret& known) {
      return IsSame(known.secret, credential->secret);
    });
    if (mapping.secrets.size() >= kMaxSecrets) mapping.secrets.erase(mapping.secrets.begin());
    mapping.secrets.push_back({credential->secret, credential->hash});
  }
  Status written = Write(ref, record);
  if (written.ok()) {
    left_intents_.erase(FileName(image));  // this pull has verified the access
  } else {
    left_intents_.insert(FileName(image));  // the next start of the kubelet finds no record
  }
  EndPull(image);
  return written;
}

void PullRecords::Failed(const std::string& image) {
  MutexLock lock(mu_);
  EndPull(image);
}

void PullRecords::Abandoned(const std::string& image) {
  MutexLock lock(mu_);
  left_intents_.insert(FileName(image));
  EndPull(image);
}

void PullRecords::EndPull(const std::string& image) {
  const auto found = pulls_.find(image);
  if (found == pulls_.end() || --found->second > 0) return;
  pulls_.erase(found);
  const std::string name = FileName(image);
  if (left_intents_.count(name) == 0) RemoveFile(options_.directory + "/pulling/" + name);
}

bool PullRecords::IsPreloadedAllowed(const std::string& image) const {
  if (options_.policy == VerificationPolicy::kNeverVerifyPreloadedImages) return true;
  if (options_.policy == VerificationPolicy::kAlwaysVerify) return false;
  const std::string repository = RepositoryOf(image);
  return std::any_of(
      options_.allowlist.begin(), options_.allowlist.end(), [&](const std::string& entry) {
        if (!entry.ends_with("/*")) return repository == RepositoryOf(entry);
        return repository.starts_with(std::string_view(entry).substr(0, entry.size() - 1));
      });
}

PullRecords::Access PullRecords::AccessTo(const std::string& image, const std::string& ref) {
  if (options_.policy == VerificationPolicy::kNeverVerify) return Access::kAllowed;
  MutexLock lock(mu_);
  Load();
  const auto record = records_.find(ref);
  if (record == records_.end()) {
    const bool preloaded =
        left_intents_.count(FileName(image)) == 0 && damaged_.count(FileName(ref)) == 0;
    return preloaded && IsPreloadedAllowed(image) ? Access::kAllowed : Access::kDenied;
  }
  const auto mapping = record->second.mappings.find(RepositoryOf(image));
  if (mapping == record->second.mappings.end()) return Access::kDenied;
  return mapping->second.accessible_to_all ? Access::kAllowed : Access::kByCredential;
}

bool PullRecords::IsAllowed(const std::string& image, const std::string& ref,
                            const std::vector<ImageCredential>& credentials) {
  MutexLock lock(mu_);
  Load();
  const auto record = records_.find(ref);
  if (record == records_.end()) return false;
  const auto mapping = record->second.mappings.find(RepositoryOf(image));
  if (mapping == record->second.mappings.end()) return false;
  std::vector<KnownSecret>& secrets = mapping->second.secrets;
  for (const ImageCredential& credential : credentials) {
    for (KnownSecret& known : secrets) {
      const bool same_hash = !known.hash.empty() && known.hash == credential.hash;
      const bool same_secret = IsSame(known.secret, credential.secret);
      if (!same_hash && !same_secret) continue;
      if (same_hash && same_secret) return true;
      if (same_secret) {
        known.hash = credential.hash;
      } else if (secrets.size() < kMaxSecrets) {
        secrets.push_back({credential.secret, credential.hash});
      }
      // If it cannot be written, the next start of the kubelet verifies the credential again.
      static_cast<void>(Write(ref, record->second));
      return true;
    }
  }
  return false;
}

Status PullRecords::Prune(const std::function<Result<std::set<std::string>>()>& list) {
  uint64_t before = 0;
  {
    MutexLock lock(mu_);
    before = pulled_;
  }
  COX_ASSIGN_OR_RETURN(const std::set<std::string> refs, list());
  MutexLock lock(mu_);
  Load();
  for (auto at = records_.begin(); at != records_.end();) {
    if (at->second.pulled > before || refs.count(at->first) > 0) {
      ++at;
      continue;
    }
    RemoveFile(options_.directory + "/pulled/" + FileName(at->first));
    at = records_.erase(at);
  }
  return {};
}

}  // namespace cox::kubelet
