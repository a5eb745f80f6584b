// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Paths of container logs; log collectors depend on them.
namespace cox::kubelet {

inline std::string PodLogDirectory(const std::string& logs_dir, const std::string& ns,
                                   const std::string& name, const std::string& uid) {
  return logs_dir + "/" + ns + "_" + name + "_" + uid;
}

// Relative to the Pod's directory.
inline std::string ContainerLogName(const std::string& container, uint32_t attempt) {
  return container + "/" + std::to_string(attempt) + ".log";
}

// The symlink to a container's log in /var/log/containers, where log collectors read. "" if the log
// directory is not the default one.
inline std::string ContainerLogLink(const std::string& logs_dir, const std::string& ns,
                                    const std::string& name, const std::string& container,
                                    const std::string& id) {
  constexpr std::string_view kUsual = "/pods";
  if (!logs_dir.ends_with(kUsual)) return "";
  return logs_dir.substr(0, logs_dir.size() - kUsual.size()) + "/containers/" + name + "_" + ns +
         "_" + container + "-" + id + ".log";
}

}  // namespace cox::kubelet
