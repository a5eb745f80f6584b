// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/serving_certificate.h"

#include <utility>

namespace cox::sdk {

Status ServingCertificate::Install(const net::CertificatePair& pair) {
  COX_ASSIGN_OR_RETURN(net::CertificateInfo info, net::ReadCertificate(pair.certificate_pem));
  MutexLock lock(mu_);
  if (tls_ == nullptr) {
    COX_ASSIGN_OR_RETURN(tls_, net::ServerTls::Create({.certificate = pair}));
  } else {
    COX_RETURN_IF_ERROR(tls_->Replace(pair, {}));
  }
  info_ = std::move(info);
  return {};
}

std::shared_ptr<const net::ServerTls> ServingCertificate::tls() const {
  MutexLock lock(mu_);
  return tls_;
}

Status ServingCertificate::Check(Clock::WallTime now) const {
  MutexLock lock(mu_);
  if (tls_ == nullptr) return Status::Unavailable("there is no serving certificate yet");
  if (now > info_.not_after) return Status::Unavailable("the serving certificate has expired");
  if (now < info_.not_before)
    return Status::Unavailable("the serving certificate is not valid yet");
  return {};
}

}  // namespace cox::sdk
