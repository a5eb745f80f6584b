// SPDX-License-Identifier: Apache-2.0
#include "cmd/kubelet/config_file.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "object/codec/yaml/yaml.h"

namespace cox::cmd {
namespace {

enum class Form : uint8_t { kText, kNumber, kBool, kList, kMap, kThresholds, kTaints };

struct Field {
  std::string_view path;
  std::string_view flag;
  Form form = Form::kText;
};
constexpr Field kFields[] = {
    {"address", "address"},
    {"port", "port", Form::kNumber},
    {"healthzPort", "healthz-port", Form::kNumber},
    {"healthzBindAddress", "healthz-bind-address"},
    {"tlsCertFile", "tls-cert-file"},
    {"tlsPrivateKeyFile", "tls-private-key-file"},
    {"tlsMinVersion", "tls-min-version"},
    {"tlsCipherSuites", "tls-cipher-suites", Form::kList},
    {"allowedUnsafeSysctls", "allowed-unsafe-sysctls", Form::kList},
    {"failSwapOn", "fail-swap-on", Form::kBool},
    {"enableDebuggingHandlers", "enable-debugging-handlers", Form::kBool},
    {"imagePullCredentialsVerificationPolicy", "image-pull-credentials-verification-policy"},
    {"preloadedImagesVerificationAllowlist", "preloaded-images-verification-allowlist",
     Form::kList},
    {"podPidsLimit", "pod-max-pids", Form::kNumber},
    {"protectKernelDefaults", "protect-kernel-defaults", Form::kBool},
    {"seccompDefault", "seccomp-default", Form::kBool},
    {"streamingConnectionIdleTimeout", "streaming-connection-idle-timeout"},
    {"authentication.x509.clientCAFile", "client-ca-file"},
    {"authentication.webhook.enabled", "authentication-token-webhook", Form::kBool},
    {"authentication.webhook.cacheTTL", "authentication-token-webhook-cache-ttl"},
    {"authentication.anonymous.enabled", "anonymous-auth", Form::kBool},
    {"authorization.mode", "authorization-mode"},
    {"authorization.webhook.cacheAuthorizedTTL", "authorization-webhook-cache-authorized-ttl"},
    {"authorization.webhook.cacheUnauthorizedTTL", "authorization-webhook-cache-unauthorized-ttl"},
    {"cgroupDriver", "cgroup-driver"},
    {"cgroupRoot", "cgroup-root"},
    {"cgroupsPerQOS", "cgroups-per-qos", Form::kBool},
    {"clusterDNS", "cluster-dns", Form::kList},
    {"clusterDomain", "cluster-domain"},
    {"containerLogMaxFiles", "container-log-max-files", Form::kNumber},
    {"containerLogMaxSize", "container-log-max-size"},
    {"containerLogMonitorInterval", "container-log-monitor-interval"},
    {"containerRuntimeEndpoint", "container-runtime-endpoint"},
    {"cpuCFSQuota", "cpu-cfs-quota", Form::kBool},
    {"crashLoopBackOff.maxContainerRestartPeriod", "max-container-restart-period"},
    {"evictionHard", "eviction-hard", Form::kThresholds},
    {"evictionPressureTransitionPeriod", "eviction-pressure-transition-period"},
    {"kubeReserved", "kube-reserved", Form::kMap},
    {"maxParallelImagePulls", "max-parallel-image-pulls", Form::kNumber},
    {"maxPods", "max-pods", Form::kNumber},
    {"nodeLeaseDurationSeconds", "node-lease-duration-seconds", Form::kNumber},
    {"nodeStatusMaxImages", "node-status-max-images", Form::kNumber},
    {"nodeStatusReportFrequency", "node-status-report-frequency"},
    {"nodeStatusUpdateFrequency", "node-status-update-frequency"},
    {"oomScoreAdj", "oom-score-adj", Form::kNumber},
    {"podLogsDir", "pod-logs-dir"},
    {"providerID", "provider-id"},
    {"registerNode", "register-node", Form::kBool},
    {"registerWithTaints", "register-with-taints", Form::kTaints},
    {"resolvConf", "resolv-conf"},
    {"systemReserved", "system-reserved", Form::kMap},
};

Status Wrong(std::string_view path, std::string_view should) {
  return Status::BadRequest(std::string(path) + " must be " + std::string(should));
}

std::string TextOf(const Value& value) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_int()) return std::to_string(value.as_int());
  return value.is_double() ? FormatDouble(value.as_double()) : std::string();
}

