// SPDX-License-Identifier: Apache-2.0
#include "kubelet/configs/sandbox_config.h"

#include "kubelet/configs/dns.h"
#include "kubelet/configs/hosts.h"
#include "kubelet/configs/log_paths.h"
#include "kubelet/configs/security.h"
#include "kubelet/pod/containers.h"
#include "kubelet/resources/cgroup.h"
#include "object/validation/sysctl.h"
#include "runtime/labels.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;

namespace {

cri::v1::Protocol ToProtocol(const std::string& protocol) {
  if (protocol == "UDP") return cri::v1::kProtocolUdp;
  if (protocol == "SCTP") return cri::v1::kProtocolSctp;
  return cri::v1::kProtocolTcp;
}

List<cri::v1::PortMapping> PortMappings(const Pod& pod) {
  List<cri::v1::PortMapping> out;
  // Host-network Pods need no port mappings.
  if (pod.spec.hostNetwork) return out;
  ForEachContainer(pod, [&out](const Container& container, ContainerKind kind) {
    if (kind == ContainerKind::kInit) return;
    for (const core::v1::ContainerPort& port : container.ports) {
      out.push_back({.protocol = ToProtocol(port.protocol),
                     .container_port = port.containerPort,
                     .host_port = port.hostPort,
                     .host_ip = port.hostIP});
    }
  });
  return out;
}

cri::v1::LinuxContainerResources ToResources(const CgroupNumbers& numbers) {
  cri::v1::LinuxContainerResources out;
  out.cpu_shares = static_cast<int64_t>(numbers.cpu_shares.value_or(0));
  out.cpu_quota = numbers.cpu_quota.value_or(0);
  out.cpu_period = static_cast<int64_t>(numbers.cpu_period.value_or(0));
  out.memory_limit_in_bytes = numbers.memory_limit.value_or(0);
  return out;
}

}  // namespace

Result<cri::v1::PodSandboxConfig> MakeSandboxConfig(const Pod& pod, uint32_t attempt,
                                                    const Options& options,
                                                    const cri::v1::DNSConfig& host_dns) {
  if (!pod.spec.hostUsers.value_or(true)) {
    return Status::BadRequest(
        "user namespaces are not available on this node; set hostUsers to true or leave it out");
  }
  cri::v1::PodSandboxConfig config;
  // MarkSandbox overwrites Pod labels that have the names of the kubelet's own labels.
  config.labels = pod.metadata.labels;
  config.annotations = pod.metadata.annotations;
  runtime::MarkSandbox({pod.metadata.uid, pod.metadata.namespace_, pod.metadata.name}, attempt,
                       &config);
  COX_ASSIGN_OR_RETURN(config.hostname, SandboxHostname(pod, options.cluster_domain));
  config.log_directory = PodLogDirectory(options.pod_logs_dir, pod.metadata.namespace_,
                                         pod.metadata.name, pod.metadata.uid);
  config.dns_config = MakeDnsConfig(pod, {options.cluster_dns, options.cluster_domain}, host_dns);
  config.port_mappings = PortMappings(pod);
  cri::v1::LinuxPodSandboxConfig linux_config;
  if (options.cgroups_per_qos) {
    linux_config.cgroup_parent = PodCgroupPath(
        pod, options.cgroup_root,
        options.cgroup_driver == "systemd" ? CgroupDriver::kSystemd : CgroupDriver::kCgroupfs);
  }
  linux_config.security_context = SandboxSecurity(pod);
  if (pod.spec.securityContext) {
    for (const core::v1::Sysctl& sysctl : pod.spec.securityContext->sysctls) {
      linux_config.sysctls[validation::DottedSysctl(sysctl.name)] = sysctl.value;
    }
  }
  linux_config.resources = ToResources(PodNumbers(pod, options.cpu_cfs_quota));
  config.linux = std::move(linux_config);
  return config;
}

}  // namespace cox::kubelet
