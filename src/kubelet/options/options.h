// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cox::kubelet {

// imagePullCredentialsVerificationPolicy: the images on the node for which a Pod needs credentials.
enum class VerificationPolicy : uint8_t {
  kNeverVerify,                   // no image
  kNeverVerifyPreloadedImages,    // the images that a kubelet has pulled
  kNeverVerifyAllowlistedImages,  // all images, except preloaded ones in the allowlist
  kAlwaysVerify,                  // all images
};
// BadRequest for an unknown name.
Result<VerificationPolicy> ParseVerificationPolicy(std::string_view name);
std::string_view NameOf(VerificationPolicy policy);

// Options of the kubelet, named as in KubeletConfiguration where they exist there.
struct Options {
  std::string node_name;
  std::vector<std::string> node_ips;          // the first is the Pods' hostIP
  std::string root_dir = "/var/lib/kubelet";  // CSI drivers and plugins depend on it
  std::string pod_logs_dir = "/var/log/pods";
  std::string container_runtime = "containerd";  // prefix of container ids
  std::string cgroup_root = "/";
  std::string cgroup_driver = "systemd";  // "systemd", "cgroupfs"
  bool cgroups_per_qos = true;
  bool cpu_cfs_quota = true;
  std::vector<std::string> cluster_dns;
  std::string cluster_domain = "cluster.local";
  std::string resolv_conf = "/etc/resolv.conf";  // for Pods with the node's DNS
  int max_parallel_image_pulls = 8;
  int sync_threads = 16;  // Pod workers; none of them blocks on a pull or a grace period
  int max_pods = 110;
  int64_t pod_pids_limit = -1;                      // processes of a Pod; -1: no limit
  std::vector<std::string> allowed_unsafe_sysctls;  // names, or prefixes that end with "*"
  bool seccomp_default = false;  // containers without a profile get the runtime's default profile
  VerificationPolicy image_verification = VerificationPolicy::kNeverVerifyPreloadedImages;
  std::vector<std::string> image_verification_allowlist;  // preloadedImagesVerificationAllowlist
  std::chrono::seconds max_container_restart_period{300};
};

// Returns Invalid with the option's name and its valid values.
Status Validate(const Options& options);

}  // namespace cox::kubelet
