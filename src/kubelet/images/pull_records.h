// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kubelet/images/credentials.h"
#include "kubelet/options/options.h"
#include "object/type/value.h"

namespace cox::kubelet {

// Checks the entries of preloadedImagesVerificationAllowlist: an image without tag and digest, or a
// prefix that ends with "/*".
Status CheckAllowlist(const std::vector<std::string>& allowlist);

// Remembers with which credentials each image was pulled, so that a Pod without them cannot use a
// private image that another Pod has pulled.
//
// The records are files below `directory`, with upstream's names and format: an intent for each
// pull in progress, and a record for each image that was pulled. An image without either was on the
// node before (it is preloaded). An intent that is left after a crash, or a damaged record, denies
// all Pods the use of its image until it is pulled again. The files are read once.
//
// Threads: all methods may be called concurrently.
class PullRecords {
 public:
  struct Options {
    std::string directory;  // "/var/lib/kubelet/image_manager"
    VerificationPolicy policy = VerificationPolicy::kNeverVerifyPreloadedImages;
    std::vector<std::string> allowlist;
  };
  explicit PullRecords(Options options) : options_(std::move(options)) {}

  // To be called before a pull of `image`. If it fails, the image must not be pulled. If it
  // succeeds, one of the next three must follow.
  Status Begin(const std::string& image);
  // `ref` is the runtime's id of the image; `credential` is null if none was needed.
  Status Succeeded(const std::string& image, const std::string& ref,
                   const ImageCredential* credential);
  // The image was certainly not pulled.
  void Failed(const std::string& image);
  // It is not known whether the image was pulled: no Pod may use it before another pull succeeds.
  void Abandoned(const std::string& image);

  enum class Access : uint8_t { kAllowed, kDenied, kByCredential };
  // Whether a Pod may use the image; kByCredential: it depends on the Pod's credentials.
  Access AccessTo(const std::string& image, const std::string& ref);
  // Whether a Pod with these credentials may use it. A credential that is new for the image, but
  // equal to a known one, or a new version of a known Secret, is recorded.
  bool IsAllowed(const std::string& image, const std::string& ref,
                 const std::vector<ImageCredential>& credentials);

  // Removes the records of images that are no longer on the node. `list` returns all that are; it
  // is called without a lock, and images that are pulled meanwhile keep their records.
  Status Prune(const std::function<Result<std::set<std::string>>()>& list);

 private:
  struct KnownSecret {
    SecretReference secret;
    std::string hash;
  };
  // How an image was pulled from one repository.
  struct Mapping {
    bool accessible_to_all = false;  // without credentials
    std::vector<KnownSecret> secrets;
  };
  struct Record {
    std::map<std::string, Mapping> mappings;  // by repository
    uint64_t pulled = 0;                      // the value of pulled_ at the last pull
  };

  void Load() COX_REQUIRES(mu_);
  void EndPull(const std::string& image) COX_REQUIRES(mu_);
  bool AddRecord(const Value& value) COX_REQUIRES(mu_);
  bool IsPreloadedAllowed(const std::string& image) const;
  Status Write(const std::string& ref, const Record& record) const;

  const Options options_;
  Mutex mu_;
  bool loaded_ COX_GUARDED_BY(mu_) = false;
  uint64_t pulled_ COX_GUARDED_BY(mu_) = 0;                    // the number of pulls
  std::map<std::string, Record> records_ COX_GUARDED_BY(mu_);  // by ref
  std::map<std::string, int> pulls_ COX_GUARDED_BY(mu_);       // in progress, by image
  std::set<std::string> left_intents_ COX_GUARDED_BY(mu_);     // of crashed pulls: file names
  std::set<std::string> damaged_ COX_GUARDED_BY(mu_);          // records: file names
};

}  // namespace cox::kubelet
