// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/certificates/v1.h"
#include "apiserver/registry/kinds/certificates/validation.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {
namespace {

using certificates::v1::CertificateSigningRequest;
using Condition = certificates::v1::CertificateSigningRequestCondition;

// Sets missing times: now, or the transition time of the old condition if the status is the same.
void FillConditionTimes(const WriteContext& w, CertificateSigningRequest& request,
                        const CertificateSigningRequest& old) {
  Time now = w.now.Rfc3339Copy();
  for (Condition& condition : request.status.conditions) {
    if (condition.lastUpdateTime.IsZero()) condition.lastUpdateTime = now;
    if (!condition.lastTransitionTime.IsZero()) continue;
    condition.lastTransitionTime = now;
    for (const Condition& before : old.status.conditions) {
      if (before.type != condition.type || before.status != condition.status) continue;
      if (before.lastTransitionTime.IsZero()) continue;
      condition.lastTransitionTime = before.lastTransitionTime;
      break;
    }
  }
}

// Updates by signers: the certificate and the condition Failed.
class StatusStrategy final : public UpdateStrategyOf<CertificateSigningRequest> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext& w, CertificateSigningRequest& request,
                     const CertificateSigningRequest& old) const override {
    request.spec = old.spec;
    FillConditionTimes(w, request, old);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const CertificateSigningRequest& request,
                             const CertificateSigningRequest& old) const override {
    CsrValidationOptions options = CsrOptionsFor(request, old);
    options.allow_resetting_certificate = false;
    return ValidateCsrUpdate(request, old, options);
  }
};

// Updates by approvers: conditions only.
class ApprovalStrategy final : public UpdateStrategyOf<CertificateSigningRequest> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec", "status.certificate"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext& w, CertificateSigningRequest& request,
                     const CertificateSigningRequest& old) const override {
    request.spec = old.spec;
    request.status.certificate = old.status.certificate;
    FillConditionTimes(w, request, old);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const CertificateSigningRequest& request,
                             const CertificateSigningRequest& old) const override {
    CsrValidationOptions options = CsrOptionsFor(request, old);
    options.allow_setting_approval = true;
    return ValidateCsrUpdate(request, old, options);
  }
};

std::string ConditionText(const CertificateSigningRequest& request) {
  bool approved = false, denied = false, failed = false;
  for (const Condition& condition : request.status.conditions) {
    approved = approved || condition.type == "Approved";
    denied = denied || condition.type == "Denied";
    failed = failed || condition.type == "Failed";
  }
  // Denied takes precedence; both should never be set.
  std::string text = denied ? "Denied" : approved ? "Approved" : "Pending";
  if (failed) text += ",Failed";
  if (!request.status.certificate.empty()) text += ",Issued";
  return text;
}

class CsrStrategy final : public StrategyOf<CertificateSigningRequest> {
 public:
  std::string_view storage_prefix() const override { return "certificatesigningrequests"; }
  const UpdateStrategy* Subresource(std::string_view name) const override {
    if (name == "status") return &status_;
    if (name == "approval") return &approval_;
    return nullptr;
  }
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec", "status"};
    return kReset;
  }
  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"spec.signerName"};
    return kNames;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        kAgeColumn,
        {.name = "SignerName", .type = "string"},
        {.name = "Requestor", .type = "string"},
        {.name = "RequestedDuration", .type = "string"},
        {.name = "Condition", .type = "string"},
    };
    return kColumns;
  }

 protected:
  // Identity fields are set by the server, from the authenticated user.
  void PrepareCreate(const WriteContext& w, CertificateSigningRequest& request) const override {
    request.spec.username = w.user.name;
    request.spec.uid = w.user.uid;
    request.spec.groups = w.user.groups;
    request.spec.extra.clear();
    for (const auto& [key, values] : w.user.extra) request.spec.extra[key] = values;
    request.status = {};
  }
  void PrepareUpdate(const WriteContext&, CertificateSigningRequest& request,
                     const CertificateSigningRequest& old) const override {
    request.spec = old.spec;
    request.status = old.status;
  }
  FieldErrorList Check(const WriteContext&,
                       const CertificateSigningRequest& request) const override {
    return ValidateCsr(request, {});
  }
  FieldErrorList CheckUpdate(const WriteContext&, const CertificateSigningRequest& request,
                             const CertificateSigningRequest& old) const override {
    return ValidateCsrUpdate(request, old, CsrOptionsFor(request, old));
  }

  FieldPairs FieldsOf(const CertificateSigningRequest& request) const override {
    return {{"spec.signerName", request.spec.signerName}};
  }
  Cells RowOf(const CertificateSigningRequest& request, const Time& now) const override {
    std::string duration =
        request.spec.expirationSeconds ? HumanDuration(*request.spec.expirationSeconds) : "<none>";
    return {request.metadata.name,
            Age(request.metadata.creationTimestamp, now),
            request.spec.signerName.empty() ? "<none>" : request.spec.signerName,
            request.spec.username,
            duration,
            ConditionText(request)};
  }

 private:
  StatusStrategy status_;
  ApprovalStrategy approval_;
};

}  // namespace

void AddCertificatesKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(std::make_unique<CsrStrategy>());
}

}  // namespace cox::apiserver
