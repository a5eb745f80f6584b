// SPDX-License-Identifier: Apache-2.0
#include "dns/zone/zone.h"

#include <arpa/inet.h>

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace cox::dns {
namespace {

using core::v1::Service;
using discovery::v1::EndpointSlice;

// The TTL in the specification for dns-version, which changes only with the server.
constexpr uint32_t kVersionTtl = 28'800;

void Put16(std::string* out, uint32_t value) {
  *out += static_cast<char>(value >> 8);
  *out += static_cast<char>(value);
}

bool IsV6(std::string_view ip) { return ip.find(':') != std::string_view::npos; }

// In network byte order; empty if it is not an address.
std::string AddressBytes(const std::string& ip) {
  char bytes[16];
  const bool v6 = IsV6(ip);
  if (inet_pton(v6 ? AF_INET6 : AF_INET, ip.c_str(), bytes) != 1) return "";
  return {bytes, v6 ? size_t{16} : size_t{4}};
}

bool IsHeadless(const Service& service) { return service.spec.clusterIP == "None"; }

List<std::string> ClusterIps(const Service& service) {
  return service.spec.clusterIPs.empty() ? List<std::string>{service.spec.clusterIP}
                                         : service.spec.clusterIPs;
}

// The hostname of an endpoint, or "10-0-0-1" if it has none.
std::string EndpointHost(const discovery::v1::Endpoint& endpoint) {
  if (endpoint.hostname && !endpoint.hostname->empty()) return *endpoint.hostname;
  std::string name = endpoint.addresses.empty() ? "" : endpoint.addresses.front();
  std::replace(name.begin(), name.end(), '.', '-');
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Computes the answer to one question.
class Lookup {
 public:
  Lookup(const ZoneOptions& options, const Source& source, std::string name, uint16_t type)
      : options_(options), source_(source), name_(std::move(name)), type_(type) {
    answer_.authoritative = true;
  }

  // `labels`: the labels before the zone, in reverse order.
  Answer Find(const std::vector<std::string>& labels) {
    bool exists = false;
    if (labels.empty()) {
      exists = true;
      Apex();
    } else if (labels[0] == "svc") {
      exists = InServices(labels);
    } else if (labels[0] == "pod") {
      exists = InPods(labels);
    } else if (labels[0] == "dns-version" && labels.size() == 1) {
      exists = true;
      if (type_ == kTxt) Add({.name = name_, .type = kTxt, .data = std::string("\x05") + "1.1.0"});
      for (Record& record : answer_.answers) record.ttl = kVersionTtl;
    } else if (labels[0] == "dns" &&
               (labels.size() == 1 || (labels.size() == 2 && labels[1] == "ns"))) {
      exists = true;
      if (labels.size() == 2) AddAddress(name_, options_.server_ip, &answer_.answers);
    }
    return Finish(exists);
  }

  Answer Finish(bool exists) {
    if (!exists && !source_.Complete()) {
      return {.rcode = Rcode::kServFail};  // the name may exist; the client retries
    }
    if (!exists) answer_.rcode = Rcode::kNxDomain;
    if (answer_.answers.empty()) answer_.authority.push_back(Soa(options_.negative_ttl));
    return std::move(answer_);
  }

  void AddPtr(const std::string& target) { Add({.name = name_, .type = kPtr, .target = target}); }

 private:
  void Add(Record record) {
    record.ttl = options_.ttl;
    answer_.answers.push_back(std::move(record));
  }

  Record Soa(uint32_t ttl) const {
    std::string numbers;
    for (const uint32_t number : {1u, 7200u, 1800u, 86400u, options_.negative_ttl}) {
      Put16(&numbers, number >> 16);
      Put16(&numbers, number);
    }
    return {.name = options_.domain,
            .type = kSoa,
            .ttl = ttl,
            .target = "ns.dns." + options_.domain,
            .target2 = "hostmaster." + options_.domain,
            .tail = numbers};
  }

  void Apex() {
    if (type_ == kSoa) answer_.answers.push_back(Soa(options_.ttl));
    if (type_ == kNs) {
      Add({.name = name_, .type = kNs, .target = "ns.dns." + options_.domain});
    }
  }

  // Answers contain only the queried type; additional records contain any.
  void AddAddress(const std::string& name, const std::string& ip, std::vector<Record>* to) {
    const uint16_t type = IsV6(ip) ? kAaaa : kA;
    if (to == &answer_.answers && type != type_) return;
    std::string bytes = AddressBytes(ip);
    if (bytes.empty() || !given_.insert(name + '/' + bytes).second) return;
    to->push_back({.name = name, .type = type, .ttl = options_.ttl, .data = std::move(bytes)});
  }

  std::string ServiceName(const Service& service) const {
    return service.metadata.name + "." + service.metadata.namespace_ + ".svc." + options_.domain;
  }

  bool InServices(const std::vector<std::string>& labels) {
    if (labels.size() == 1) return true;
    if (labels.size() == 2) return source_.HasNamespace(labels[1]);
    const ServicePtr service = source_.Service(labels[1], labels[2]);
    if (service == nullptr || labels.size() > 5) return false;
    if (service->spec.type == "ExternalName") return labels.size() == 3 && External(*service);
    const bool of_endpoint = labels.size() == 4 && !labels[3].starts_with('_');
    const std::vector<SlicePtr> slices = IsHeadless(*service) || of_endpoint
                                             ? source_.Slices(labels[1], labels[2])
                                             : std::vector<SlicePtr>();
    if (labels.size() == 3) return ResolveService(*service, slices);
    if (of_endpoint) return AddTargets(Endpoints(*service, slices, {.host = labels[3]}));
    const TargetFilter target_filter{.protocol = labels[3],
                                     .port = labels.size() == 5 ? labels[4] : ""};
    const Targets found = IsHeadless(*service) ? Endpoints(*service, slices, target_filter)
                                               : ClusterTargets(*service, target_filter);
    // "_tcp" alone exists because names below it exist, but has no records.
    return target_filter.port.empty() ? !found.empty() : AddTargets(found);
  }

  bool External(const Service& service) {
    // A CNAME answers every type; the client or its resolver follows it.
    std::string target = Lower(service.spec.externalName);
    if (target.ends_with('.')) target.pop_back();
    if (!EncodeName(target).empty()) Add({.name = name_, .type = kCname, .target = target});
    return true;
  }

  template <class Use>
  void EachReady(const std::vector<SlicePtr>& slices, Use use) const {
    for (const SlicePtr& slice : slices) {
      for (const discovery::v1::Endpoint& endpoint : slice->endpoints) {
        if (endpoint.conditions.ready.value_or(true)) use(*slice, endpoint);
      }
    }
  }

  // A host and port that a name may resolve to.
  struct Target {
    std::string host;
    int32_t port = 0;
    List<std::string> ips;
  };
  using Targets = std::vector<Target>;
  // A filter for targets; empty members match all. Protocol and port have an underscore, as in
  // names.
  struct TargetFilter {
    std::string host;
    std::string protocol;
    std::string port;
    bool Fits(const std::string& name, const std::string& proto) const {
      return (protocol.empty() || protocol == "_" + Lower(proto)) &&
             (port.empty() || port == "_" + name);
    }
  };

  Targets ClusterTargets(const Service& service, const TargetFilter& target_filter) const {
    Targets out;
    for (const core::v1::ServicePort& at : service.spec.ports) {
      if (!target_filter.Fits(at.name, at.protocol)) continue;
      out.push_back({ServiceName(service), at.port, ClusterIps(service)});
    }
    return out;
  }

  Targets Endpoints(const Service& service, const std::vector<SlicePtr>& slices,
                    const TargetFilter& target_filter) const {
    Targets out;
    EachReady(slices, [&](const EndpointSlice& slice, const discovery::v1::Endpoint& endpoint) {
      const std::string host = EndpointHost(endpoint);
      if (!target_filter.host.empty() && target_filter.host != host) return;
      const std::string name = host + "." + ServiceName(service);
      for (const discovery::v1::EndpointPort& at : slice.ports) {
        if (!target_filter.Fits(at.name.value_or(""), at.protocol.value_or("TCP"))) continue;
        out.push_back({name, at.port.value_or(0), endpoint.addresses});
      }
      // An endpoint without ports still has a name.
      if (slice.ports.empty() && target_filter.protocol.empty())
        out.push_back({name, 0, endpoint.addresses});
    });
    return out;
  }

  // False if there is no target, so the name does not exist.
  bool AddTargets(const Targets& targets) {
    size_t addresses = 0;
    for (const Target& target : targets) addresses += target.ips.size();
    // Equal SRV weights distribute the load.
    const auto weight =
        static_cast<uint32_t>(std::max<size_t>(1, 100 / std::max<size_t>(1, addresses)));
    for (const Target& target : targets) {
      if (type_ == kSrv && target.port == 0) continue;
      if (type_ == kSrv) AddSrv(weight, target.port, target.host);
      for (const std::string& ip : target.ips) {
        if (type_ == kSrv) {
          AddAddress(target.host, ip, &answer_.additional);
        } else {
          AddAddress(name_, ip, &answer_.answers);
        }
      }
    }
    return !targets.empty();
  }

  bool ResolveService(const Service& service, const std::vector<SlicePtr>& slices) {
    // The name of a headless Service without endpoints does not exist.
    if (IsHeadless(service)) return AddTargets(Endpoints(service, slices, {}));
    Targets targets = ClusterTargets(service, {});
    // A Service without ports still has an address.
    if (targets.empty()) targets.push_back({ServiceName(service), 0, ClusterIps(service)});
    return AddTargets(targets);
  }

  void AddSrv(uint32_t weight, int32_t port, const std::string& target) {
    Record record{.name = name_, .type = kSrv, .target = target};
    Put16(&record.data, 0);
    Put16(&record.data, weight);
    Put16(&record.data, static_cast<uint32_t>(port));
    if (!given_.insert("srv/" + target + '/' + record.data).second) return;
    Add(std::move(record));
  }

  // The address is part of the name. The existence of the Pod is not checked, because every node
  // would need a copy of all Pods.
  bool InPods(const std::vector<std::string>& labels) {
    if (labels.size() == 1) return true;
    if (!source_.HasNamespace(labels[1])) return false;
    if (labels.size() == 2) return true;
    std::string ip = labels[2];
    const bool v6 =
        std::count(ip.begin(), ip.end(), '-') != 3 || ip.find("--") != std::string::npos;
    std::replace(ip.begin(), ip.end(), '-', v6 ? ':' : '.');
    if (labels.size() > 3 || AddressBytes(ip).empty()) return false;
    AddAddress(name_, ip, &answer_.answers);
    return true;
  }

  const ZoneOptions& options_;
  const Source& source_;
  const std::string name_;
  const uint16_t type_;
  Answer answer_;
  std::set<std::string> given_;  // records in the answer, to skip duplicates: ports share addresses
};

// "10.0.0.1" for "1.0.0.10.in-addr.arpa"; also for ip6.arpa. Empty if it is invalid.
std::string ReverseAddress(const std::string& name) {
  constexpr std::string_view kV4 = ".in-addr.arpa";
  constexpr std::string_view kV6 = ".ip6.arpa";
  std::string ip;
  if (name.ends_with(kV4)) {
    auto parts = Split(std::string_view(name).substr(0, name.size() - kV4.size()), '.').ToStrings();
    std::reverse(parts.begin(), parts.end());
    if (parts.size() == 4) ip = Join(parts, ".");
    return AddressBytes(ip).empty() ? "" : ip;
  }
  if (!name.ends_with(kV6) || name.size() != 63 + kV6.size()) return "";
  for (int i = 31; i >= 0; --i) {
    ip += name[static_cast<size_t>(i) * 2];
    if (i % 4 == 0 && i > 0) ip += ':';
  }
  const std::string bytes = AddressBytes(ip);
  if (bytes.empty()) return "";
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, bytes.data(), text, sizeof text);  // the canonical form, as in objects
  return text;
}

}  // namespace

std::optional<Answer> Zone::Resolve(const std::string& name, uint16_t type) const {
  if (name == options_.domain || name.ends_with("." + options_.domain)) return Forward(name, type);
  return Reverse(name, type);
}

Answer Zone::Forward(const std::string& name, uint16_t type) const {
  std::vector<std::string> labels;
  if (name.size() > options_.domain.size()) {
    labels = Split(std::string_view(name).substr(0, name.size() - options_.domain.size() - 1), '.')
                 .ToStrings();
    std::reverse(labels.begin(), labels.end());
  }
  return Lookup(options_, source_, name, type).Find(labels);
}

std::optional<Answer> Zone::Reverse(const std::string& name, uint16_t type) const {
  const std::string ip = ReverseAddress(name);
  if (ip.empty()) return std::nullopt;
  std::set<std::string> targets;
  for (const ServicePtr& service : source_.ServicesAt(ip)) {
    targets.insert(service->metadata.name + "." + service->metadata.namespace_);
  }
  for (const SlicePtr& slice : source_.SlicesAt(ip)) {
    const auto label = slice->metadata.labels.find("kubernetes.io/service-name");
    if (label == slice->metadata.labels.end()) continue;
    for (const discovery::v1::Endpoint& endpoint : slice->endpoints) {
      const auto& addresses = endpoint.addresses;
      if (!endpoint.conditions.ready.value_or(true)) continue;
      if (std::find(addresses.begin(), addresses.end(), ip) == addresses.end()) continue;
      targets.insert(EndpointHost(endpoint) + "." + label->second + "." +
                     slice->metadata.namespace_);
    }
  }
  if (targets.empty()) return std::nullopt;
  Lookup lookup(options_, source_, name, type);
  if (type == kPtr) {
    for (const std::string& target : targets) lookup.AddPtr(target + ".svc." + options_.domain);
  }
  return lookup.Finish(true);
}

}  // namespace cox::dns
