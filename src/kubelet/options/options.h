// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace cox::kubelet {

// What a node agent is told; the names are those of KubeletConfiguration where it has them.
struct Options {
  std::string node_name;
  std::vector<std::string> node_ips;          // the first is the Pods' hostIP
  std::string root_dir = "/var/lib/kubelet";  // CSI drivers and plugins know it: do not move it
  std::string pod_logs_dir = "/var/log/pods";
  std::string container_runtime = "containerd";  // in front of container ids
  std::string cgroup_root = "/";
  std::string cgroup_driver = "systemd";  // "systemd", "cgroupfs"
  bool cgroups_per_qos = true;
  bool cpu_cfs_quota = true;
  std::vector<std::string> cluster_dns;
  std::string cluster_domain = "cluster.local";
  std::string resolv_conf = "/etc/resolv.conf";  // what Pods with the node's DNS get
  int max_parallel_image_pulls = 8;
  int sync_threads = 16;  // that look at Pods; none of them waits for a pull or a grace period
  int max_pods = 110;
  std::chrono::seconds max_container_restart_period{300};
};

// Invalid, naming the option and what it should be.
Status Validate(const Options& options);

}  // namespace cox::kubelet
