// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"

namespace cox::runtime {

// A private containerd for a test: root, state, socket, network and registry are in a temporary
// folder. Its registry (on the loopback) provides image(), made from busybox, and the infra image.
//
// Requires root and, installed: containerd, runc, the CNI plugins, docker-registry, skopeo, umoci
// and a static busybox.
// Threads: one at a time.
class Containerd {
 public:
  // Why it cannot run here; empty if it can.
  static std::string Missing();
  static Result<std::unique_ptr<Containerd>> Start(const Context& ctx);
  Containerd(const Context& ctx, std::string dir, int port);  // use Start()
  // Stops its containers, and removes all mounts, namespaces, links, cgroups and files.
  ~Containerd();
  Containerd(const Containerd&) = delete;
  Containerd& operator=(const Containerd&) = delete;

  std::string endpoint() const { return "unix://" + dir_ + "/c.sock"; }
  std::string image() const { return registry_ + "/busybox:1"; }
  const std::string& dir() const { return dir_; }
  // The cgroup of all its containers, if it is the cgroup_parent of the sandboxes.
  std::string cgroup() const;

  // Simulates a crash: containers keep running. Boot starts it again with the same folder.
  void Kill();
  Status Boot(const Context& ctx);

 private:
  Status MakeImages(const Context& ctx);
  Status WriteConfig();
  // Stops and removes all sandboxes.
  Status Empty(const Context& ctx);

  const Context ctx_;
  const std::string dir_;
  const int port_;
  const std::string registry_;  // "127.0.0.1:41234"
  const std::string bridge_;    // the name of its network bridge
  pid_t registry_pid_ = -1;
  pid_t pid_ = -1;
};

}  // namespace cox::runtime
