// SPDX-License-Identifier: Apache-2.0
#include "dns/zone/source.h"

namespace cox::dns {
namespace {

using core::v1::Namespace;
using discovery::v1::EndpointSlice;

constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr std::string_view kHeadless = "service.kubernetes.io/headless";

struct ByService {
  static constexpr std::string_view kName = "dns-service";
  static std::string Of(const EndpointSlice& slice) {
    const auto label = slice.metadata.labels.find(kServiceName);
    if (label == slice.metadata.labels.end()) return "";
    return slice.metadata.namespace_ + "/" + label->second;
  }
};

struct ByClusterIp {
  static constexpr std::string_view kName = "dns-ip";
  static List<std::string> Of(const core::v1::Service& service) {
    List<std::string> ips = service.spec.clusterIPs;
    if (ips.empty()) ips.push_back(service.spec.clusterIP);
    erase(ips, "None");
    return ips;
  }
};

struct ByEndpointIp {
  static constexpr std::string_view kName = "dns-ip";
  static List<std::string> Of(const EndpointSlice& slice) {
    List<std::string> ips;
    // The label keeps the index small: endpoints of other Services have no reverse names.
    if (slice.metadata.labels.find(kHeadless) == slice.metadata.labels.end()) return ips;
    for (const discovery::v1::Endpoint& endpoint : slice.endpoints) {
      ips.insert(ips.end(), endpoint.addresses.begin(), endpoint.addresses.end());
    }
    return ips;
  }
};

class CacheSource final : public Source {
 public:
  explicit CacheSource(Cache& cache)
      : namespace_informer_(cache.InformerOf<Namespace>()),
        service_informer_(cache.InformerOf<core::v1::Service>()),
        slice_informer_(cache.InformerOf<EndpointSlice>()),
        namespaces_(cache.ListerOf<Namespace>()),
        services_(cache.ListerOf<core::v1::Service>()),
        slices_(cache.IndexOf<EndpointSlice, ByService>()),
        services_by_ip_(cache.IndexOf<core::v1::Service, ByClusterIp>()),
        slices_by_ip_(cache.IndexOf<EndpointSlice, ByEndpointIp>()) {}

  bool Complete() const override {
    return namespace_informer_.HasSynced() && service_informer_.HasSynced() &&
           slice_informer_.HasSynced();
  }
  bool HasNamespace(const std::string& ns) const override {
    return namespaces_.Get({"", ns}) != nullptr;
  }
  ServicePtr Service(const std::string& ns, const std::string& name) const override {
    return services_.Get({ns, name});
  }
  std::vector<SlicePtr> Slices(const std::string& ns, const std::string& service) const override {
    return slices_.Find(ns + "/" + service);
  }
  std::vector<ServicePtr> ServicesAt(const std::string& ip) const override {
    return services_by_ip_.Find(ip);
  }
  std::vector<SlicePtr> SlicesAt(const std::string& ip) const override {
    return slices_by_ip_.Find(ip);
  }

 private:
  const Informer<Namespace> namespace_informer_;
  const Informer<core::v1::Service> service_informer_;
  const Informer<EndpointSlice> slice_informer_;
  const Lister<Namespace> namespaces_;
  const Lister<core::v1::Service> services_;
  const Index<EndpointSlice, ByService> slices_;
  const Index<core::v1::Service, ByClusterIp> services_by_ip_;
  const Index<EndpointSlice, ByEndpointIp> slices_by_ip_;
};

}  // namespace

std::unique_ptr<Source> MakeCacheSource(Cache& cache) {
  return std::make_unique<CacheSource>(cache);
}

}  // namespace cox::dns
