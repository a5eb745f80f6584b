// SPDX-License-Identifier: Apache-2.0
#include "kubelet/configs/hosts.h"

#include "base/strings.h"

namespace cox::kubelet {

namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxKernelName = 64;

}  // namespace

PodHostname HostnameOf(const core::v1::Pod& pod, std::string_view cluster_domain) {
  if (pod.spec.hostnameOverride && !pod.spec.hostnameOverride->empty()) {
    return {*pod.spec.hostnameOverride, ""};
  }
  PodHostname name;
  name.host = pod.spec.hostname.empty() ? pod.metadata.name : pod.spec.hostname;
  if (name.host.size() > kMaxLabel) {
    name.host.resize(kMaxLabel);
    // The truncated name must not end in '-' or '.'.
    while (name.host.ends_with('-') || name.host.ends_with('.')) name.host.pop_back();
  }
  if (!pod.spec.subdomain.empty()) {
    name.domain =
        pod.spec.subdomain + "." + pod.metadata.namespace_ + ".svc." + std::string(cluster_domain);
  }
  return name;
}

Result<std::string> SandboxHostname(const core::v1::Pod& pod, std::string_view cluster_domain) {
  // Host-network Pods use the host's name.
  if (pod.spec.hostNetwork) return std::string();
  const PodHostname name = HostnameOf(pod, cluster_domain);
  if (!pod.spec.setHostnameAsFQDN.value_or(false) || name.domain.empty()) return name.host;
  std::string whole = name.host + "." + name.domain;
  if (whole.size() > kMaxKernelName) {
    return Status::BadRequest(
        "failed to construct FQDN from pod hostname and cluster domain, FQDN " + whole +
        " is too long (64 characters is the max, " + std::to_string(whole.size()) +
        " characters requested)");
  }
  return whole;
}

std::string HostsFile(const core::v1::Pod& pod, const std::vector<std::string>& pod_ips,
                      std::string_view cluster_domain, std::string_view host_file) {
  std::string out;
  if (pod.spec.hostNetwork) {
    out = "# Kubernetes-managed hosts file (host network).\n";
    out += host_file;
    if (!out.ends_with('\n')) out += '\n';
  } else {
    out =
        "# Kubernetes-managed hosts file.\n"
        "127.0.0.1\tlocalhost\n"
        "::1\tlocalhost ip6-localhost ip6-loopback\n"
        "fe00::0\tip6-localnet\n"
        "fe00::0\tip6-mcastprefix\n"
        "fe00::1\tip6-allnodes\n"
        "fe00::2\tip6-allrouters\n";
    const PodHostname name = HostnameOf(pod, cluster_domain);
    for (const std::string& ip : pod_ips) {
      out += ip + "\t";
      if (!name.domain.empty()) out += name.host + "." + name.domain + "\t";
      out += name.host + "\n";
    }
  }
  if (pod.spec.hostAliases.empty()) return out;
  out += "\n# Entries added by HostAliases.\n";
  for (const core::v1::HostAlias& alias : pod.spec.hostAliases) {
    out += alias.ip + "\t" + Join(alias.hostnames, "\t") + "\n";
  }
  return out;
}

}  // namespace cox::kubelet
