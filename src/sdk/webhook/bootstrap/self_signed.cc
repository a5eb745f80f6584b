// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/bootstrap/self_signed.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "sdk/webhook/bootstrap/object_watches.h"

namespace cox::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Limit of attempts after conflicts with other replicas.
constexpr int kAttempts = 10;
constexpr Clock::Duration kBackoffMin = milliseconds(200);
constexpr Clock::Duration kBackoffMax = seconds(30);
// Interval of checks in case a watch misses a change.
constexpr Clock::Duration kRetryDelay = std::chrono::minutes(10);
// Minimum time between two checks, in case another program keeps overwriting the configuration.
constexpr Clock::Duration kCheckInterval = milliseconds(250);

// Avoids times that clocks cannot represent.
constexpr int kMaxDays = 36'500;

// A CA that expires before the certificates it signs would be renewed forever.
Status CheckOptions(const SelfSigned& options) {
  if (options.names.empty() || options.secret.name.empty() || options.secret.ns.empty()) {
    return Status::BadRequest("self-signed certificates need names and a Secret");
  }
  if (options.days < 1 || options.ca_days <= options.days || options.ca_days > kMaxDays) {
    return Status::BadRequest(
        "self-signed certificates need days > 0 and ca_days > days, at most " +
        std::to_string(kMaxDays));
  }
  return {};
}

}  // namespace

Result<CertificateSet> GetOrCreateCertificates(Context& ctx, Client& client,
                                               const SelfSigned& options) {
  Status last;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<core::v1::Secret> secret = client.Get<core::v1::Secret>(ctx, options.secret);
    const bool absent = secret.status().Is(Reason::kNotFound);
    if (!secret.ok() && !absent) return secret.status();
    CertificateSet there = absent ? CertificateSet() : FromSecret(*secret);
    const Clock::WallTime now = ctx.clock().Now();
    const Renewal renewal = NeededRenewal(there, options, now);
    if (renewal == Renewal::kNothing) return there;
    COX_ASSIGN_OR_RETURN(CertificateSet made, Renewed(there, options, renewal, now));
    core::v1::Secret next = absent ? core::v1::Secret() : *std::move(secret);
    next.metadata.name = options.secret.name;
    next.metadata.namespace_ = options.secret.ns;
    ToSecret(made, next);
    // Both fail if another replica was faster: the update by its resourceVersion.
    last = absent ? client.Create(ctx, std::move(next)).status()
                  : client.Update(ctx, std::move(next)).status();
    if (last.ok()) {
      COX_INFO(ctx.log(), "Created certificates", {"secret", options.secret.ToString()},
               {"ca", renewal == Renewal::kAll});
      return made;
    }
    if (!last.Is(Reason::kAlreadyExists) && !last.Is(Reason::kConflict)) return last;
  }
  return last;
}

SelfSignedCertificates::SelfSignedCertificates(Client& client, SelfSigned options,
                                               CaTargets targets, Install install,
                                               std::function<void()> injected)
    : client_(client),
      options_(std::move(options)),
      targets_(std::move(targets)),
      install_(std::move(install)),
      injected_(std::move(injected)) {}

Status SelfSignedCertificates::Start(Context& ctx) {
  COX_RETURN_IF_ERROR(CheckOptions(options_));
  for (Clock::Duration pause = kBackoffMin;; pause = std::min(2 * pause, kBackoffMax)) {
    Result<CertificateSet> certificates = GetOrCreateCertificates(ctx, client_, options_);
    if (certificates.ok()) {
      certificates_ = *std::move(certificates);
      return install_(certificates_.serving);
    }
    COX_ERROR(ctx.log(), certificates.status(), "Could not read or create certificates",
              {"secret", options_.secret.ToString()});
    COX_RETURN_IF_ERROR(ctx.Sleep(pause));
  }
}

Status SelfSignedCertificates::Check(Context& ctx) {
  COX_ASSIGN_OR_RETURN(CertificateSet certificates,
                       GetOrCreateCertificates(ctx, client_, options_));
  COX_RETURN_IF_ERROR(InjectCa(ctx, client_, targets_, certificates.ca_bundle));
  injected_();
  if (certificates == certificates_) return {};
  COX_RETURN_IF_ERROR(install_(certificates.serving));
  COX_INFO(ctx.log(), "Installed renewed certificate", {"secret", options_.secret.ToString()});
  certificates_ = std::move(certificates);
  return {};
}

Clock::Duration SelfSignedCertificates::UntilNextCheck(const Clock& clock) const {
  const Clock::Duration due = RenewalDue(certificates_, options_) - clock.Now();
  return std::clamp<Clock::Duration>(due, seconds(1), kRetryDelay);
}

void SelfSignedCertificates::Follow(Context& ctx) {
  std::vector<std::pair<Resource, ObjectKey>> objects = targets_.Objects();
  objects.emplace_back(Resource::Of<core::v1::Secret>(), options_.secret);
  const ObjectWatches watches(ctx, client_, std::move(objects), [this] { notification_.Notify(); });
  Clock::Duration pause = kBackoffMin;
  while (!ctx.Done()) {
    const Status checked = Check(ctx);
    if (checked.ok()) {
      pause = kBackoffMin;
      notification_.Await(ctx, UntilNextCheck(ctx.clock()));
      (void)ctx.Sleep(kCheckInterval);
    } else if (!ctx.Done()) {
      COX_ERROR(ctx.log(), checked, "Could not maintain certificates and webhook configurations");
      (void)ctx.Sleep(pause);
      pause = std::min(2 * pause, kBackoffMax);
    }
  }
}

}  // namespace cox::sdk
