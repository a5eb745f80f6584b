// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/credentials.h"

#include <chrono>

#include "apiserver/request/user.h"
#include "base/log.h"
#include "base/strings.h"
#include "cmd/pki/pki.h"

namespace cox::cmd {
namespace {

// By the monotonic clock, so that a change of the wall time delays a renewal by at most this time.
constexpr std::chrono::hours kCheckInterval{24};
constexpr std::chrono::hours kRetryInterval{1};

std::vector<KubeconfigUser> Users(const UpOptions& options) {
  std::vector<KubeconfigUser> users = {
      {options.kubeconfig, "kubernetes-admin", {std::string(apiserver::kMastersGroup)}},
      {options.paths.data / "controller-manager.conf", "system:kube-controller-manager", {}},
      {options.paths.data / "scheduler.conf", "system:kube-scheduler", {}},
  };
  if (options.node) {
    users.push_back({options.paths.data / "kubelet.conf",
                     "system:node:" + options.node_name,
                     {"system:nodes"}});
    users.push_back({options.paths.data / "proxy.conf", "system:kube-proxy", {}});
  }
  return users;
}

}  // namespace

Result<std::vector<std::string>> EnsureCredentials(const UpOptions& options, Clock::WallTime now) {
  COX_ASSIGN_OR_RETURN(
      std::vector<std::string> made,
      EnsurePki({.dir = options.paths.pki(),
                 .apiserver_names = {options.node_name},
                 .apiserver_addresses = {options.api_service_ip, options.advertise_address,
                                         options.node_ip},
                 .cluster_domain = options.cluster_domain,
                 .node_name = options.node ? options.node_name : "",
                 .node_addresses = {options.node_ip, "127.0.0.1"}},
                now));
  Status failed;
  for (const KubeconfigUser& user : Users(options)) {
    const bool admin = user.name == "kubernetes-admin";
    const Result<bool> written =
        EnsureKubeconfig(user.file, user,
                         {.pki = options.paths.pki(),
                          .server = admin ? options.advertised_url() : options.api_url()},
                         now);
    if (!written.ok() && failed.ok()) failed = written.status();
    if (written.ok() && *written) made.push_back(user.file);
  }
  COX_RETURN_IF_ERROR(failed);
  return made;
}

void KeepCredentials(Context& ctx, const UpOptions& options) {
  std::chrono::hours wait = kCheckInterval;
  while (ctx.Sleep(wait).ok()) {
    const Result<std::vector<std::string>> made = EnsureCredentials(options, ctx.clock().Now());
    wait = made.ok() ? kCheckInterval : kRetryInterval;
    if (!made.ok()) {
      COX_ERROR(ctx.log(), made.status(), "Could not renew certificates", {"retry after", wait});
    } else if (!made->empty()) {
      COX_INFO(ctx.log(), "Renewed certificates", {"files", Join(*made, ",")});
    }
  }
}

}  // namespace cox::cmd
