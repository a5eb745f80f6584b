// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/options.h"

#include <set>

#include "apiserver/config/config_reader.h"
#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::apiserver::pod_security {
namespace {

LevelVersion ReadMode(const ConfigObject& defaults, std::string_view mode) {
  const std::optional<Level> level =
      ParseLevel(defaults.String(mode, LevelName(Level::kPrivileged)));
  if (!level) defaults.Fail(mode, kLevelRule);
  const std::string version_field = std::string(mode) + "-version";
  const std::optional<Version> version =
      ParseVersion(defaults.String(version_field, Version{}.ToString()));
  if (!version) defaults.Fail(version_field, kVersionRule);
  return {level.value_or(Level::kRestricted), version.value_or(Version{})};
}

// Reads a list of names. Empty and duplicate names are errors.
std::vector<std::string> ReadNames(const ConfigObject& exemptions, std::string_view field,
                                   bool dns_names) {
  std::vector<std::string> names = exemptions.Strings(field);
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) exemptions.Fail(field, "must not have empty names");
    if (!seen.insert(name).second) exemptions.Fail(field, "has " + Quote(name) + " twice");
    if (dns_names && !name.empty() && !validation::IsDNS1123Subdomain(name).empty()) {
      exemptions.Fail(field, Quote(name) + " is no name of an object");
    }
  }
  return names;
}

}  // namespace

Result<Options> ReadOptions(const Value& configuration) {
  COX_ASSIGN_OR_RETURN(ConfigDocument document,
                       ConfigDocument::Of(configuration, "PodSecurityConfiguration",
                                          {"pod-security.admission.config.k8s.io/v1",
                                           "pod-security.admission.config.k8s.io/v1beta1",
                                           "pod-security.admission.config.k8s.io/v1alpha1"}));
  Options options;
  const ConfigObject defaults = document.root().Object("defaults");
  options.defaults = {.enforce = ReadMode(defaults, "enforce"),
                      .audit = ReadMode(defaults, "audit"),
                      .warn = ReadMode(defaults, "warn")};
  const ConfigObject exemptions = document.root().Object("exemptions");
  options.exempt_users = ReadNames(exemptions, "usernames", /*dns_names=*/false);
  options.exempt_namespaces = ReadNames(exemptions, "namespaces", /*dns_names=*/true);
  options.exempt_runtime_classes = ReadNames(exemptions, "runtimeClasses", /*dns_names=*/true);
  COX_RETURN_IF_ERROR(document.Finish());
  return options;
}

}  // namespace cox::apiserver::pod_security