Result<std::string> MapText(const Field& field, const Value& value, std::string_view between) {
  if (!value.is_object()) return Wrong(field.path, "an object");
  std::vector<std::string> parts;
  for (const auto& [key, amount] : value.as_object()) {
    parts.push_back(key + std::string(between) + TextOf(amount));
  }
  return Join(parts, ",");
}

Result<std::string> TaintsText(const Field& field, const Value& value) {
  if (!value.is_array()) return Wrong(field.path, "a list of taints");
  std::vector<std::string> parts;
  const auto text = [](const Value& of, std::string_view name) {
    const Value* found = of.Find(name);
    return found != nullptr ? TextOf(*found) : std::string();
  };
  for (const Value& taint : value.as_array()) {
    parts.push_back(text(taint, "key") + "=" + text(taint, "value") + ":" + text(taint, "effect"));
  }
  return Join(parts, ",");
}

// Returns the value for the field's flag.
Result<std::string> FlagText(const Field& field, const Value& value) {
  switch (field.form) {
    case Form::kText:
      if (!value.is_string()) return Wrong(field.path, "a string");
      return TextOf(value);
    case Form::kNumber:
      if (!value.is_int()) return Wrong(field.path, "a whole number");
      return TextOf(value);
    case Form::kBool:
      if (!value.is_bool()) return Wrong(field.path, "true or false");
      return TextOf(value);
    case Form::kList: {
      if (!value.is_array()) return Wrong(field.path, "a list");
      std::vector<std::string> parts;
      for (const Value& item : value.as_array()) parts.push_back(TextOf(item));
      return Join(parts, ",");
    }
    case Form::kMap:
      return MapText(field, value, "=");
    case Form::kThresholds:
      return MapText(field, value, "<");
    case Form::kTaints:
      return TaintsText(field, value);
  }
  return std::string();
}

// Recurses to the known fields; all others are reported as without effect.
Status Read(const std::string& prefix, const Value& object, KubeletConfigFile* file) {
  for (const auto& [key, value] : object.as_object()) {
    const std::string path = prefix + key;
    if (path == "apiVersion" || path == "kind" || value.is_null()) continue;
    const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                     [&](const Field& one) { return one.path == path; });
    if (field != std::end(kFields)) {
      COX_ASSIGN_OR_RETURN(std::string text, FlagText(*field, value));
      file->flags.emplace_back(field->flag, std::move(text));
      continue;
    }
    if (path == "enableServer" && value.is_bool() && !value.as_bool()) {
      // If the field were ignored, the server would listen although it was disabled.
      return Status::BadRequest("enableServer: false is not supported; use address: 127.0.0.1");
    }
    const bool above = std::any_of(std::begin(kFields), std::end(kFields), [&](const Field& one) {
      return one.path.starts_with(path + ".");
    });
    if (!above) {
      file->without_effect.push_back(path);
    } else if (!value.is_object()) {
      return Wrong(path, "an object");
    } else {
      COX_RETURN_IF_ERROR(Read(path + ".", value, file));
    }
  }
  return {};
}

}  // namespace

Result<KubeletConfigFile> ReadKubeletConfig(std::string_view text) {
  COX_ASSIGN_OR_RETURN(const Value value, yaml::Parse(text));
  if (!value.is_object()) return Status::BadRequest("the file is no KubeletConfiguration");
  const Value* version = value.Find("apiVersion");
  const Value* kind = value.Find("kind");
  if (kind == nullptr || TextOf(*kind) != "KubeletConfiguration" || version == nullptr ||
      !TextOf(*version).starts_with("kubelet.config.k8s.io/")) {
    return Status::BadRequest(
        "apiVersion kubelet.config.k8s.io/v1beta1 and kind KubeletConfiguration are expected");
  }
  KubeletConfigFile file;
  COX_RETURN_IF_ERROR(Read("", value, &file));
  return file;
}

}  // namespace cox::cmd
