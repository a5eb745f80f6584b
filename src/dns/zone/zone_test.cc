// SPDX-License-Identifier: Apache-2.0
#include "dns/zone/zone.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cox::dns {
namespace {

using core::v1::Service;
using discovery::v1::EndpointSlice;

class Objects final : public Source {
 public:
  bool Complete() const override { return complete; }
  bool HasNamespace(const std::string& ns) const override { return ns == "default"; }
  ServicePtr Service(const std::string& ns, const std::string& name) const override {
    for (const ServicePtr& service : services) {
      if (service->metadata.namespace_ == ns && service->metadata.name == name) return service;
    }
    return nullptr;
  }
  std::vector<SlicePtr> Slices(const std::string&, const std::string& service) const override {
    std::vector<SlicePtr> out;
    for (const SlicePtr& slice : slices) {
      if (slice->metadata.labels.find("kubernetes.io/service-name")->second == service) {
        out.push_back(slice);
      }
    }
    return out;
  }
  std::vector<ServicePtr> ServicesAt(const std::string& ip) const override {
    std::vector<ServicePtr> out;
    for (const ServicePtr& service : services) {
      const auto& ips = service->spec.clusterIPs;
      if (std::find(ips.begin(), ips.end(), ip) != ips.end()) out.push_back(service);
    }
    return out;
  }
  std::vector<SlicePtr> SlicesAt(const std::string& ip) const override {
    std::vector<SlicePtr> out;
    for (const SlicePtr& slice : slices) {
      for (const auto& endpoint : slice->endpoints) {
        if (endpoint.addresses.front() == ip) out.push_back(slice);
      }
    }
    return out;
  }

  core::v1::Service& Add(const std::string& name, std::vector<std::string> ips) {
    auto service = std::make_shared<core::v1::Service>();
    service->metadata.namespace_ = "default";
    service->metadata.name = name;
    service->spec.clusterIP = ips.empty() ? "" : ips[0];
    service->spec.clusterIPs = std::move(ips);
    services.push_back(service);
    return *service;
  }

