// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/policy.h"

#include <charconv>

namespace cox::apiserver::pod_security {
namespace {

constexpr std::string_view kPrefix = "pod-security.kubernetes.io/";
constexpr std::string_view kLatest = "latest";
constexpr std::string_view kLevels[] = {"privileged", "baseline", "restricted"};

std::string LabelOf(std::string_view mode) { return std::string(kPrefix) += mode; }
std::string VersionLabelOf(std::string_view mode) { return LabelOf(mode) += "-version"; }

// Reads the two labels of one mode.
class ModeReader {
 public:
  ModeReader(const Map<std::string>& labels, FieldErrorList& errors)
      : labels_(labels), errors_(errors) {}

  struct Found {
    bool level = false;
    bool version = false;
  };
  // `on_error` is the level to use for an invalid value.
  Found Read(std::string_view mode, Level on_error, LevelVersion& out) {
    Found found;
    const std::string level_label = LabelOf(mode);
    if (const std::string* text = labels_.Get(level_label)) {
      found.level = true;
      const std::optional<Level> level = ParseLevel(*text);
      if (!level) AddViolation(level_label, *text, kLevelRule);
      out.level = level.value_or(on_error);
    }
    const std::string version_label = VersionLabelOf(mode);
    if (const std::string* text = labels_.Get(version_label)) {
      found.version = true;
      const std::optional<Version> version = ParseVersion(*text);
      if (!version) AddViolation(version_label, *text, kVersionRule);
      out.version = version.value_or(Version{});
    }
    return found;
  }

 private:
  void AddViolation(const std::string& label, const std::string& value, std::string_view rule) {
    static const FieldPath metadata("metadata");
    errors_.push_back(
        FieldError::Invalid(metadata.Child("labels").Key(label), value, std::string(rule)));
  }

  const Map<std::string>& labels_;
  FieldErrorList& errors_;
};

}  // namespace

std::string_view LevelName(Level level) { return kLevels[static_cast<size_t>(level)]; }

std::string Version::ToString() const {
  return minor == kLatestMinor ? std::string(kLatest) : "v1." + std::to_string(minor);
}

std::string LevelVersion::ToString() const {
  return std::string(LevelName(level)) + ":" + version.ToString();
}

bool Policy::FullyPrivileged() const {
  return enforce.level == Level::kPrivileged && audit.level == Level::kPrivileged &&
         warn.level == Level::kPrivileged;
}

std::optional<Level> ParseLevel(std::string_view text) {
  for (Level level : {Level::kPrivileged, Level::kBaseline, Level::kRestricted}) {
    if (text == LevelName(level)) return level;
  }
  return std::nullopt;
}

std::optional<Version> ParseVersion(std::string_view text) {
  if (text == kLatest) return Version{};
  constexpr std::string_view kMajor = "v1.";
  if (!text.starts_with(kMajor)) return std::nullopt;
  const std::string_view digits = text.substr(kMajor.size());
  if (digits.empty() || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  int minor = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), minor);
  if (error != std::errc() || minor >= Version::kLatestMinor) return std::nullopt;
  return Version{minor};
}

LabelledPolicy PolicyOf(const Map<std::string>& labels, const Policy& defaults) {
  LabelledPolicy out{defaults, {}};
  ModeReader reader(labels, out.errors);
  Policy& policy = out.policy;
  const ModeReader::Found enforce = reader.Read("enforce", Level::kRestricted, policy.enforce);
  reader.Read("audit", Level::kPrivileged, policy.audit);
  const ModeReader::Found warn = reader.Read("warn", Level::kPrivileged, policy.warn);
  if (enforce.level && !warn.level && policy.enforce.level > policy.warn.level) {
    policy.warn.level = policy.enforce.level;
    if (!warn.version) policy.warn.version = policy.enforce.version;
  }
  return out;
}

std::string DescribeLabels(const Map<std::string>& labels, const Policy& policy) {
  const struct {
    std::string_view mode;
    const LevelVersion& what;
  } kModes[] = {{"enforce", policy.enforce}, {"audit", policy.audit}, {"warn", policy.warn}};
  std::string out;
  for (const auto& [mode, what] : kModes) {
    const bool said = labels.contains(LabelOf(mode)) || labels.contains(VersionLabelOf(mode));
    if (!said || what.level == Level::kPrivileged) continue;
    if (!out.empty()) out += ", ";
    out.append(mode).append("=").append(what.ToString());
  }
  return out;
}

}  // namespace cox::apiserver::pod_security
