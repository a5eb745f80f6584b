// SPDX-License-Identifier: Apache-2.0
#include "proxy/proxier.h"

#include <algorithm>
#include <utility>

namespace cox::proxy {
namespace {

using core::v1::Service;
using discovery::v1::EndpointSlice;

constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::milliseconds kLastRetry{30'000};
// How often the existence of the tables is checked.
constexpr std::chrono::seconds kLookPeriod{30};

std::string_view NameOf(Family family) { return family == Family::kIpv4 ? "IPv4" : "IPv6"; }

double SecondsSince(const Clock& clock, Clock::SteadyTime start) {
  return std::chrono::duration<double>(clock.Monotonic() - start).count();
}

std::optional<Prefix> CidrOf(const std::vector<Prefix>& cidrs, Family family) {
  for (const Prefix& cidr : cidrs) {
    if (cidr.address.family == family) return cidr;
  }
  return std::nullopt;
}

}  // namespace

std::string ServiceNameOfSlice::Of(const EndpointSlice& slice) {
  const auto label = slice.metadata.labels.find(kServiceName);
  if (label == slice.metadata.labels.end()) return "";
  return slice.metadata.namespace_ + "/" + label->second;
}

Proxier::Proxier(ProxierOptions options, Cache& cache, nft::Committer& kernel, Metrics& metrics,
                 ProxyHealth& health)
    : options_(std::move(options)),
      kernel_(kernel),
      metrics_(metrics),
      health_(health),
      service_informer_(cache.InformerOf<Service>()),
      slice_informer_(cache.InformerOf<EndpointSlice>()),
      services_(cache.ListerOf<Service>()),
      slices_(cache.IndexOf<EndpointSlice, ServiceNameOfSlice>()) {}

void Proxier::MakeTables() {
  {
    MutexLock lock(mu_);
    node_ = next_node_;
  }
  answer_at_ = options_.node_port_addresses ? options_.node_port_addresses() : node_.addresses;
  TableOptions table = options_.table;
  table.node_port_addresses = answer_at_;
  tables_.clear();
  for (const Family family : options_.families) {
    tables_.emplace_back(family, table,
                         ServiceRuleOptions{.cluster_cidr = CidrOf(options_.cluster_cidrs, family),
                                            .masquerade_all = options_.masquerade_all});
  }
}

void Proxier::SetNode(const NodeFacts& node) {
  health_.SetEligible(node.eligible);
  {
    MutexLock lock(mu_);
    if (node.zone == next_node_.zone && node.addresses == next_node_.addresses) return;
    next_node_ = node;
    node_changed_ = true;
  }
  notification_.Notify();
}

void Proxier::Note(const ObjectKey& service) {
  {
    MutexLock lock(mu_);  // for both, so that a sync that ends now does not clear Queued
    health_.Queued();
    changed_.insert(service);
  }
  notification_.Notify();
}

Proxier::Changes Proxier::Take() {
  MutexLock lock(mu_);
  return {std::exchange(changed_, {}), std::exchange(node_changed_, false)};
}

void Proxier::PutBack(const std::set<ObjectKey>& services) {
  MutexLock lock(mu_);
  health_.Queued();  // also without Services, because the whole table is pending
  changed_.insert(services.begin(), services.end());
}

std::set<ObjectKey> Proxier::AllKeys() const {
  std::set<ObjectKey> keys;
  for (const ServicePtr& service : services_.List()) keys.insert(KeyOf(*service));
  return keys;
}

std::vector<SlicePtr> Proxier::SlicesOf(const ObjectKey& key) const {
  return slices_.Find(key.ToString());
}

std::vector<ServicePort> Proxier::PortsOf(const ObjectKey& key, Family family) const {
  const ServicePtr service = services_.Get(key);
  if (service == nullptr) return {};
  return MakeServicePorts(*service, SlicesOf(key), family,
                          {.node = options_.node_name, .zone = node_.zone});
}

Status Proxier::Run(Context& ctx) {
  servers_.emplace(ctx, health_);
  const auto forget_servers = ctx.OnStop([this] { notification_.Notify(); });
  const InformerHandle on_service =
      service_informer_.shared().AddHandler([this](const Delta& delta) {
        if (delta.type == Delta::Type::kResync) return;
        metrics_.service_changes.Inc();
        Note(HeadOf(*delta.object()).key);
      });
  const InformerHandle on_slice = slice_informer_.shared().AddHandler([this](const Delta& delta) {
    if (delta.type == Delta::Type::kResync) return;
    metrics_.endpoint_changes.Inc();
    for (const ObjectPtr& object : {delta.before, delta.after}) {
      const auto slice = As<EndpointSlice>(object);
      if (slice == nullptr) continue;
      const std::string name = ServiceNameOfSlice::Of(*slice);
      if (!name.empty()) Note(ObjectKey::Parse(name));
    }
  });
  // Wait for all objects: rules for a part of them would reject traffic of the others. The rules of
  // the last run stay until then.
  COX_RETURN_IF_ERROR(service_informer_.WaitSynced(ctx));
  COX_RETURN_IF_ERROR(slice_informer_.WaitSynced(ctx));

  Clock& clock = ctx.clock();
  bool all = true;
  Clock::SteadyTime next_full = clock.In(options_.full_sync_period);
  std::chrono::milliseconds retry = kFirstRetry;
  while (!ctx.Done()) {
    const Changes changed = Take();
    all = all || changed.node || clock.Monotonic() >= next_full || !TablesAreThere();
    if (all || !changed.services.empty()) {
      if (all) next_full = clock.In(options_.full_sync_period);
      if (const Status status = Sync(ctx, changed.services, all); !status.ok()) {
        COX_ERROR(ctx.log(), status, "Could not program the packet filter",
                  {"retryAfter", std::chrono::nanoseconds(retry)});
        all = true;
        PutBack(changed.services);  // deleted Services are not in AllKeys
        if (!ctx.Sleep(retry).ok()) break;
        retry = std::min(retry * 2, kLastRetry);
        continue;
      }
      all = false;
      retry = kFirstRetry;
      if (options_.min_sync_period.count() > 0 && !ctx.Sleep(options_.min_sync_period).ok()) break;
    }
    notification_.AwaitUntil(ctx, std::min(next_full, clock.In(kLookPeriod)));
  }
  servers_.reset();
  return {};
}

bool Proxier::TablesAreThere() const {
  return std::all_of(tables_.begin(), tables_.end(), [this](const TableState& table) {
    return kernel_.HasTable(table.family(), kTable);
  });
}

Status Proxier::Sync(Context& ctx, const std::set<ObjectKey>& changed, bool all) {
  std::set<ObjectKey> keys = changed;
  if (all) {
    keys.merge(AllKeys());
    MakeTables();
  }
  Status failed;
  for (TableState& table : tables_) {
    const std::string_view family = NameOf(table.family());
    const Clock::SteadyTime start = ctx.clock().Monotonic();
    ServicePorts ports;
    for (const ObjectKey& key : keys) ports[key] = PortsOf(key, table.family());
    const Status status = all ? table.Replace(kernel_, ports) : table.Apply(kernel_, ports);
    if (!status.ok()) {
      metrics_.sync_failures.With({family}).Inc();
      failed = status;  // the other family is independent
      continue;
    }
    const double seconds = SecondsSince(ctx.clock(), start);
    metrics_.sync_seconds.With({family}).Observe(seconds);
    (all ? metrics_.full_sync_seconds : metrics_.partial_sync_seconds)
        .With({family})
        .Observe(seconds);
    metrics_.last_sync.With({family}).Set(
        std::chrono::duration<double>(ctx.clock().Now().time_since_epoch()).count());
    COX_V(ctx.log(), 2, "Programmed the packet filter", {"ipFamily", family}, {"full", all},
          {"services", keys.size()}, {"messages", table.last_messages()}, {"seconds", seconds});
    ForgetStaleFlows(ctx, ports, table.family());
  }
  UpdateHealth(keys);
  COX_RETURN_IF_ERROR(failed);
  {
    MutexLock lock(mu_);
    health_.Updated();
    if (!changed_.empty()) health_.Queued();  // changes during the sync are pending
  }
  if (on_sync_) on_sync_();
  return {};
}

void Proxier::UpdateHealth(const std::set<ObjectKey>& changed) {
  for (const ObjectKey& key : changed) {
    const ServicePtr service = services_.Get(key);
    ServiceHealth health;
    if (service != nullptr && IsProxied(*service) && service->spec.healthCheckNodePort > 0) {
      health.port = static_cast<uint16_t>(service->spec.healthCheckNodePort);
      health.local_endpoints = CountLocalReady(SlicesOf(key), options_.node_name);
    }
    servers_->Update(key, health);
  }
}

void Proxier::ForgetStaleFlows(const Context& ctx, const ServicePorts& changed, Family family) {
  ServicePorts& known = udp_[family];
  ServicePorts now = OnlyUdp(changed);
  ServicePorts before;
  for (const auto& [key, ports] : changed) {
    if (const auto found = known.find(key); found != known.end()) before.insert(*found);
  }
  if (before == now) return;
  const StaleFlows stale(before, now, answer_at_);
  const Status status =
      nft::ForgetFlows(family, [&](const nft::Flow& flow) { return stale.Contains(flow); });
  if (!status.ok()) {  // retried when the Service changes or the whole table is written
    COX_ERROR(ctx.log(), status, "Could not delete stale UDP flows");
    return;
  }
  for (const auto& [key, ports] : before) known.erase(key);
  known.merge(now);
}

}  // namespace cox::proxy
