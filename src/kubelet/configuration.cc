// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "kubelet/kubelet.h"

namespace cox::kubelet {

Value KubeletConfigurationOf(const KubeletOptions& options) {
  const auto text = [](auto duration) {
    return FormatDuration(std::chrono::duration_cast<std::chrono::nanoseconds>(duration));
  };
  const NodeServerOptions& server = options.server;
  const auto texts = [](const std::vector<std::string>& list) {
    Value::Array values;
    for (const std::string& one : list) values.emplace_back(one);
    return values;
  };
  return Value::MakeObject(
      {{"kind", "KubeletConfiguration"},
       {"apiVersion", "kubelet.config.k8s.io/v1beta1"},
       {"address", server.address},
       {"port", server.port},
       {"tlsCertFile", server.tls_cert_file},
       {"tlsPrivateKeyFile", server.tls_private_key_file},
       {"tlsMinVersion", server.tls_min_version > 0x0303 ? "VersionTLS13" : "VersionTLS12"},
       {"tlsCipherSuites", texts(server.tls_cipher_suites)},
       {"allowedUnsafeSysctls", texts(options.pods.allowed_unsafe_sysctls)},
       {"enableDebuggingHandlers", server.enable_debugging_handlers},
       {"failSwapOn", options.fail_swap_on},
       {"imagePullCredentialsVerificationPolicy",
        std::string(NameOf(options.pods.image_verification))},
       {"podPidsLimit", options.pods.pod_pids_limit},
       {"protectKernelDefaults", options.protect_kernel_defaults},
       {"seccompDefault", options.pods.seccomp_default},
       {"streamingConnectionIdleTimeout", text(server.stream_idle_timeout)},
       {"authentication",
        Value::MakeObject(
            {{"anonymous", Value::MakeObject({{"enabled", server.authentication.anonymous}})},
             {"webhook", Value::MakeObject({{"enabled", server.authentication.webhook},
                                            {"cacheTTL", text(server.authentication.cache_ttl)}})},
             {"x509",
              Value::MakeObject({{"clientCAFile", server.authentication.client_ca_file}})}})},
       {"authorization", Value::MakeObject({{"mode", server.authorization.mode}})},
       {"cgroupDriver", options.pods.cgroup_driver},
       {"cgroupRoot", options.pods.cgroup_root},
       {"clusterDNS", texts(options.pods.cluster_dns)},
       {"clusterDomain", options.pods.cluster_domain},
       {"containerLogMaxFiles", options.logs.max_files},
       {"containerLogMaxSize",
        Quantity(options.logs.max_bytes, Quantity::Format::kBinarySI).ToString()},
       {"containerRuntimeEndpoint", options.container_runtime_endpoint},
       {"maxPods", options.pods.max_pods},
       {"nodeLeaseDurationSeconds", static_cast<int64_t>(options.node.lease_duration.count())},
       {"nodeStatusReportFrequency", text(options.node.status_report)},
       {"nodeStatusUpdateFrequency", text(options.node.status_update)},
       {"podLogsDir", options.pods.pod_logs_dir}});
}

}  // namespace cox::kubelet
