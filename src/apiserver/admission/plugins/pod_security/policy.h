// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "object/type/map.h"
#include "object/validation/field_error.h"

// The Pod Security Standard of a namespace in each of the three modes: violations of `enforce` are
// rejected, those of `audit` are added to the audit log, those of `warn` are sent to the client as
// warnings. They are set by labels: pod-security.kubernetes.io/enforce=baseline,
// pod-security.kubernetes.io/enforce-version=v1.30.
namespace cox::apiserver::pod_security {

// Ordered from the most permissive to the strictest; comparable.
enum class Level : uint8_t { kPrivileged, kBaseline, kRestricted };

std::string_view LevelName(Level level);

// The Kubernetes release whose version of the standards applies: "v1.22" or "latest".
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

// Return nullopt if `text` is not a valid level or version.
std::optional<Level> ParseLevel(std::string_view text);
std::optional<Version> ParseVersion(std::string_view text);
// The rules for valid values, for error texts.
inline constexpr std::string_view kLevelRule = "must be one of privileged, baseline, restricted";
inline constexpr std::string_view kVersionRule = "must be \"latest\" or \"v1.x\"";

// The policy according to the labels of a namespace, with `defaults` for missing labels. An invalid
// level counts as restricted for enforce and as privileged for audit and warn; an invalid version
// counts as latest. Each invalid label causes an error at "metadata.labels". If there is an enforce
// label but no warn label, warn is set to the enforce level if that is stricter.
struct LabelledPolicy {
  Policy policy;
  FieldErrorList errors;
};
LabelledPolicy PolicyOf(const Map<std::string>& labels, const Policy& defaults);

// "enforce=baseline:latest, warn=restricted:v1.30": the modes that labels set to a level other than
// privileged.
std::string DescribeLabels(const Map<std::string>& labels, const Policy& policy);

}  // namespace cox::apiserver::pod_security
