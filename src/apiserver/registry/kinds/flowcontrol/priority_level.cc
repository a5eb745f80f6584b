// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "apiserver/registry/kinds/flowcontrol/strategy.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::LimitedPriorityLevelConfiguration;
using flowcontrol::v1::LimitResponse;
using flowcontrol::v1::PriorityLevelConfiguration;
using flowcontrol::v1::PriorityLevelConfigurationSpec;
using flowcontrol::v1::QueuingConfiguration;

constexpr std::string_view kExempt = "Exempt", kLimited = "Limited";
constexpr std::string_view kQueue = "Queue", kReject = "Reject";
constexpr int32_t kDefaultShares = 30, kDefaultQueues = 64, kDefaultHandSize = 8,
                  kDefaultQueueLength = 50;
constexpr int32_t kMaxQueues = 10'000'000;
// The bits of the shuffle-sharding hash, which assigns queues to a flow.
constexpr int kMaxEntropyBits = 60;

void CheckShares(FieldErrorList& errors, const std::optional<int32_t>& shares,
                 const std::optional<int32_t>& lendable, const FieldPath& path) {
  if (shares.value_or(0) < 0) {
    errors.push_back(FieldError::Invalid(path.Child("nominalConcurrencyShares"), *shares,
                                         "must be a non-negative integer"));
  }
  if (lendable && (*lendable < 0 || *lendable > 100)) {
    errors.push_back(FieldError::Invalid(path.Child("lendablePercent"), *lendable,
                                         "must be between 0 and 100, inclusive"));
  }
}

void CheckQueuing(FieldErrorList& errors, const QueuingConfiguration& queuing,
                  const FieldPath& path) {
  if (queuing.queueLengthLimit <= 0) {
    errors.push_back(FieldError::Invalid(path.Child("queueLengthLimit"), queuing.queueLengthLimit,
                                         "must be positive"));
  }
  FieldPath queues = path.Child("queues"), hand = path.Child("handSize");
  if (queuing.queues <= 0) {
    errors.push_back(FieldError::Invalid(queues, queuing.queues, "must be positive"));
  } else if (queuing.queues > kMaxQueues) {
    errors.push_back(FieldError::Invalid(queues, queuing.queues,
                                         "must not be greater than " + std::to_string(kMaxQueues)));
  }
  if (queuing.handSize <= 0) {
    errors.push_back(FieldError::Invalid(hand, queuing.handSize, "must be positive"));
  } else if (queuing.handSize > queuing.queues) {
    errors.push_back(FieldError::Invalid(
        hand, queuing.handSize,
        "should not be greater than queues (" + std::to_string(queuing.queues) + ")"));
  } else if (double bits = std::ceil(std::log2(queuing.queues) * queuing.handSize);
             bits > kMaxEntropyBits) {
    errors.push_back(
        FieldError::Invalid(hand, queuing.handSize,
                            "required entropy bits of deckSize " + std::to_string(queuing.queues) +
                                " and handSize " + std::to_string(queuing.handSize) +
                                " should not be greater than " + std::to_string(kMaxEntropyBits)));
  }
}

void CheckLimitResponse(FieldErrorList& errors, const LimitResponse& response,
                        const FieldPath& path) {
  FieldPath queuing = path.Child("queuing");
  if (response.type == kReject) {
    if (response.queuing) {
      errors.push_back(FieldError::Forbidden(
          queuing, "must be nil if limited.limitResponse.type is not Limited"));
    }
  } else if (response.type == kQueue) {
    if (response.queuing) {
      CheckQueuing(errors, *response.queuing, queuing);
    } else {
      errors.push_back(FieldError::Required(
          queuing, "must not be empty if limited.limitResponse.type is Limited"));
    }
  } else {
    errors.push_back(
        FieldError::NotSupported(path.Child("type"), response.type, {kQueue, kReject}));
  }
}

void CheckLimited(FieldErrorList& errors, const LimitedPriorityLevelConfiguration& limited,
                  const FieldPath& path) {
  CheckShares(errors, limited.nominalConcurrencyShares, std::nullopt, path);
  CheckLimitResponse(errors, limited.limitResponse, path.Child("limitResponse"));
  CheckShares(errors, std::nullopt, limited.lendablePercent, path);
  if (limited.borrowingLimitPercent.value_or(0) < 0) {
    errors.push_back(FieldError::Invalid(path.Child("borrowingLimitPercent"),
                                         *limited.borrowingLimitPercent,
                                         "if specified, must be a non-negative integer"));
  }
}

