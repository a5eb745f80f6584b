// SPDX-License-Identifier: Apache-2.0
#include "cmd/kubelet/options.h"

#include "base/strings.h"
#include "kubelet/images/pull_records.h"
#include "kubelet/pod/sysctls.h"
#include "net/tls.h"

namespace cox::cmd {
namespace {

using kubelet::KubeletOptions;

constexpr FlagInfo kFlags[] = {
    {"Kubelet", "config", "file", "", "KubeletConfiguration file; flags take precedence"},
    {"Kubelet", "hostname-override", "string", "", "Name of the Node (default: the host's name)"},
    {"Kubelet", "node-ip", "ips", "",
     "Addresses of the Node, one per IP family (default: the address of the default route)"},
    {"Kubelet", "container-runtime-endpoint", "url", "unix:///run/containerd/containerd.sock",
     "Socket of the container runtime (CRI)"},
    {"Kubelet", "root-dir", "dir", "/var/lib/kubelet",
     "Directory for volumes and other files of Pods"},
    {"Kubelet", "pod-logs-dir", "dir", "/var/log/pods", "Directory for logs of containers"},
    {"Kubelet", "register-node", "", "true", "Create the Node if it does not exist"},
    {"Kubelet", "register-schedulable", "", "true", "Accept new Pods as soon as the Node is ready"},
    {"Kubelet", "register-with-taints", "taints", "",
     "Taints of a Node that is created: key=value:effect, separated by commas"},
    {"Kubelet", "node-labels", "labels", "",
     "Labels of a Node that is created: key=value, separated by commas"},
    {"Kubelet", "provider-id", "string", "", "Cloud provider's identifier of this machine"},
    {"Kubelet", "max-pods", "int", "110", "Number of Pods that can run on this Node"},
    {"Kubelet", "cluster-dns", "ips", "", "DNS servers of Pods"},
    {"Kubelet", "cluster-domain", "string", "cluster.local", "DNS domain of the cluster"},
    {"Kubelet", "resolv-conf", "file", "/etc/resolv.conf",
     "File for the DNS configuration of Pods that use the node's DNS servers"},
    {"Kubelet", "max-parallel-image-pulls", "int", "8",
     "Number of images that are pulled at the same time"},
    {"Kubelet", "max-container-restart-period", "duration", "5m0s",
     "Longest delay before a failing container is restarted"},

    {"Security", "allowed-unsafe-sysctls", "list", "",
     "Sysctls that Pods may set in addition to the safe ones; a name may end with *"},
    {"Security", "fail-swap-on", "", "true", "Fail if swap is enabled"},
    {"Security", "image-pull-credentials-verification-policy", "string",
     "NeverVerifyPreloadedImages",
     "Images on the node that a Pod can only use with credentials: NeverVerify, "
     "NeverVerifyPreloadedImages, NeverVerifyAllowlistedImages or AlwaysVerify"},
    {"Security", "preloaded-images-verification-allowlist", "list", "",
     "Images for NeverVerifyAllowlistedImages, without tag; an entry may end with /*"},
    {"Security", "protect-kernel-defaults", "", "false",
     "Fail if a sysctl of the kernel differs from the value that the kubelet relies on"},
    {"Security", "seccomp-default", "", "false",
     "Use the seccomp profile RuntimeDefault for containers that set none"},

    {"Resources", "cgroup-driver", "string", "systemd",
     "Cgroup driver: systemd or cgroupfs; the setting of the runtime takes precedence"},
    {"Resources", "cgroup-root", "path", "/", "Cgroup above those of Pods"},
    {"Resources", "cgroups-per-qos", "", "true", "Create a cgroup per QoS class"},
    {"Resources", "cpu-cfs-quota", "", "true", "Enforce CPU limits with CFS quotas"},
    {"Resources", "pod-max-pids", "int", "-1",
     "Number of processes of a Pod; -1 for no limit; requires the cgroup driver cgroupfs"},
    {"Resources", "oom-score-adj", "int", "-999", "OOM score of the kubelet, if it may set it"},
    {"Resources", "kube-reserved", "resources", "",
     "Resources reserved for Kubernetes components: cpu=100m,memory=1Gi,ephemeral-storage=1Gi"},
    {"Resources", "system-reserved", "resources", "",
     "Resources reserved for the rest of the system"},
    {"Resources", "eviction-hard", "thresholds", kubelet::kDefaultEvictionHard,
     "Thresholds of available resources; below one of them the Node reports pressure"},
    {"Resources", "eviction-pressure-transition-period", "duration", "5m0s",
     "Time without pressure after which the Node stops reporting it"},

    {"Status", "node-status-update-frequency", "duration", "10s",
     "Interval at which the state of the node is read"},
    {"Status", "node-status-report-frequency", "duration", "5m0s",
     "Interval at which an unchanged status is written"},
    {"Status", "node-lease-duration-seconds", "int", "40",
     "Duration of the Lease of the Node, which is renewed four times as often"},
    {"Status", "node-status-max-images", "int", "50", "Number of images in the status; -1 for all"},

    {"Server", "address", "ip", "0.0.0.0", "Address of the HTTPS server"},
    {"Server", "port", "int", "10250", "Port of the HTTPS server"},
    {"Server", "healthz-bind-address", "ip", "127.0.0.1",
     "Address of the server for /healthz, without authentication"},
    {"Server", "healthz-port", "int", "10248", "Port of the server for /healthz; 0 to disable"},
    {"Server", "tls-cert-file", "file", "",
     "Certificate file of the HTTPS server, PEM (default: a self-signed certificate)"},
    {"Server", "tls-private-key-file", "file", "", "Key file for --tls-cert-file"},
    {"Server", "tls-min-version", "string", "VersionTLS12",
     "Minimum TLS version: VersionTLS12 or VersionTLS13"},
    {"Server", "tls-cipher-suites", "list", "",
     "Cipher suites for TLS 1.2, by their IANA names (default: those of Go)"},
    {"Server", "enable-debugging-handlers", "", "true",
     "Serve exec, attach, port-forward, logs and the other endpoints for debugging"},
    {"Server", "streaming-connection-idle-timeout", "duration", "4h0m0s",
     "Time after which a stream without data is closed; 0 for never"},
    {"Server", "client-ca-file", "file", "", "CA file for client certificates"},
    {"Server", "anonymous-auth", "", "false",
     "Accept requests without credentials, as system:anonymous"},
    {"Server", "authentication-token-webhook", "", "true",
     "Verify bearer tokens with the API server (TokenReview)"},
    {"Server", "authentication-token-webhook-cache-ttl", "duration", "2m0s",
     "Time for which results of TokenReviews are cached"},
    {"Server", "authorization-mode", "string", "Webhook",
     "Authorization: Webhook (SubjectAccessReviews on nodes/proxy, nodes/stats and the like) or "
     "AlwaysAllow"},
    {"Server", "authorization-webhook-cache-authorized-ttl", "duration", "5m0s",
     "Time for which permissions are cached"},
    {"Server", "authorization-webhook-cache-unauthorized-ttl", "duration", "30s",
     "Time for which denials are cached"},

    {"Container logs", "container-log-max-size", "quantity", "10Mi",
     "Size at which a container log is rotated"},
    {"Container logs", "container-log-max-files", "int", "5", "Number of log files per container"},
    {"Container logs", "container-log-monitor-interval", "duration", "10s",
     "Interval at which log sizes are checked"},

    {"Compatibility", "bootstrap-kubeconfig", "file", "",
     "Kubeconfig for requesting a client certificate", true},
    {"Compatibility", "cert-dir", "dir", "", "Directory for certificates", true},
    {"Compatibility", "cloud-provider", "string", "", "Cloud provider: external or empty", true},
    {"Compatibility", "config-dir", "dir", "", "Directory with configuration files", true},
    {"Compatibility", "image-service-endpoint", "url", "",
     "Socket of the image service; the runtime is used", true},
    {"Compatibility", "pod-infra-container-image", "image", "",
     "Pause image; the runtime is configured with it", true},
    {"Compatibility", "pod-manifest-path", "path", "", "Directory of static Pods", true},
    {"Compatibility", "read-only-port", "int", "0", "Port without authentication; there is none",
     true},
    {"Compatibility", "rotate-certificates", "", "false",
     "Request new certificates; certificate files are reloaded when they change", true},
    {"Compatibility", "runtime-cgroups", "path", "", "Cgroup of the container runtime", true},
    {"Compatibility", "kubelet-cgroups", "path", "", "Cgroup of the kubelet", true},
    {"Compatibility", "serialize-image-pulls", "", "true", "Pull one image at a time", true},
};

template <class D>
Status TakeDuration(const Flags& flags, std::string_view name, D* to, bool zero_allowed = false) {
  const Result<Duration> duration = Duration::Parse(flags.Get(name));
  if (!duration.ok() || duration->nanos < (zero_allowed ? 0 : 1)) {
    return Status::BadRequest("--" + std::string(name) + " must be a duration such as 10s, not " +
                              Quote(flags.Get(name)));
  }
  *to = std::chrono::duration_cast<D>(std::chrono::nanoseconds(duration->nanos));
  return {};
}

template <class N>
Status TakeInt(const Flags& flags, std::string_view name, int64_t min, int64_t max, N* to) {
  COX_ASSIGN_OR_RETURN(const int64_t value, flags.GetInt(name, min, max));
  *to = static_cast<N>(value);
  return {};
}

Status TakePods(const Flags& flags, kubelet::Options* to) {
  to->node_name = flags.Get("hostname-override");
  to->node_ips = flags.GetList("node-ip");
  to->root_dir = flags.Get("root-dir");
  to->pod_logs_dir = flags.Get("pod-logs-dir");
  to->cgroup_root = flags.Get("cgroup-root");
  to->cgroup_driver = flags.Get("cgroup-driver");
  to->cgroups_per_qos = flags.GetBool("cgroups-per-qos");
  to->cpu_cfs_quota = flags.GetBool("cpu-cfs-quota");
  to->cluster_dns = flags.GetList("cluster-dns");
  to->cluster_domain = flags.Get("cluster-domain");
  to->resolv_conf = flags.Get("resolv-conf");
  COX_RETURN_IF_ERROR(
      TakeInt(flags, "max-parallel-image-pulls", 1, 1000, &to->max_parallel_image_pulls));
  COX_RETURN_IF_ERROR(TakeInt(flags, "max-pods", 0, 100'000, &to->max_pods));
  COX_RETURN_IF_ERROR(TakeInt(flags, "pod-max-pids", -1, INT64_MAX, &to->pod_pids_limit));
  const Result<kubelet::VerificationPolicy> policy =
      kubelet::ParseVerificationPolicy(flags.Get("image-pull-credentials-verification-policy"));
  if (!policy.ok()) {
    return policy.status().WithContext("--image-pull-credentials-verification-policy");
  }
  to->image_verification = *policy;
  to->image_verification_allowlist = flags.GetList("preloaded-images-verification-allowlist");
  COX_RETURN_IF_ERROR(kubelet::CheckAllowlist(to->image_verification_allowlist)
                          .WithContext("--preloaded-images-verification-allowlist"));
  to->seccomp_default = flags.GetBool("seccomp-default");
  to->allowed_unsafe_sysctls = flags.GetList("allowed-unsafe-sysctls");
  COX_RETURN_IF_ERROR(kubelet::CheckUnsafeSysctls(to->allowed_unsafe_sysctls)
                          .WithContext("--allowed-unsafe-sysctls"));
  return TakeDuration(flags, "max-container-restart-period", &to->max_container_restart_period);
}

Status TakeNode(const Flags& flags, kubelet::NodeOptions* to) {
  COX_ASSIGN_OR_RETURN(to->labels, kubelet::ParseNodeLabels(flags.Get("node-labels")));
  COX_ASSIGN_OR_RETURN(to->taints, kubelet::ParseTaints(flags.Get("register-with-taints")));
  COX_ASSIGN_OR_RETURN(to->kube_reserved, kubelet::ParseReserved(flags.Get("kube-reserved")));
  COX_ASSIGN_OR_RETURN(to->system_reserved, kubelet::ParseReserved(flags.Get("system-reserved")));
  COX_ASSIGN_OR_RETURN(to->eviction_hard, kubelet::ParseThresholds(flags.Get("eviction-hard")));
  to->register_node = flags.GetBool("register-node");
  to->schedulable = flags.GetBool("register-schedulable");
  to->provider_id = flags.Get("provider-id");
  COX_RETURN_IF_ERROR(TakeInt(flags, "node-status-max-images", -1, 1'000'000, &to->max_images));
  COX_RETURN_IF_ERROR(
      TakeDuration(flags, "eviction-pressure-transition-period", &to->pressure_transition));
  COX_RETURN_IF_ERROR(TakeDuration(flags, "node-status-update-frequency", &to->status_update));
  COX_RETURN_IF_ERROR(TakeDuration(flags, "node-status-report-frequency", &to->status_report));
  int64_t lease = 0;
  COX_RETURN_IF_ERROR(TakeInt(flags, "node-lease-duration-seconds", 1, 86'400, &lease));
  to->lease_duration = std::chrono::seconds(lease);
  return {};
}

Status TakeServer(const Flags& flags, KubeletOptions* options) {
  kubelet::NodeServerOptions& to = options->server;
  to.address = flags.Get("address");
  COX_RETURN_IF_ERROR(TakeInt(flags, "port", 1, 65535, &to.port));
  to.tls_cert_file = flags.Get("tls-cert-file");
  to.tls_private_key_file = flags.Get("tls-private-key-file");
  const Result<int> version = net::ParseTlsVersion(flags.Get("tls-min-version"));
  if (!version.ok()) return version.status().WithContext("--tls-min-version");
  to.tls_min_version = *version;
  to.tls_cipher_suites = flags.GetList("tls-cipher-suites");
  if (const Status suites = net::CheckCipherSuites(to.tls_cipher_suites); !suites.ok()) {
    return suites.WithContext("--tls-cipher-suites");
  }
  to.enable_debugging_handlers = flags.GetBool("enable-debugging-handlers");
  COX_RETURN_IF_ERROR(TakeDuration(flags, "streaming-connection-idle-timeout",
                                   &to.stream_idle_timeout, /*zero_allowed=*/true));
  to.authentication.client_ca_file = flags.Get("client-ca-file");
  to.authentication.anonymous = flags.GetBool("anonymous-auth");
  to.authentication.webhook = flags.GetBool("authentication-token-webhook");
  to.authorization.mode = flags.Get("authorization-mode");
  COX_RETURN_IF_ERROR(
      TakeDuration(flags, "authentication-token-webhook-cache-ttl", &to.authentication.cache_ttl));
  COX_RETURN_IF_ERROR(TakeDuration(flags, "authorization-webhook-cache-authorized-ttl",
                                   &to.authorization.allowed_ttl));
  COX_RETURN_IF_ERROR(TakeDuration(flags, "authorization-webhook-cache-unauthorized-ttl",
                                   &to.authorization.refused_ttl));
  COX_ASSIGN_OR_RETURN(const int64_t healthz, flags.GetInt("healthz-port", 0, 65535));
  std::string host = flags.Get("healthz-bind-address");
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
  options->healthz_address = healthz == 0 ? "0" : host + ":" + std::to_string(healthz);
  return {};
}

Status TakeLogs(const Flags& flags, kubelet::RotateOptions* to) {
  const Result<Quantity> size = Quantity::Parse(flags.Get("container-log-max-size"));
  if (!size.ok() || size->Sign() <= 0) {
    return Status::BadRequest("--container-log-max-size must be a size such as 10Mi");
  }
  to->max_bytes = size->Value();
  COX_RETURN_IF_ERROR(TakeInt(flags, "container-log-max-files", 2, 1000, &to->max_files));
  return TakeDuration(flags, "container-log-monitor-interval", &to->period);
}

}  // namespace

std::span<const FlagInfo> KubeletFlags() { return kFlags; }

Result<KubeletOptions> KubeletOptionsFrom(const Flags& flags) {
  KubeletOptions options;
  options.protect_kernel_defaults = flags.GetBool("protect-kernel-defaults");
  options.fail_swap_on = flags.GetBool("fail-swap-on");
  options.container_runtime_endpoint = flags.Get("container-runtime-endpoint");
  COX_RETURN_IF_ERROR(TakePods(flags, &options.pods));
  COX_RETURN_IF_ERROR(TakeNode(flags, &options.node));
  COX_RETURN_IF_ERROR(TakeServer(flags, &options));
  COX_RETURN_IF_ERROR(TakeLogs(flags, &options.logs));
  return kubelet::Complete(std::move(options));
}

}  // namespace cox::cmd
