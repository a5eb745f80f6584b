// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/bootstrap/certificate_set.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "net/certificate.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kCertificate = "tls.crt";
constexpr std::string_view kKey = "tls.key";
constexpr std::string_view kCa = "ca.crt";
constexpr std::string_view kCaKey = "ca.key";
// Maximum number of CAs in a bundle. More than two indicate renewals that are too frequent.
constexpr size_t kMaxCas = 3;

std::string EntryOf(const core::v1::Secret& secret, std::string_view key) {
  const std::string* entry = secret.data.Get(key);
  return entry == nullptr ? std::string() : *entry;
}

// The canonical form of an IP address: "::1" for "0:0::1" and for the URL form "[::1]". No value
// for DNS names.
std::optional<std::string> AddressOf(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const std::string text(name);
  for (const int family : {AF_INET, AF_INET6}) {
    unsigned char bytes[sizeof(in6_addr)];
    char shown[INET6_ADDRSTRLEN];
    if (inet_pton(family, text.c_str(), bytes) == 1 &&
        inet_ntop(family, bytes, shown, sizeof(shown)) != nullptr) {
      return shown;
    }
  }
  return std::nullopt;
}

bool Covers(const net::CertificateInfo& info, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&info](const std::string& name) {
    const std::optional<std::string> address = AddressOf(name);
    const auto& among = address ? info.ip_addresses : info.dns_names;
    return std::find(among.begin(), among.end(), address.value_or(name)) != among.end();
  });
}

// When a third of the validity is left.
Clock::WallTime DueTime(const net::CertificateInfo& info) {
  return info.not_after - (info.not_after - info.not_before) / 3;
}

Clock::WallTime CaDueTime(const net::CertificateInfo& info, const SelfSigned& options) {
  return std::min(DueTime(info), info.not_after - std::chrono::hours(24) * options.days);
}

// True if the key belongs to the certificate.
bool Fits(const net::CertificatePair& pair) {
  return net::ServerTls::Create({.certificate = pair}).ok();
}

// The bundle without expired certificates.
std::string ValidCas(const std::string& bundle, Clock::WallTime now, size_t limit) {
  const auto split = net::SplitCertificates(bundle);
  std::string out;
  if (!split.ok()) return out;
  for (const std::string& pem : *split) {
    const auto info = net::ReadCertificate(pem);
    if (!info.ok() || !info->ValidAt(now)) continue;
    if (limit-- == 0) break;
    out += pem;
  }
  return out;
}

// The signing CA is the first in the bundle.
net::CertificatePair SigningCa(const CertificateSet& certificates) {
  const auto split = net::SplitCertificates(certificates.ca_bundle);
  return {split.ok() ? split->front() : std::string(), certificates.ca_key};
}

Result<net::CertificatePair> MakeServing(const SelfSigned& options, const net::CertificatePair& ca,
                                         Clock::WallTime now) {
  net::CertificateRequest request;
  // Clients check only the alternative names; a common name is limited to 64 characters.
  request.common_name = "webhook";
  request.days = options.days;
  for (const std::string& name : options.names) {
    const std::optional<std::string> address = AddressOf(name);
    (address ? request.ip_addresses : request.dns_names).push_back(address.value_or(name));
  }
  return net::MakeCertificateAt(request, &ca, now);
}

}  // namespace

CertificateSet FromSecret(const core::v1::Secret& secret) {
  return {.ca_bundle = EntryOf(secret, kCa),
          .ca_key = EntryOf(secret, kCaKey),
          .serving = {EntryOf(secret, kCertificate), EntryOf(secret, kKey)}};
}

void ToSecret(const CertificateSet& certificates, core::v1::Secret& secret) {
  // The type of a Secret is immutable.
  if (secret.metadata.uid.empty()) secret.type = "kubernetes.io/tls";
  secret.data[kCa] = certificates.ca_bundle;
  secret.data[kCaKey] = certificates.ca_key;
  secret.data[kCertificate] = certificates.serving.certificate_pem;
  secret.data[kKey] = certificates.serving.key_pem;
}

Renewal NeededRenewal(const CertificateSet& certificates, const SelfSigned& options,
                      Clock::WallTime now) {
  const auto ca = net::ReadCertificate(certificates.ca_bundle);
  if (!ca.ok() || !ca->is_ca || !ca->ValidAt(now) || now >= CaDueTime(*ca, options) ||
      !Fits(SigningCa(certificates))) {
    return Renewal::kAll;
  }
  const auto serving = net::ReadCertificate(certificates.serving.certificate_pem);
  if (!serving.ok() || !serving->ValidAt(now) || now >= DueTime(*serving) ||
      !Covers(*serving, options.names) || !Fits(certificates.serving)) {
    return Renewal::kServing;
  }
  return Renewal::kNothing;
}

Clock::WallTime RenewalDue(const CertificateSet& certificates, const SelfSigned& options) {
  const auto ca = net::ReadCertificate(certificates.ca_bundle);
  const auto serving = net::ReadCertificate(certificates.serving.certificate_pem);
  if (!ca.ok() || !serving.ok()) return {};
  return std::min(CaDueTime(*ca, options), DueTime(*serving));
}

Result<CertificateSet> Renewed(const CertificateSet& certificates, const SelfSigned& options,
                               Renewal renewal, Clock::WallTime now) {
  CertificateSet out = certificates;
  if (renewal == Renewal::kNothing) return out;
  net::CertificatePair ca = SigningCa(certificates);
  if (renewal == Renewal::kAll) {
    const net::CertificateRequest request{.common_name = options.secret.name.substr(0, 60) + "-ca",
                                          .days = options.ca_days,
                                          .is_ca = true};
    COX_ASSIGN_OR_RETURN(ca, net::MakeCertificateAt(request, nullptr, now));
    out.ca_bundle = ca.certificate_pem + ValidCas(certificates.ca_bundle, now, kMaxCas - 1);
    out.ca_key = ca.key_pem;
  }
  COX_ASSIGN_OR_RETURN(out.serving, MakeServing(options, ca, now));
  return out;
}

}  // namespace cox::sdk
