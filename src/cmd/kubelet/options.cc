// SPDX-License-Identifier: Apache-2.0
#include "cmd/kubelet/options.h"

#include "base/strings.h"

namespace cox::cmd {
namespace {

using kubelet::KubeletOptions;

constexpr FlagInfo kFlags[] = {
    {"Kubelet", "config", "file", "",
     "a KubeletConfiguration; flags that are given go before what it says"},
    {"Kubelet", "hostname-override", "string", "", "the name of the Node; else the host's"},
    {"Kubelet", "node-ip", "ips", "",
     "addresses of the Node, one per family; else that of the default route"},
    {"Kubelet", "container-runtime-endpoint", "url", "unix:///run/containerd/containerd.sock",
     "the socket of the container runtime (CRI)"},
    {"Kubelet", "root-dir", "dir", "/var/lib/kubelet", "where volumes and other files of Pods are"},
    {"Kubelet", "pod-logs-dir", "dir", "/var/log/pods", "where the logs of containers are"},
    {"Kubelet", "register-node", "", "true", "make the Node if there is none"},
    {"Kubelet", "register-schedulable", "", "true", "new Pods may come as soon as it is ready"},
    {"Kubelet", "register-with-taints", "taints", "",
     "key=value:effect, comma separated; of a Node that is made"},
    {"Kubelet", "node-labels", "labels", "", "key=value, comma separated; of a Node that is made"},
    {"Kubelet", "provider-id", "string", "", "what a cloud calls this machine"},
    {"Kubelet", "max-pods", "int", "110", "how many Pods may run here"},
    {"Kubelet", "cluster-dns", "ips", "", "name servers of Pods"},
    {"Kubelet", "cluster-domain", "string", "cluster.local", "domain of names of Services"},
    {"Kubelet", "resolv-conf", "file", "/etc/resolv.conf",
     "what Pods get that want the node's name servers"},
    {"Kubelet", "max-parallel-image-pulls", "int", "8", "how many images are pulled at once"},
    {"Kubelet", "max-container-restart-period", "duration", "5m0s",
     "longest wait before a container that keeps failing is started again"},

    {"Resources", "cgroup-driver", "string", "systemd",
     "systemd or cgroupfs; what the runtime says goes before it"},
    {"Resources", "cgroup-root", "path", "/", "the cgroup above those of Pods"},
    {"Resources", "cgroups-per-qos", "", "true", "a cgroup for each class of service"},
    {"Resources", "cpu-cfs-quota", "", "true", "enforce limits of cpu"},
    {"Resources", "kube-reserved", "resources", "",
     "kept from Pods for Kubernetes: cpu=100m,memory=1Gi,ephemeral-storage=1Gi"},
    {"Resources", "system-reserved", "resources", "", "kept from Pods for the rest of the system"},
    {"Resources", "eviction-hard", "thresholds", kubelet::kDefaultEvictionHard,
     "less than this is pressure, which the Node tells"},
    {"Resources", "eviction-pressure-transition-period", "duration", "5m0s",
     "how long pressure must be gone until that is told"},

    {"Status", "node-status-update-frequency", "duration", "10s",
     "how often the node is looked at"},
    {"Status", "node-status-report-frequency", "duration", "5m0s",
     "how often its status is written though nothing has changed"},
    {"Status", "node-lease-duration-seconds", "int", "40",
     "how long its sign of life lasts; it is renewed four times in that"},
    {"Status", "node-status-max-images", "int", "50", "images in the status; -1 for all"},

    {"Server", "address", "ip", "0.0.0.0", "where the server of this node listens"},
    {"Server", "port", "int", "10250", "its port"},
    {"Server", "healthz-bind-address", "ip", "127.0.0.1", "where /healthz is for all"},
    {"Server", "healthz-port", "int", "10248", "its port; 0 for none"},
    {"Server", "tls-cert-file", "file", "",
     "certificate of the server, PEM; else one it makes for itself"},
    {"Server", "tls-private-key-file", "file", "", "key of --tls-cert-file"},
    {"Server", "tls-min-version", "string", "VersionTLS12", "VersionTLS12 or VersionTLS13"},
    {"Server", "client-ca-file", "file", "", "CAs of clients with certificates"},
    {"Server", "anonymous-auth", "", "false", "let in who says not who he is"},
    {"Server", "authentication-token-webhook", "", "true",
     "ask the API server whose bearer tokens are"},
    {"Server", "authentication-token-webhook-cache-ttl", "duration", "2m0s",
     "how long its answers hold"},
    {"Server", "authorization-mode", "string", "Webhook",
     "Webhook: the API server says who may do what with nodes/proxy, nodes/stats and the like; "
     "AlwaysAllow"},
    {"Server", "authorization-webhook-cache-authorized-ttl", "duration", "5m0s",
     "how long a permission holds"},
    {"Server", "authorization-webhook-cache-unauthorized-ttl", "duration", "30s",
     "how long a refusal holds"},

    {"Logs of containers", "container-log-max-size", "quantity", "10Mi",
     "a larger log is moved away"},
    {"Logs of containers", "container-log-max-files", "int", "5", "how many are kept"},
    {"Logs of containers", "container-log-monitor-interval", "duration", "10s",
     "how often they are looked at"},

    {"Upstream's", "bootstrap-kubeconfig", "file", "", "to ask for a certificate with", true},
    {"Upstream's", "cert-dir", "dir", "", "where upstream keeps certificates", true},
    {"Upstream's", "cloud-provider", "string", "", "external or none", true},
    {"Upstream's", "config-dir", "dir", "", "more files of configuration", true},
    {"Upstream's", "fail-swap-on", "", "true", "end where there is swap", true},
    {"Upstream's", "image-service-endpoint", "url", "", "images come from the runtime", true},
    {"Upstream's", "pod-infra-container-image", "image", "", "as the runtime is told", true},
    {"Upstream's", "pod-manifest-path", "path", "", "static Pods", true},
    {"Upstream's", "read-only-port", "int", "0", "there is none", true},
    {"Upstream's", "rotate-certificates", "", "false", "files are followed as they change", true},
    {"Upstream's", "runtime-cgroups", "path", "", "cgroup of the runtime", true},
    {"Upstream's", "kubelet-cgroups", "path", "", "cgroup of the kubelet", true},
    {"Upstream's", "seccomp-default", "", "false", "profile of Pods that name none", true},
    {"Upstream's", "serialize-image-pulls", "", "true", "one pull at a time", true},
};

template <class D>
Status TakeDuration(const Flags& flags, std::string_view name, D* to) {
  const Result<Duration> duration = Duration::Parse(flags.Get(name));
  if (!duration.ok() || duration->nanos <= 0) {
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
  to.tls_min_version = flags.Get("tls-min-version");
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
  options.container_runtime_endpoint = flags.Get("container-runtime-endpoint");
  COX_RETURN_IF_ERROR(TakePods(flags, &options.pods));
  COX_RETURN_IF_ERROR(TakeNode(flags, &options.node));
  COX_RETURN_IF_ERROR(TakeServer(flags, &options));
  COX_RETURN_IF_ERROR(TakeLogs(flags, &options.logs));
  return kubelet::Complete(std::move(options));
}

}  // namespace cox::cmd