  bool complete = true;
  std::vector<ServicePtr> services;
  std::vector<SlicePtr> slices;
};

std::string Text(const Record& record) {
  const auto number = [&](size_t at) {
    return std::to_string(static_cast<uint8_t>(record.data[at]) << 8 |
                          static_cast<uint8_t>(record.data[at + 1]));
  };
  char ip[INET6_ADDRSTRLEN] = "";
  switch (record.type) {
    case kA:
      return std::string("A ") + inet_ntop(AF_INET, record.data.data(), ip, sizeof ip);
    case kAaaa:
      return std::string("AAAA ") + inet_ntop(AF_INET6, record.data.data(), ip, sizeof ip);
    case kSrv:
      return "SRV " + number(0) + " " + number(2) + " " + number(4) + " " + record.target;
    case kPtr:
      return "PTR " + record.target;
    case kCname:
      return "CNAME " + record.target;
    case kNs:
      return "NS " + record.target;
    case kSoa:
      return "SOA";
    case kTxt:
      return "TXT " + record.data.substr(1);
    default:
      return "?";
  }
}

// "not ours", "SERVFAIL", "NXDOMAIN", "NODATA", or the sorted records.
std::string Ask(const Zone& zone, const std::string& name, uint16_t type) {
  const auto answer = zone.Resolve(name, type);
  if (!answer) return "not ours";
  if (answer->rcode == Rcode::kServFail) return "SERVFAIL";
  if (answer->answers.empty()) {
    const bool soa = answer->authority.size() == 1 && answer->authority[0].type == kSoa;
    return std::string(answer->rcode == Rcode::kNxDomain ? "NXDOMAIN" : "NODATA") +
           (soa ? "" : " without SOA");
  }
  std::vector<std::string> texts;
  for (const Record& record : answer->answers) texts.push_back(Text(record));
  std::sort(texts.begin(), texts.end());
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

class ZoneTest : public testing::Test {
 protected:
  void SetUp() override {
    Service& web = objects_.Add("web", {"10.96.0.10", "fd00:96::10"});
    web.spec.ports.push_back({.name = "http", .protocol = "TCP", .port = 80});
    web.spec.ports.push_back({.name = "dns", .protocol = "UDP", .port = 53});
    objects_.Add("db", {"None"});
    objects_.Add("empty", {"None"});
    Service& out = objects_.Add("out", {});
    out.spec.type = "ExternalName";
    out.spec.externalName = "Example.com.";
    auto slice = std::make_shared<EndpointSlice>();
    slice->metadata.namespace_ = "default";
    slice->metadata.labels = {{"kubernetes.io/service-name", "db"}};
    slice->ports.push_back({.name = "sql", .protocol = "TCP", .port = 5432});
    slice->endpoints.resize(3);
    slice->endpoints[0].addresses = {"10.0.0.1"};
    slice->endpoints[0].hostname = "db-0";
    slice->endpoints[1].addresses = {"10.0.0.2"};
    slice->endpoints[2].addresses = {"10.0.0.3"};
    slice->endpoints[2].conditions.ready = false;
    objects_.slices.push_back(slice);
  }
  Objects objects_;
  const Zone zone_{{.server_ip = "10.96.0.53"}, objects_};
};

TEST_F(ZoneTest, ResolvesNames) {
  const struct {
    const char* name;
    uint16_t type;
    const char* expected;
  } kCases[] = {
      {"web.default.svc.cluster.local", kA, "A 10.96.0.10"},
      {"web.default.svc.cluster.local", kAaaa, "AAAA fd00:96::10"},
      {"web.default.svc.cluster.local", kTxt, "NODATA"},
      {"web.default.svc.cluster.local", kSrv,
       "SRV 0 25 53 web.default.svc.cluster.local, SRV 0 25 80 web.default.svc.cluster.local"},
      {"_http._tcp.web.default.svc.cluster.local", kSrv,
       "SRV 0 50 80 web.default.svc.cluster.local"},
      {"_http._udp.web.default.svc.cluster.local", kSrv, "NXDOMAIN"},
      {"_http._tcp.web.default.svc.cluster.local", kA, "A 10.96.0.10"},
      {"_tcp.web.default.svc.cluster.local", kSrv, "NODATA"},
      {"x.web.default.svc.cluster.local", kA, "NXDOMAIN"},
      {"gone.default.svc.cluster.local", kA, "NXDOMAIN"},
      {"web.other.svc.cluster.local", kA, "NXDOMAIN"},
      {"db.default.svc.cluster.local", kA, "A 10.0.0.1, A 10.0.0.2"},
      {"db.default.svc.cluster.local", kAaaa, "NODATA"},
      {"db-0.db.default.svc.cluster.local", kA, "A 10.0.0.1"},
      {"10-0-0-2.db.default.svc.cluster.local", kA, "A 10.0.0.2"},
      {"10-0-0-3.db.default.svc.cluster.local", kA, "NXDOMAIN"},
      {"_sql._tcp.db.default.svc.cluster.local", kSrv,
       "SRV 0 50 5432 10-0-0-2.db.default.svc.cluster.local, "
       "SRV 0 50 5432 db-0.db.default.svc.cluster.local"},
      {"db-0.db.default.svc.cluster.local", kSrv,
       "SRV 0 100 5432 db-0.db.default.svc.cluster.local"},
      {"_sql._tcp.db.default.svc.cluster.local", kA, "A 10.0.0.1, A 10.0.0.2"},
      {"empty.default.svc.cluster.local", kA, "NXDOMAIN"},
      {"empty.default.svc.cluster.local", kSrv, "NXDOMAIN"},
      {"out.default.svc.cluster.local", kA, "CNAME example.com"},
      {"out.default.svc.cluster.local", kCname, "CNAME example.com"},
      {"10-0-0-9.default.pod.cluster.local", kA, "A 10.0.0.9"},
      {"fd00--9.default.pod.cluster.local", kAaaa, "AAAA fd00::9"},
      {"10-0-0-9.default.pod.cluster.local", kAaaa, "NODATA"},
      {"10-0-0-9.other.pod.cluster.local", kA, "NXDOMAIN"},
      {"nonsense.default.pod.cluster.local", kA, "NXDOMAIN"},
      {"dns-version.cluster.local", kTxt, "TXT 1.1.0"},
      {"cluster.local", kSoa, "SOA"},
      {"cluster.local", kNs, "NS ns.dns.cluster.local"},
      {"cluster.local", kA, "NODATA"},
      {"ns.dns.cluster.local", kA, "A 10.96.0.53"},
      {"svc.cluster.local", kA, "NODATA"},
      {"default.svc.cluster.local", kA, "NODATA"},
      {"other.svc.cluster.local", kA, "NXDOMAIN"},
      {"default.pod.cluster.local", kA, "NODATA"},
      {"x.cluster.local", kA, "NXDOMAIN"},
      {"10.0.96.10.in-addr.arpa", kPtr, "PTR web.default.svc.cluster.local"},
      {"10.0.96.10.in-addr.arpa", kA, "NODATA"},
      {"1.0.0.10.in-addr.arpa", kPtr, "PTR db-0.db.default.svc.cluster.local"},
      {"2.0.0.10.in-addr.arpa", kPtr, "PTR 10-0-0-2.db.default.svc.cluster.local"},
      {"9.9.9.9.in-addr.arpa", kPtr, "not ours"},
      {"256.0.0.10.in-addr.arpa", kPtr, "not ours"},
      {"0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.9.0.0.0.0.d.f.ip6.arpa", kPtr,
       "PTR web.default.svc.cluster.local"},
      {"example.com", kA, "not ours"},
      {"xcluster.local", kA, "not ours"},
      {"", kA, "not ours"},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Ask(zone_, test.name, test.type), test.expected) << test.name << " " << test.type;
  }
}

TEST_F(ZoneTest, SrvAnswersContainTargetAddresses) {
  const auto answer = zone_.Resolve("_sql._tcp.db.default.svc.cluster.local", kSrv);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->additional.size(), 2);
  EXPECT_TRUE(answer->authoritative);
}

TEST_F(ZoneTest, MissingNamesAreServfailUntilSourceIsComplete) {
  objects_.complete = false;
  EXPECT_EQ(Ask(zone_, "gone.default.svc.cluster.local", kA), "SERVFAIL");
  EXPECT_EQ(Ask(zone_, "web.default.svc.cluster.local", kA), "A 10.96.0.10");
}

}  // namespace
}  // namespace cox::dns
