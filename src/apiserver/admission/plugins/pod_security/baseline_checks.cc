// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "apiserver/admission/plugins/pod_security/checks.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "base/strings.h"

// The baseline controls, which prevent known privilege escalations from a Pod to its node.
namespace cox::apiserver::pod_security {
namespace {

bool Contains(std::span<const std::string_view> list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

constexpr std::string_view kDefaultCapabilities[] = {
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};

// Allowed SELinux types.
constexpr std::string_view kSeLinuxTypes[] = {"", "container_t", "container_init_t",
                                              "container_kvm_t", "container_engine_t"};
constexpr size_t kSeLinuxTypes_1_0 = 4;

// Sysctls that affect only the Pod, ordered by the release that allowed them.
constexpr std::string_view kSafeSysctls[] = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",  // 1.27
    "net.ipv4.tcp_keepalive_time",       // 1.29
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",  // 1.32
    "net.ipv4.tcp_wmem",
};

Finding Sysctls(const PodView& pod, size_t known) {
  if (pod.security == nullptr) return {};
  Names forbidden;
  for (const core::v1::Sysctl& sysctl : pod.security->sysctls) {
    if (!Contains(std::span(kSafeSysctls).first(known), sysctl.name)) {
      forbidden.push_back(sysctl.name);
    }
  }
  if (forbidden.empty()) return {};
  return Violation{"forbidden sysctls", Join(forbidden, ", ")};
}

Finding SeLinuxOptions(const PodView& pod, size_t known) {
  Values types;
  bool sets_user = false;
  bool sets_role = false;
  auto forbidden = [&](const core::v1::SELinuxOptions* options) {
    if (options == nullptr) return false;
    const bool bad_type = !Contains(std::span(kSeLinuxTypes).first(known), options->type);
    if (bad_type) types.insert(options->type);
    sets_user = sets_user || !options->user.empty();
    sets_role = sets_role || !options->role.empty();
    return bad_type || !options->user.empty() || !options->role.empty();
  };
  const bool by_pod = pod.security != nullptr && forbidden(pod.security->seLinuxOptions.get());
  Names containers;
  for (const ContainerView& container : pod.containers) {
    if (container.security != nullptr && forbidden(container.security->seLinuxOptions.get())) {
      containers.push_back(container.name);
    }
  }
  if (!by_pod && containers.empty()) return {};
  std::vector<std::string> what;
  if (!types.empty()) {
    what.push_back(std::string(Plural(types.size(), "type ", "types ")) + Quoted(types));
  }
  if (sets_user) what.push_back("user may not be set");
  if (sets_role) what.push_back("role may not be set");
  return Violation{"seLinuxOptions",
                   Setters(by_pod, containers) +
                       " set forbidden securityContext.seLinuxOptions: " + Join(what, "; ")};
}

bool AllowedAppArmorAnnotation(std::string_view value) {
  return value.empty() || value == "runtime/default" || value.starts_with("localhost/");
}

// Collects the hosts of probe and hook requests that do not go to the Pod itself.
void AddHosts(const core::v1::HTTPGetAction* http, const core::v1::TCPSocketAction* tcp,
              Values& hosts) {
  if (http != nullptr && !http->host.empty()) hosts.insert(http->host);
  if (tcp != nullptr && !tcp->host.empty()) hosts.insert(tcp->host);
}

Values HostsOf(const ContainerView& container) {
  Values hosts;
  for (const core::v1::Probe* probe : container.probes) {
    if (probe == nullptr) continue;
    AddHosts(probe->handler.httpGet.get(), probe->handler.tcpSocket.get(), hosts);
  }
  if (container.lifecycle == nullptr) return hosts;
  for (const core::v1::LifecycleHandler* hook :
       {container.lifecycle->postStart.get(), container.lifecycle->preStop.get()}) {
    if (hook != nullptr) AddHosts(hook->httpGet.get(), hook->tcpSocket.get(), hosts);
  }
  return hosts;
}

}  // namespace

Finding AppArmorProfile(const PodView& pod) {
  Values values;
  auto forbidden = [&](const core::v1::AppArmorProfile* profile) {
    if (profile == nullptr || profile->type == core::v1::kAppArmorProfileTypeRuntimeDefault ||
        profile->type == core::v1::kAppArmorProfileTypeLocalhost) {
      return false;
    }
    values.insert(profile->type);
    return true;
  };
  const bool by_pod = pod.security != nullptr && forbidden(pod.security->appArmorProfile.get());
  Names containers;
  for (const ContainerView& container : pod.containers) {
    if (container.security != nullptr && forbidden(container.security->appArmorProfile.get())) {
      containers.push_back(container.name);
    }
  }
  size_t annotations = 0;
  for (const auto& [key, value] : pod.meta.annotations) {
    if (!key.starts_with(pod::kAppArmorPrefix) || AllowedAppArmorAnnotation(value)) continue;
    ++annotations;
    values.insert(key + "=" + Quote(value));
  }
  if (values.empty()) return {};
  std::string setters = Setters(by_pod, containers);
  if (annotations > 0) {
    if (!setters.empty()) setters += " and ";
    setters += Plural(annotations, "annotation", "annotations");
  }
  return Violation{std::string(Plural(values.size(), "forbidden AppArmor profile",
                                      "forbidden AppArmor profiles")),
                   setters + " must not set AppArmor profile type to " + Quoted(values)};
}

Finding CapabilitiesBaseline(const PodView& pod) {
  Names containers;
  Values added;
  for (const ContainerView& container : pod.containers) {
    if (container.security == nullptr || !container.security->capabilities) continue;
    bool bad = false;
    for (const std::string& capability : container.security->capabilities->add) {
      if (Contains(kDefaultCapabilities, capability)) continue;
      bad = true;
      added.insert(capability);
    }
    if (bad) containers.push_back(container.name);
  }
  if (containers.empty()) return {};
  return Violation{"non-default capabilities", ContainersText(containers) + " must not include " +
                                                   Quoted(added) +
                                                   " in securityContext.capabilities.add"};
}

Finding HostNamespaces(const PodView& pod) {
  Names shared;
  if (pod.spec.hostNetwork) shared.push_back("hostNetwork=true");
  if (pod.spec.hostPID) shared.push_back("hostPID=true");
  if (pod.spec.hostIPC) shared.push_back("hostIPC=true");
  if (shared.empty()) return {};
  return Violation{"host namespaces", Join(shared, ", ")};
}

Finding HostPathVolumes(const PodView& pod) {
  Names volumes;
  for (const core::v1::Volume& volume : pod.spec.volumes) {
    if (volume.volumeSource.hostPath) volumes.push_back(volume.name);
  }
  if (volumes.empty()) return {};
  return Violation{"hostPath volumes",
                   std::string(Plural(volumes.size(), "volume ", "volumes ")) + Quoted(volumes)};
}

Finding HostPorts(const PodView& pod) {
  Names containers;
  Values ports;
  for (const ContainerView& container : pod.containers) {
    bool bad = false;
    for (const core::v1::ContainerPort& port : container.ports) {
      if (port.hostPort == 0) continue;
      bad = true;
      ports.insert(std::to_string(port.hostPort));
    }
    if (bad) containers.push_back(container.name);
  }
  if (containers.empty()) return {};
  std::string detail = ContainersText(containers);
  detail += Plural(containers.size(), " uses ", " use ");
  detail += Plural(ports.size(), "hostPort ", "hostPorts ");
  return Violation{"hostPort", detail + Join(ports, ", ")};
}

Finding HostProbesAndHostLifecycle(const PodView& pod) {
  Names containers;
  Values hosts;
  for (const ContainerView& container : pod.containers) {
    Values own = HostsOf(container);
    if (own.empty()) continue;
    containers.push_back(container.name);
    hosts.merge(own);
  }
  if (containers.empty()) return {};
  std::string detail = ContainersText(containers);
  detail += Plural(containers.size(), " uses ", " use ");
  detail += Plural(hosts.size(), "probe or lifecycle host ", "probe or lifecycle hosts ");
  return Violation{"probe or lifecycle host", detail + Quoted(hosts)};
}

Finding Privileged(const PodView& pod) {
  Names containers;
  for (const ContainerView& container : pod.containers) {
    if (container.security != nullptr && container.security->privileged.value_or(false)) {
      containers.push_back(container.name);
    }
  }
  if (containers.empty()) return {};
  return Violation{"privileged",
                   ContainersText(containers) + " must not set securityContext.privileged=true"};
}

Finding ProcMount_1_0(const PodView& pod) {
  Names containers;
  Values types;
  for (const ContainerView& container : pod.containers) {
    if (container.security == nullptr || !container.security->procMount) continue;
    const std::string& type = *container.security->procMount;
    if (type == core::v1::kDefaultProcMount) continue;
    containers.push_back(container.name);
    types.insert(type);
  }
  if (containers.empty()) return {};
  return Violation{"procMount", ContainersText(containers) +
                                    " must not set securityContext.procMount to " + Quoted(types)};
}

Finding ProcMount_1_35(const PodView& pod) {
  return pod.in_user_namespace() ? Finding() : ProcMount_1_0(pod);
}

Finding SeLinuxOptions_1_0(const PodView& pod) { return SeLinuxOptions(pod, kSeLinuxTypes_1_0); }
Finding SeLinuxOptions_1_31(const PodView& pod) {
  return SeLinuxOptions(pod, std::size(kSeLinuxTypes));
}

Finding Sysctls_1_0(const PodView& pod) { return Sysctls(pod, 5); }
Finding Sysctls_1_27(const PodView& pod) { return Sysctls(pod, 6); }
Finding Sysctls_1_29(const PodView& pod) { return Sysctls(pod, 10); }
Finding Sysctls_1_32(const PodView& pod) { return Sysctls(pod, std::size(kSafeSysctls)); }

Finding WindowsHostProcess(const PodView& pod) {
  auto forbidden = [](const core::v1::WindowsSecurityContextOptions* options) {
    return options != nullptr && options->hostProcess.value_or(false);
  };
  const bool by_pod = pod.security != nullptr && forbidden(pod.security->windowsOptions.get());
  Names containers;
  for (const ContainerView& container : pod.containers) {
    if (container.security != nullptr && forbidden(container.security->windowsOptions.get())) {
      containers.push_back(container.name);
    }
  }
  if (!by_pod && containers.empty()) return {};
  return Violation{"hostProcess", Setters(by_pod, containers) +
                                      " must not set securityContext.windowsOptions."
                                      "hostProcess=true"};
}

}  // namespace cox::apiserver::pod_security
