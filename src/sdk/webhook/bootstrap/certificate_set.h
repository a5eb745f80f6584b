// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "base/clock.h"
#include "coxswain/webhook.h"
#include "net/tls.h"

// Self-signed certificates as stored in the Secret. Pure functions of their content and the time.
namespace cox::sdk {

// Security: keys must not be logged.
struct CertificateSet {
  std::string ca_bundle;  // PEM: the signing CA, then earlier ones that are still valid
  std::string ca_key;
  net::CertificatePair serving;

  bool operator==(const CertificateSet& other) const {
    return ca_bundle == other.ca_bundle && ca_key == other.ca_key &&
           serving.certificate_pem == other.serving.certificate_pem &&
           serving.key_pem == other.serving.key_pem;
  }
};

CertificateSet FromSecret(const core::v1::Secret& secret);
// Sets the entries of a kubernetes.io/tls Secret and the CA; other entries are not changed.
void ToSecret(const CertificateSet& certificates, core::v1::Secret& secret);

// The renewal that is due at `now`. kServing: a third or less of the serving certificate's validity
// is left, it is not for these names, or it does not parse. kAll: the same for the CA, or the CA
// would expire before a certificate signed now.
enum class Renewal : uint8_t { kNothing, kServing, kAll };
Renewal NeededRenewal(const CertificateSet& certificates, const SelfSigned& options,
                      Clock::WallTime now);
// When the next renewal is due. REQUIRES: NeededRenewal is kNothing now.
Clock::WallTime RenewalDue(const CertificateSet& certificates, const SelfSigned& options);

// Performs the renewal at `now`. With a new CA, earlier CAs that are still valid stay in the
// bundle, so that certificates of both are trusted during the transition.
Result<CertificateSet> Renewed(const CertificateSet& certificates, const SelfSigned& options,
                               Renewal renewal, Clock::WallTime now);

}  // namespace cox::sdk
