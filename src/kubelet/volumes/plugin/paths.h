// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Paths of Pod files; CSI drivers and backup tools depend on them.
namespace cox::kubelet {

class PodPaths {
 public:
  PodPaths(const std::string& root_dir, const std::string& uid) : pod_(root_dir + "/pods/" + uid) {}

  const std::string& pod() const { return pod_; }
  std::string volumes() const { return pod_ + "/volumes"; }
  // `plugin` as in "kubernetes.io/empty-dir"; "/" is replaced by "~" in the directory name.
  std::string volume(std::string plugin, const std::string& name) const {
    for (char& c : plugin) {
      if (c == '/') c = '~';
    }
    return volumes() + "/" + plugin + "/" + name;
  }
  std::string sub_paths() const { return pod_ + "/volume-subpaths"; }
  // The bind mount of the container's volume mount number `index`.
  std::string sub_path(const std::string& volume, const std::string& container,
                       size_t index) const {
    return sub_paths() + "/" + volume + "/" + container + "/" + std::to_string(index);
  }
  std::string containers() const { return pod_ + "/containers"; }
  std::string etc_hosts() const { return pod_ + "/etc-hosts"; }

 private:
  std::string pod_;
};

}  // namespace cox::kubelet
