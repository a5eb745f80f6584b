// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/label_selector_validation.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::VolumeProjection;

// Token lifetimes in seconds: kubelets refresh tokens at 80 percent; shorter lifetimes cause load.
constexpr int64_t kMinTokenSeconds = 10 * 60;
constexpr int64_t kMaxTokenSeconds = int64_t{1} << 32;
constexpr int32_t kMinCertificateSeconds = 60 * 60;
constexpr int32_t kMaxCertificateSeconds = 91 * 24 * 60 * 60;

// Validates one projected volume: its sources share a directory, so no two may write the same file.
class ProjectionChecker {
 public:
  ProjectionChecker(const FieldPath& path, const PodValidationOptions& options)
      : path_(path), options_(options) {}

  void Check(const VolumeProjection& source, const FieldPath& at) {
    sources_ = 0;
    if (First(source.secret.has_value(), at.Child("secret")))
      Keyed(source.secret->localObjectReference.name, source.secret->items, at.Child("secret"));
    if (First(source.configMap.has_value(), at.Child("configMap"))) {
      Keyed(source.configMap->localObjectReference.name, source.configMap->items,
            at.Child("configMap"));
    }
    if (First(source.downwardAPI.has_value(), at.Child("downwardAPI"))) {
      for (const core::v1::DownwardAPIVolumeFile& file : source.downwardAPI->items) {
        Append(errors_, CheckDownwardFile(file, at.Child("downwardAPI")));
        Claim(file.path, file.path);
      }
    }
    if (First(source.serviceAccountToken.has_value(), at.Child("serviceAccountToken")))
      Token(*source.serviceAccountToken, at.Child("serviceAccountToken"));
    if (First(source.clusterTrustBundle.has_value(), at.Child("clusterTrustBundle")))
      TrustBundle(*source.clusterTrustBundle, at.Child("clusterTrustBundle"));
    if (First(source.podCertificate.has_value(), at.Child("podCertificate")))
      Certificate(*source.podCertificate, at.Child("podCertificate"));
  }

  FieldErrorList Take() { return std::move(errors_); }

 private:
  // Whether a source is set and is the first one of its item.
  bool First(bool set, const FieldPath& at) {
    if (!set) return false;
    if (sources_++ == 0) return true;
    errors_.push_back(FieldError::Forbidden(at, "may not specify more than 1 volume type"));
    return false;
  }

  // Records that `owner` writes `file`.
  void Claim(std::string_view file, std::string_view owner) {
    if (file.empty()) return;
    if (!files_.insert(std::string(file)).second)
      errors_.push_back(FieldError::Invalid(path_, owner, "conflicting duplicate paths"));
  }

  void Keyed(const std::string& name, const List<core::v1::KeyToPath>& items, const FieldPath& at) {
    CheckRequired(errors_, name, at.Child("name"));
    for (size_t i = 0; i < items.size(); ++i) {
      Append(errors_, CheckKeyToPath(items[i], at.Child("items").Index(i)));
      Claim(items[i].path, name);
    }
  }

  void Token(const core::v1::ServiceAccountTokenProjection& token, const FieldPath& at) {
    if (token.expirationSeconds && *token.expirationSeconds < kMinTokenSeconds) {
      errors_.push_back(FieldError::Invalid(at.Child("expirationSeconds"), *token.expirationSeconds,
                                            "may not specify a duration less than 10 minutes"));
    } else if (token.expirationSeconds && *token.expirationSeconds > kMaxTokenSeconds) {
      errors_.push_back(FieldError::Invalid(at.Child("expirationSeconds"), *token.expirationSeconds,
                                            "may not specify a duration larger than 2^32 seconds"));
    }
    if (token.path.empty()) {
      errors_.push_back(FieldError::Required(path_.Child("path")));
    } else if (!options_.allow_non_local_projected_token_path) {
      Append(errors_, CheckLocalNonReservedPath(token.path, path_.Child("path")));
    }
  }

