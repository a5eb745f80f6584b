// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "object/type/map.h"
#include "object/validation/field_error.h"

// Which Pod Security Standard a namespace asks for, in which of three modes: violations of
// `enforce` are refused, those of `audit` are noted in the audit log, those of `warn` are told to
// the client. Namespaces ask by labels: pod-security.kubernetes.io/enforce=baseline,
// pod-security.kubernetes.io/enforce-version=v1.30.
namespace cox::apiserver::pod_security {

// From the most permissive to the strictest; they compare.
enum class Level : uint8_t { kPrivileged, kBaseline, kRestricted };

std::string_view LevelName(Level level);

// The release of Kubernetes whose form of the standards counts: "v1.22" or "latest".
struct Version {
  static constexpr int kLatestMinor = 1 << 30;
  int minor = kLatestMinor;

  bool operator==(const Version&) const = default;
  std::string ToString() const;
};

struct LevelVersion {
  Level level = Level::kPrivileged;
  Version version;

  bool operator==(const LevelVersion&) const = default;
  std::string ToString() const;  // "restricted:latest"
};

struct Policy {
  LevelVersion enforce;
  LevelVersion audit;
  LevelVersion warn;

  bool operator==(const Policy&) const = default;
  bool FullyPrivileged() const;
};

// None for what is neither a level nor a version.
std::optional<Level> ParseLevel(std::string_view text);
std::optional<Version> ParseVersion(std::string_view text);
// What they must be, for errors.
inline constexpr std::string_view kLevelRule = "must be one of privileged, baseline, restricted";
inline constexpr std::string_view kVersionRule = "must be \"latest\" or \"v1.x\"";

// The policy that these labels of a namespace ask for, `defaults` where they say nothing. A level
// that is none counts as restricted where it enforces and as privileged elsewhere, a version that
// is none as the latest; each is an error at "metadata.labels". A namespace that enforces and does
// not say what to warn about is warned about what it enforces, if that is stricter.
struct LabelledPolicy {
  Policy policy;
  FieldErrorList errors;
};
LabelledPolicy PolicyOf(const Map<std::string>& labels, const Policy& defaults);

// "enforce=baseline:latest, warn=restricted:v1.30": what the labels ask for beyond nothing.
std::string DescribeLabels(const Map<std::string>& labels, const Policy& policy);

}  // namespace cox::apiserver::pod_security
