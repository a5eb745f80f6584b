// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"

namespace cox::runtime {

// A containerd of a test's own: root, state, socket, network and registry in a folder that goes
// with it. Its registry (on the loopback) has image(), made from busybox, and the infra image.
//
// Needs root and, installed: containerd, runc, the CNI plugins, docker-registry, skopeo, umoci and
// a static busybox.
// Threads: one at a time.
class Containerd {
 public:
  // Why it cannot be here; empty if it can.
  static std::string Missing();
  static Result<std::unique_ptr<Containerd>> Start(const Context& ctx);
  Containerd(const Context& ctx, std::string dir, int port);  // use Start()
  // Ends what runs in it, and leaves no mount, namespace, link, control group or file behind.
  ~Containerd();
  Containerd(const Containerd&) = delete;
  Containerd& operator=(const Containerd&) = delete;

  std::string endpoint() const { return "unix://" + dir_ + "/c.sock"; }
  std::string image() const { return registry_ + "/busybox:1"; }
  const std::string& dir() const { return dir_; }
  // The control group of all its containers, if sandboxes say so.
  std::string cgroup() const;

  // As a crash does: containers run on. Then again, on the same folder.
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
  const std::string bridge_;    // the name of its network link
  pid_t registry_pid_ = -1;
  pid_t pid_ = -1;
};

}  // namespace cox::runtime