FieldErrorList CheckSpec(const PriorityLevelConfigurationSpec& spec, std::string_view name) {
  FieldErrorList errors;
  FieldPath path("spec");
  if ((name == "exempt") != (spec.type == kExempt)) {
    errors.push_back(FieldError::Invalid(path.Child("type"), spec.type,
                                         "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (spec.type == kExempt) {
    if (spec.limited) {
      errors.push_back(
          FieldError::Forbidden(path.Child("limited"), "must be nil if the type is not Limited"));
    }
    if (spec.exempt) {
      CheckShares(errors, spec.exempt->nominalConcurrencyShares, spec.exempt->lendablePercent,
                  path.Child("exempt"));
    }
  } else if (spec.type == kLimited) {
    if (spec.exempt) {
      errors.push_back(
          FieldError::Forbidden(path.Child("exempt"), "must be nil if the type is Limited"));
    }
    if (spec.limited) {
      CheckLimited(errors, *spec.limited, path.Child("limited"));
    } else {
      errors.push_back(
          FieldError::Required(path.Child("limited"), "must not be empty when type is Limited"));
    }
  } else {
    errors.push_back(FieldError::NotSupported(path.Child("type"), spec.type, {kExempt, kLimited}));
  }
  return errors;
}

// The spec of the mandatory level "catch-all", which is the same on every server.
const PriorityLevelConfigurationSpec& CatchAllSpec() {
  static const PriorityLevelConfigurationSpec kSpec = {
      .type = std::string(kLimited),
      .limited = LimitedPriorityLevelConfiguration{.nominalConcurrencyShares = 5,
                                                   .limitResponse = {.type = std::string(kReject)},
                                                   .lendablePercent = 0},
  };
  return kSpec;
}

class StatusStrategy final : public FlowStatusStrategy<PriorityLevelConfiguration> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const PriorityLevelConfiguration& level,
                             const PriorityLevelConfiguration&) const override {
    return ValidateFlowConditions(level.status.conditions);
  }
};

void DefaultQueuing(QueuingConfiguration& queuing) {
  if (queuing.handSize == 0) queuing.handSize = kDefaultHandSize;
  if (queuing.queues == 0) queuing.queues = kDefaultQueues;
  if (queuing.queueLengthLimit == 0) queuing.queueLengthLimit = kDefaultQueueLength;
}

class PriorityLevelStrategy final
    : public SpecAndStatusStrategy<PriorityLevelConfiguration, StatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "prioritylevelconfigurations"; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Type", .type = "string"},
        {.name = "NominalConcurrencyShares", .type = "string"},
        {.name = "Queues", .type = "string"},
        {.name = "HandSize", .type = "string"},
        {.name = "QueueLengthLimit", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(PriorityLevelConfiguration& level) const override {
    if (level.spec.limited) {
      LimitedPriorityLevelConfiguration& limited = *level.spec.limited;
      if (!limited.nominalConcurrencyShares) limited.nominalConcurrencyShares = kDefaultShares;
      if (!limited.lendablePercent) limited.lendablePercent = 0;
      if (limited.limitResponse.queuing) DefaultQueuing(*limited.limitResponse.queuing);
    }
    if (level.spec.exempt) {
      auto& exempt = *level.spec.exempt;
      if (!exempt.nominalConcurrencyShares) exempt.nominalConcurrencyShares = 0;
      if (!exempt.lendablePercent) exempt.lendablePercent = 0;
    }
  }
  FieldErrorList Check(const WriteContext&,
                       const PriorityLevelConfiguration& level) const override {
    FieldErrorList errors = CheckSpec(level.spec, level.metadata.name);
    if (level.metadata.name == "catch-all" && !DeepEqual(level.spec, CatchAllSpec())) {
      errors.push_back(FieldError::Invalid(FieldPath("spec"), InternalValue(level.spec),
                                           "spec of 'catch-all' must equal the fixed value"));
    }
    Append(errors, ValidateFlowConditions(level.status.conditions));
    return errors;
  }
  Cells RowOf(const PriorityLevelConfiguration& level, const Time& now) const override {
    Value shares("<none>"), queues("<none>"), hand("<none>"), length("<none>");
    if (level.spec.limited) {
      shares =
          Value(static_cast<int64_t>(level.spec.limited->nominalConcurrencyShares.value_or(0)));
      if (const auto& queuing = level.spec.limited->limitResponse.queuing) {
        queues = Value(static_cast<int64_t>(queuing->queues));
        hand = Value(static_cast<int64_t>(queuing->handSize));
        length = Value(static_cast<int64_t>(queuing->queueLengthLimit));
      }
    }
    return {level.metadata.name,
            level.spec.type,
            shares,
            queues,
            hand,
            length,
            Age(level.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewPriorityLevelConfigurationStrategy() {
  return std::make_unique<PriorityLevelStrategy>();
}

}  // namespace cox::apiserver
