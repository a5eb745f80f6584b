// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "base/mutex.h"
#include "base/notification.h"
#include "coxswain/cache.h"
#include "proxy/health.h"
#include "proxy/metrics.h"
#include "proxy/nft/conntrack.h"
#include "proxy/nft/socket.h"
#include "proxy/node_watch.h"
#include "proxy/rules/stale_flows.h"
#include "proxy/rules/table_state.h"

namespace cox::proxy {

struct ProxierOptions {
  std::string node_name;
  std::vector<Family> families;
  TableOptions table;
  // The addresses of node ports, called whenever the whole table is written. If empty: the Node's
  // addresses.
  std::function<std::vector<Address>()> node_port_addresses;
  std::vector<Prefix> cluster_cidrs;  // the first of each family is used
  bool masquerade_all = false;
  std::chrono::milliseconds min_sync_period{0};
  std::chrono::seconds full_sync_period{3600};
};

// An index of slices by Service: "default/web".
struct ServiceNameOfSlice {
  static constexpr std::string_view kName = "service-name";
  static std::string Of(const discovery::v1::EndpointSlice& slice);
};

// Syncs the packet filter with Services and EndpointSlices: collects the names of changed Services,
// reads them from the cache, and sends the difference.
//
// Threads: one thread calls Run; handlers of the cache only record names.
// Errors: changes that the kernel rejects are logged, counted, and retried by writing the whole
//   table.
class Proxier {
 public:
  Proxier(ProxierOptions options, Cache& cache, nft::Committer& kernel, Metrics& metrics,
          ProxyHealth& health);

  // Runs until `ctx` is cancelled. The rules stay, so that connections survive a restart of the
  // proxy.
  Status Run(Context& ctx);
  // Sets the current Node. May be called by any thread, also before Run.
  void SetNode(const NodeFacts& node);
  // Called after each successful sync, for tests.
  void OnSync(std::function<void()> callback) { on_sync_ = std::move(callback); }

 private:
  void Note(const ObjectKey& service);
  struct Changes {
    std::set<ObjectKey> services;
    bool node = false;
  };
  Changes Take();
  void PutBack(const std::set<ObjectKey>& services);
  void MakeTables();
  std::vector<SlicePtr> SlicesOf(const ObjectKey& key) const;
  std::vector<ServicePort> PortsOf(const ObjectKey& key, Family family) const;
  std::set<ObjectKey> AllKeys() const;
  // One transaction per family.
  Status Sync(Context& ctx, const std::set<ObjectKey>& changed, bool all);
  // Whether the programmed tables still exist. Their content is not checked.
  bool TablesAreThere() const;
  void UpdateHealth(const std::set<ObjectKey>& changed);
  void ForgetStaleFlows(const Context& ctx, const ServicePorts& changed, Family family);

  const ProxierOptions options_;
  nft::Committer& kernel_;
  Metrics& metrics_;
  ProxyHealth& health_;
  const Informer<core::v1::Service> service_informer_;
  const Informer<discovery::v1::EndpointSlice> slice_informer_;
  const Lister<core::v1::Service> services_;
  const Index<discovery::v1::EndpointSlice, ServiceNameOfSlice> slices_;
  std::function<void()> on_sync_;
  std::vector<TableState> tables_;
  NodeFacts node_;                  // for which the tables were created
  std::vector<Address> answer_at_;  // addresses of node ports
  std::map<Family, ServicePorts> udp_;
  std::optional<ServiceHealthServers> servers_;
  Notification notification_;
  Mutex mu_;
  std::set<ObjectKey> changed_ COX_GUARDED_BY(mu_);
  NodeFacts next_node_ COX_GUARDED_BY(mu_);
  bool node_changed_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::proxy