  void TrustBundle(const core::v1::ClusterTrustBundleProjection& bundle, const FieldPath& at) {
    const bool by_signer = bundle.signerName.has_value();
    if (bundle.name && by_signer) {
      errors_.push_back(FieldError::Invalid(at, FieldValue::Omit(),
                                            "only one of name and signerName may be used"));
    } else if (!bundle.name && !by_signer) {
      errors_.push_back(FieldError::Required(at, "either name or signerName must be specified"));
    }
    if (bundle.name && bundle.name->empty())
      errors_.push_back(FieldError::Required(at.Child("name"), "must be a valid object name"));
    if (by_signer && bundle.signerName->empty())
      errors_.push_back(
          FieldError::Required(at.Child("signerName"), "must be a valid signer name"));
    if (bundle.labelSelector && !by_signer) {
      errors_.push_back(FieldError::Invalid(at.Child("labelSelector"), FieldValue::Omit(),
                                            "may only be specified along with signerName"));
    }
    Append(errors_, ValidateLabelSelector(bundle.labelSelector.get(), at.Child("labelSelector")));
    File(bundle.path, at.Child("path"));
  }

  void Certificate(const core::v1::PodCertificateProjection& certificate, const FieldPath& at) {
    Append(errors_,
           validation::IsDomainPrefixedPath(at.Child("signerName"), certificate.signerName));
    static constexpr std::string_view kKeyTypes[] = {"ECDSAP256", "ECDSAP384", "ECDSAP521",
                                                     "ED25519",   "RSA3072",   "RSA4096"};
    bool known = false;
    for (std::string_view type : kKeyTypes) known |= certificate.keyType == type;
    if (!known) {
      errors_.push_back(
          FieldError::NotSupported(at.Child("keyType"), certificate.keyType, kKeyTypes));
    }
    if (certificate.maxExpirationSeconds &&
        (*certificate.maxExpirationSeconds < kMinCertificateSeconds ||
         *certificate.maxExpirationSeconds > kMaxCertificateSeconds)) {
      errors_.push_back(FieldError::Invalid(
          at.Child("maxExpirationSeconds"), *certificate.maxExpirationSeconds,
          "must be between " + std::to_string(kMinCertificateSeconds) + " and " +
              std::to_string(kMaxCertificateSeconds) + ", inclusive"));
    }
    const bool bundle = !certificate.credentialBundlePath.empty();
    const bool parts = !certificate.keyPath.empty() || !certificate.certificateChainPath.empty();
    if (!bundle && !parts) {
      errors_.push_back(FieldError::Required(
          at, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"));
    }
    if (bundle) File(certificate.credentialBundlePath, at.Child("credentialBundlePath"));
    if (!certificate.keyPath.empty()) File(certificate.keyPath, at.Child("keyPath"));
    if (!certificate.certificateChainPath.empty())
      File(certificate.certificateChainPath, at.Child("certificateChainPath"));
  }

  void File(const std::string& file, const FieldPath& at) {
    CheckRequired(errors_, file, at);
    Append(errors_, CheckLocalNonReservedPath(file, at));
    Claim(file, file);
  }

  const FieldPath& path_;
  const PodValidationOptions& options_;
  int sources_ = 0;
  std::set<std::string> files_;
  FieldErrorList errors_;
};

}  // namespace

FieldErrorList CheckProjected(const core::v1::ProjectedVolumeSource& source, const FieldPath& path,
                              const PodValidationOptions& options) {
  FieldErrorList errors = CheckFileMode(source.defaultMode, path.Child("defaultMode"));
  ProjectionChecker checker(path, options);
  for (size_t i = 0; i < source.sources.size(); ++i)
    checker.Check(source.sources[i], path.Child("sources").Index(i));
  Append(errors, checker.Take());
  return errors;
}

}  // namespace cox::apiserver::pod
