// SPDX-License-Identifier: Apache-2.0
#include "cmd/proxy/config_file.h"

#include <algorithm>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/value.h"

namespace cox::cmd {
namespace {

struct Field {
  std::string_view path;  // with a dot: a field of that object
  std::string_view flag;
};

constexpr Field kFields[] = {
    {"clientConnection.kubeconfig", "kubeconfig"},
    {"clusterCIDR", "cluster-cidr"},
    {"detectLocalMode", "detect-local-mode"},
    {"healthzBindAddress", "healthz-bind-address"},
    {"hostnameOverride", "hostname-override"},
    {"logging.format", "logging-format"},
    {"logging.verbosity", "v"},
    {"metricsBindAddress", "metrics-bind-address"},
    {"mode", "proxy-mode"},
    {"nftables.masqueradeAll", "masquerade-all"},
    {"nftables.masqueradeBit", "iptables-masquerade-bit"},
    {"nftables.minSyncPeriod", "iptables-min-sync-period"},
    {"nodePortAddresses", "nodeport-addresses"},
    {"oomScoreAdj", "oom-score-adj"},
};

// Fields of upstream that have no effect here.
constexpr std::string_view kPassedOver[] = {
    "apiVersion",
    "bindAddress",
    "bindAddressHardFail",
    "conntrack",
    "configSyncPeriod",
    "detectLocal",
    "ipvs",
    "enableProfiling",
    "featureGates",
    "iptables",
    "kind",
    "portRange",
    "showHiddenMetricsForVersion",
    "windowsRunAsService",
    "winkernel",
};

bool IsKnown(std::string_view name) {
  return std::find(std::begin(kPassedOver), std::end(kPassedOver), name) != std::end(kPassedOver) ||
         std::any_of(std::begin(kFields), std::end(kFields), [&](const Field& field) {
           return field.path.substr(0, field.path.find('.')) == name;
         });
}

const Value* At(const Value& document, std::string_view path) {
  const CutResult cut = Cut(path, '.');
  const Value* value = document.as_object().Find(cut.before);
  if (!cut.found || value == nullptr || !value->is_object()) return cut.found ? nullptr : value;
  return value->as_object().Find(cut.after);
}

Result<std::string> TextOf(const Value& value, std::string_view path) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_bool()) return std::string(value.as_bool() ? "true" : "false");
  if (value.is_int()) return std::to_string(value.as_int());
  const auto bad = [&] {
    return Status::BadRequest(std::string(path) + ": want a text, a number, or a list of texts");
  };
  if (!value.is_array()) return bad();
  std::vector<std::string> parts;
  for (const Value& item : value.as_array()) {
    if (!item.is_string()) return bad();
    parts.emplace_back(item.as_string());
  }
  return Join(parts, ",");
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ReadProxyConfig(std::string_view text) {
  COX_ASSIGN_OR_RETURN(const Value document, yaml::Parse(text));
  if (!document.is_object()) return Status::BadRequest("want an object");
  for (const auto& [name, wanted] : {std::pair("apiVersion", "kubeproxy.config.k8s.io/v1alpha1"),
                                     std::pair("kind", "KubeProxyConfiguration")}) {
    const Value* value = document.as_object().Find(name);
    if (value == nullptr || !value->is_string() || value->as_string() != wanted) {
      return Status::BadRequest(std::string(name) + ": want " + wanted);
    }
  }
  for (const auto& member : document.as_object()) {
    if (!IsKnown(member.key)) return Status::BadRequest("unknown field " + Quote(member.key));
  }
  std::vector<std::pair<std::string, std::string>> flags;
  for (const Field& field : kFields) {
    const Value* value = At(document, field.path);
    if (value == nullptr || value->is_null()) continue;
    COX_ASSIGN_OR_RETURN(std::string said, TextOf(*value, field.path));
    // An empty value means the default.
    if (!said.empty()) flags.emplace_back(field.flag, std::move(said));
  }
  return flags;
}

}  // namespace cox::cmd
