// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "base/clock.h"
#include "coxswain/webhook.h"
#include "net/tls.h"

// Self-signed certificates as the Secret holds them. Pure functions of them and the time.
namespace cox::sdk {

// Keys must not be logged.
struct Material {
  std::string ca_bundle;  // PEM: the CA that signs, then those before it that are still valid
  std::string ca_key;
  net::CertificatePair serving;

  bool operator==(const Material& other) const {
    return ca_bundle == other.ca_bundle && ca_key == other.ca_key &&
           serving.certificate_pem == other.serving.certificate_pem &&
           serving.key_pem == other.serving.key_pem;
  }
};

Material FromSecret(const core::v1::Secret& secret);
// Sets what a Secret of type kubernetes.io/tls has, and the CA; leaves other entries alone.
void ToSecret(const Material& material, core::v1::Secret& secret);

// What has to be made anew at `now`. kServing: it expires (a third of its time is left), is not for
// these names, or does not parse. kAll: the same of the CA, or the CA would end before a
// certificate that it signed now.
enum class Renewal : uint8_t { kNothing, kServing, kAll };
Renewal NeededRenewal(const Material& material, const SelfSigned& options, Clock::WallTime now);
// When NeededRenewal will next be more than kNothing. REQUIRES: it is kNothing now.
Clock::WallTime RenewalDue(const Material& material, const SelfSigned& options);

// Renewed at `now`. With a new CA, those that are still valid stay in the bundle, so that
// certificates of both are believed while all learn of it.
Result<Material> Renewed(const Material& material, const SelfSigned& options, Renewal renewal,
                         Clock::WallTime now);

}  // namespace cox::sdk
