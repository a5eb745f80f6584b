// SPDX-License-Identifier: Apache-2.0
#include "api/coordination/v1.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {
namespace {

using coordination::v1::Lease;

// Coordinated leader election is not served by default: its fields are kept only if already stored.
void DropCoordinatedElection(Lease& lease, const Lease* old) {
  if (old == nullptr || !old->spec.strategy) lease.spec.strategy.reset();
  if (old == nullptr || !old->spec.preferredHolder) lease.spec.preferredHolder.reset();
}

class LeaseStrategy final : public StrategyOf<Lease> {
 public:
  std::string_view storage_prefix() const override { return "leases"; }
  bool AllowCreateOnUpdate() const override { return true; }
  // Unconditional updates would let two holders overwrite each other.
  bool AllowUnconditionalUpdate() const override { return false; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn, {.name = "Holder", .type = "string"}, kAgeColumn};
    return kColumns;
  }

 protected:
  void PrepareCreate(const WriteContext&, Lease& lease) const override {
    DropCoordinatedElection(lease, nullptr);
  }
  void PrepareUpdate(const WriteContext&, Lease& lease, const Lease& old) const override {
    DropCoordinatedElection(lease, &old);
  }
  FieldErrorList Check(const WriteContext&, const Lease& lease) const override {
    FieldErrorList errors;
    FieldPath path("spec");
    if (lease.spec.leaseDurationSeconds.value_or(1) <= 0) {
      errors.push_back(FieldError::Invalid(path.Child("leaseDurationSeconds"),
                                           *lease.spec.leaseDurationSeconds,
                                           "must be greater than 0"));
    }
    if (lease.spec.leaseTransitions.value_or(0) < 0) {
      errors.push_back(FieldError::Invalid(path.Child("leaseTransitions"),
                                           *lease.spec.leaseTransitions,
                                           "must be greater than or equal to 0"));
    }
    return errors;
  }
  Cells RowOf(const Lease& lease, const Time& now) const override {
    return {lease.metadata.name, lease.spec.holderIdentity.value_or(""),
            Age(lease.metadata.creationTimestamp, now)};
  }
};

}  // namespace

void AddCoordinationKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(std::make_unique<LeaseStrategy>());
}

}  // namespace cox::apiserver
