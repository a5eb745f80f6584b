// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpointslice_controller.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "api/discovery/v1.h"
#include "api/events/v1.h"
#include "controllers/network/endpointslice/topology/topology_cache.h"
#include "coxswain/work_queue.h"
#include "object/codec/json/json.h"
#include "service_fixture.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;
using discovery::v1::EndpointSlice;
using testing::SizeIs;

class EndpointSliceTest : public ServiceTest {
 protected:
  // Waits until `holds` is true for all slices together.
  List<EndpointSlice> Slices(const std::function<bool(const List<EndpointSlice>&)>& holds) {
    auto informer = manager->cache().InformerOf<EndpointSlice>();
    const auto read = [&] {
      List<EndpointSlice> slices;
      for (const auto& slice : manager->cache().ListerOf<EndpointSlice>().List("default")) {
        slices.push_back(*slice);
      }
      return slices;
    };
    const Status held =
        testkit::WaitForCache(*ctx, informer.shared(), [&] { return holds(read()); });
    List<EndpointSlice> slices = read();
    EXPECT_TRUE(held.ok()) << held.ToString() << testing::PrintToString(TextsOf(slices));
    return slices;
  }
  static std::vector<std::string> TextsOf(const List<EndpointSlice>& slices) {
    std::vector<std::string> texts;
    for (const EndpointSlice& slice : slices) texts.push_back(json::Write(json::ToValue(slice)));
    return texts;
  }
  double SuccessfulReconciles() const {
    return Metric("controller_runtime_reconcile_total{controller=\"endpointslice-controller\"",
                  "result=\"success\"");
  }
  static size_t Count(const List<EndpointSlice>& slices, bool ready) {
    size_t count = 0;
    for (const EndpointSlice& slice : slices) {
      for (const auto& endpoint : slice.endpoints) count += endpoint.conditions.ready == ready;
    }
    return count;
  }
};

TEST_F(EndpointSliceTest, SlicesFollowPods) {
  CreateNode("n1", "zone-a");
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  auto slices = Slices([](const auto& all) { return Count(all, true) == 1; });
  ASSERT_THAT(slices, SizeIs(1));
  const EndpointSlice& slice = slices[0];
  EXPECT_EQ(*slice.metadata.labels.Get("kubernetes.io/service-name"), "web");
  EXPECT_EQ(slice.addressType, "IPv4");
  ASSERT_THAT(slice.ports, SizeIs(1));
  EXPECT_EQ(slice.ports[0].port, 8080);
  EXPECT_EQ(slice.endpoints[0].zone, "zone-a");
  EXPECT_EQ(slice.endpoints[0].nodeName, "n1");
  EXPECT_EQ(slice.endpoints[0].targetRef->name, "web-0");
  EXPECT_TRUE(
      slice.metadata.annotations.contains("endpoints.kubernetes.io/last-change-trigger-time"));
  EXPECT_TRUE(slice.metadata.name.starts_with("web-"));
  EXPECT_EQ(slice.metadata.ownerReferences.at(0).kind, "Service");

  CreatePod("web-1", "10.0.0.2", true);
  slices = Slices([](const auto& all) { return Count(all, true) == 2; });
  EXPECT_THAT(slices, SizeIs(1));  // the existing slice was filled
  AwaitMetric("endpoint_slice_controller_endpoints_desired ", "", 2);
  AwaitMetric("endpoint_slice_controller_num_endpoint_slices ", "", 1);
  EXPECT_EQ(Metric("endpoint_slice_controller_endpoints_added_per_sync_sum ", ""), 2);
  SetReady("web-1", false);
  Slices([](const auto& all) { return Count(all, true) == 1 && Count(all, false) == 1; });
  Relabel("web-1", "other");
  Slices([](const auto& all) { return Count(all, true) + Count(all, false) == 1; });
  DeleteNow("web-0");
  slices = Slices([](const auto& all) { return Count(all, true) + Count(all, false) == 0; });
  EXPECT_THAT(slices, SizeIs(1));  // the placeholder
  AwaitMetric("endpoint_slice_controller_endpoints_desired ", "", 0);
  EXPECT_EQ(Metric("endpoint_slice_controller_endpoints_removed_per_sync_sum ", ""), 2);
  EXPECT_TRUE(client().Delete<Service>(*ctx, {"default", "web"}).ok());
  AwaitMetric("endpoint_slice_controller_num_endpoint_slices ", "", 0);
}

TEST_F(EndpointSliceTest, AtMostHundredEndpointsPerSlice) {
  CreateNode("n1", "");
  CreateService("web");
  for (int i = 0; i < 150; ++i) {
    CreatePod("web-" + std::to_string(i), "10.0.1." + std::to_string(i), true);
  }
  Start({AddEndpointSliceController});
  const auto slices = Slices([](const auto& all) { return Count(all, true) == 150; });
  EXPECT_THAT(slices, SizeIs(2));
  for (const EndpointSlice& slice : slices) EXPECT_LE(slice.endpoints.size(), 100u);
}

TEST_F(EndpointSliceTest, ChangeOfAPodListsNoOtherPods) {
  CreateNode("n1", "");
  CreateService("web");
  for (int i = 0; i < 250; ++i) {
    CreatePod("web-" + std::to_string(i), "10.0.1." + std::to_string(i), true);
  }
  Start({AddEndpointSliceController});
  Slices([](const auto& all) { return Count(all, true) == 250; });
  // The first changes may come before the slices are remembered.
  SetReady("web-0", false);
  Slices([](const auto& all) { return Count(all, false) == 1; });
  const double before = Listed<Pod>();
  SetReady("web-7", false);
  Slices([](const auto& all) { return Count(all, false) == 2; });
  DeleteNow("web-8");
  Slices([](const auto& all) { return Count(all, true) == 247; });
  CreatePod("web-new", "10.0.2.1", true);
  Slices([](const auto& all) { return Count(all, true) == 248; });
  Relabel("web-9", "other");
  const auto slices = Slices([](const auto& all) { return Count(all, true) == 247; });
  EXPECT_EQ(Listed<Pod>(), before);
  AwaitMetric("endpoint_slice_controller_endpoints_desired ", "", 249);
  AwaitMetric("endpoint_slice_controller_num_endpoint_slices ", "",
              static_cast<double>(slices.size()));
  EXPECT_EQ(Metric("endpoint_slice_controller_desired_endpoint_slices ", ""), 3);
  // A slice that another client changes is repaired.
  EndpointSlice changed = slices[0];
  changed.endpoints.resize(changed.endpoints.size() - 1);
  ASSERT_TRUE(client().Update(*ctx, changed).ok());
  Slices([&](const auto& all) {
    return Count(all, true) + Count(all, false) == 249 &&
           std::any_of(all.begin(), all.end(), [&](const EndpointSlice& slice) {
             return slice.metadata.name == changed.metadata.name &&
                    slice.metadata.generation >= changed.metadata.generation + 2;
           });
  });
}

TEST_F(EndpointSliceTest, PodIsPublishedWhenItsNodeExists) {
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  Slices([](const auto& all) { return all.size() == 1; });
  CreateNode("n1", "zone-b");
  const auto slices = Slices([](const auto& all) { return Count(all, true) == 1; });
  EXPECT_EQ(slices[0].endpoints[0].zone, "zone-b");
}

TEST_F(EndpointSliceTest, ChangeOfAPodCausesOneReconcileAndOneWrite) {
  constexpr int kChanges = 10;
  CreateNode("n1", "");
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  late.emplace(client());
  Start({AddEndpointSliceController});
  const auto before = Slices([](const auto& all) { return Count(all, true) == 1; });
  ASSERT_THAT(before, SizeIs(1));
  // An event that arrives before the response to the write is not known to be an own write.
  late->Hold<EndpointSlice>();
  const double reconciles = SuccessfulReconciles();
  List<EndpointSlice> after;
  for (int i = 0; i < kChanges; ++i) {
    const bool ready = i % 2 == 1;
    SetReady("web-0", ready);
    after = Slices([&](const auto& all) { return Count(all, ready) == 1; });
  }
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_EQ(after[0].metadata.generation - before[0].metadata.generation, kChanges);
  // With a reconcile for each own write there would be two for each change. On a slow machine a
  // change of a Pod can cause a second one that writes nothing.
  EXPECT_LT(SuccessfulReconciles() - reconciles, 2 * kChanges);
  late->Resume();
}

TEST_F(EndpointSliceTest, ChangesOfOthersAreReverted) {
  CreateNode("n1", "");
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  const auto slices = Slices([](const auto& all) { return Count(all, true) == 1; });
  ASSERT_THAT(slices, SizeIs(1));
  const ObjectKey key = KeyOf(slices[0]);
  auto changed = slices[0];
  changed.endpoints.clear();
  auto written = client().Update(*ctx, changed);
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  const std::string other = written->metadata.resourceVersion;
  Slices([&](const auto& all) {
    return Count(all, true) == 1 && all[0].metadata.resourceVersion != other &&
           all[0].metadata.resourceVersion != slices[0].metadata.resourceVersion;
  });
  ASSERT_TRUE(client().Delete<EndpointSlice>(*ctx, key).ok());
  Slices(
      [&](const auto& all) { return Count(all, true) == 1 && all[0].metadata.name != key.name; });
}

TEST_F(EndpointSliceTest, SlicesOfOtherManagersAreNotChanged) {
  CreateNode("n1", "");
  Service external;
  external.metadata = {.name = "by-hand", .namespace_ = "default"};
  external.spec.ports = {{.name = "http", .protocol = "TCP", .port = 80}};
  Create(external);
  EndpointSlice mine;
  mine.metadata = {.name = "by-hand-1",
                   .namespace_ = "default",
                   .labels = {{"kubernetes.io/service-name", "by-hand"}}};
  mine.addressType = "IPv4";
  discovery::v1::Endpoint endpoint;
  endpoint.addresses = {"192.0.2.1"};
  mine.endpoints = {endpoint};
  Create(mine);
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  const auto slices =
      Slices([](const auto& all) { return all.size() == 2 && Count(all, true) == 1; });
  for (const EndpointSlice& slice : slices) {
    if (slice.metadata.name == "by-hand-1") {
      EXPECT_EQ(slice.metadata.generation, 1);
    }
  }
}

class TopologyHintsTest : public EndpointSliceTest {
 protected:
  // Nodes na, nb and nc in zones a, b and c with one CPU each, and `count` Pods on each of them.
  void CreateZones(int count) {
    for (const std::string zone : {"a", "b", "c"}) {
      CreateNode("n" + zone, zone);
      SetNode("n" + zone, true, "1");
      for (int i = 0; i < count; ++i) CreatePodIn(zone);
    }
  }
  void CreatePodIn(const std::string& zone) {
    const std::string number = std::to_string(++pods_);
    CreatePod("web-" + number, "10.0.0." + number, true, "n" + zone);
  }
  void Annotate(const std::string& annotations) {
    const auto stored = client().PatchObject<Service>(
        *ctx, {"default", "web"},
        Patch::Merge(R"({"metadata":{"annotations":)" + annotations + "}}"));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  // The zones of all hints, sorted; "-" for an endpoint without.
  static std::string HintsOf(const List<EndpointSlice>& slices) {
    std::string hints;
    for (const EndpointSlice& slice : slices) {
      for (const auto& endpoint : slice.endpoints) {
        hints += endpoint.hints.has_value() && !endpoint.hints->forZones.empty()
                     ? endpoint.hints->forZones.at(0).name
                     : "-";
      }
    }
    std::sort(hints.begin(), hints.end());
    return hints;
  }
  void AwaitHints(const std::string& hints) {
    Slices([&](const auto& slices) { return HintsOf(slices) == hints; });
  }
  void AwaitEvent(const std::string& type, const std::string& reason, const std::string& message) {
    const auto is_wanted = [&](const auto& event) {
      return event->type == type && event->reason == reason && event->note == message;
    };
    auto informer = manager->cache().InformerOf<events::v1::Event>();
    const auto lister = manager->cache().ListerOf<events::v1::Event>();
    const Status held = testkit::WaitForCache(*ctx, informer.shared(), [&] {
      const auto all = lister.List("default");
      return std::any_of(all.begin(), all.end(), is_wanted);
    });
    EXPECT_TRUE(held.ok()) << reason << ": " << message;
  }
  static constexpr const char* kAuto = R"({"service.kubernetes.io/topology-mode":"Auto"})";

 private:
  int pods_ = 0;
};

TEST_F(TopologyHintsTest, AnnotationAddsAndRemovesHints) {
  CreateZones(2);
  CreateService("web");
  Start({AddEndpointSliceController});
  AwaitHints("------");
  Annotate(kAuto);
  AwaitHints("aabbcc");
  AwaitEvent("Normal", "TopologyAwareHintsEnabled",
             "Topology Aware Hints has been enabled, addressType: IPv4");
  Annotate(R"({"service.kubernetes.io/topology-mode":"Disabled"})");
  AwaitHints("------");
  AwaitEvent("Warning", "TopologyAwareHintsDisabled",
             "Topology Aware Hints has been disabled, addressType: IPv4");
  Annotate(R"({"service.kubernetes.io/topology-mode":null,)"
           R"("service.kubernetes.io/topology-aware-hints":"auto"})");
  AwaitHints("aabbcc");
}

TEST_F(TopologyHintsTest, TooFewEndpointsRemoveHintsWithAnEvent) {
  CreateZones(1);
  CreateService("web");
  Annotate(kAuto);
  Start({AddEndpointSliceController});
  AwaitHints("abc");
  CreatePodIn("a");
  AwaitHints("----");
  AwaitEvent("Warning", "TopologyAwareHintsDisabled",
             "Unable to allocate minimum required endpoints to each zone without exceeding "
             "overload threshold (4 endpoints, 3 zones), addressType: IPv4");
  CreatePodIn("a");
  CreatePodIn("a");
  AwaitHints("aabbcc");  // endpoints of zone a serve b and c
}

TEST_F(TopologyHintsTest, HintsFollowTheCpuOfReadyNodes) {
  CreateZones(2);
  CreateService("web");
  Annotate(kAuto);
  Start({AddEndpointSliceController});
  AwaitHints("aabbcc");
  SetNode("na", true, "4");  // zone a has two thirds of the CPU
  AwaitHints("aaaabc");
  SetNode("nb", false, "1");  // the zone has no ready nodes
  AwaitHints("aaaacc");
  SetNode("nc", true, "");
  AwaitHints("------");
  AwaitEvent("Warning", "TopologyAwareHintsDisabled",
             "Insufficient Node information: allocatable CPU or zone not specified on one or more "
             "nodes, addressType: IPv4");
  SetNode("nc", false, "1");  // only one zone has ready nodes
  SetNode("na", true, "1");
  SetNode("nb", true, "1");
  SetNode("nc", true, "1");
  AwaitHints("aabbcc");
}

TEST_F(TopologyHintsTest, ServicesThatAreOutdatedWhenTheSourceStartsAreRequeued) {
  CreateZones(0);
  SetNode("na", true, "4");
  Start({});
  const auto topology = std::make_shared<TopologyCache>(manager->cache());
  ASSERT_EQ(topology->cpus(*ctx)->total, 6'000);
  const ZoneHints before{.endpoints = 6, .by_zone = {{"a", 2}, {"b", 2}, {"c", 2}}};
  bool are_outdated = false;
  topology->Store({"default", "web"}, {{"IPv4", before}}, are_outdated);
  EXPECT_TRUE(are_outdated);
  const auto queue = WorkQueue::Create(cluster->clock(), {});
  Context stopped = ctx->WithTimeout({});
  EXPECT_TRUE(TopologyCache::RequeueOutdated(topology)(stopped, *queue).ok());
  EXPECT_EQ(queue->size(), 1U);
}

TEST_F(TopologyHintsTest, AnnotationHasPrecedenceOverTrafficDistribution) {
  CreateZones(0);
  for (int i = 0; i < 6; ++i) CreatePodIn("a");
  CreateService("web");
  const auto stored = client().PatchObject<Service>(
      *ctx, {"default", "web"},
      Patch::Merge(R"({"spec":{"trafficDistribution":"PreferSameZone"}})"));
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  Start({AddEndpointSliceController});
  AwaitHints("aaaaaa");
  Annotate(kAuto);
  AwaitHints("aabbcc");
  Annotate(R"({"service.kubernetes.io/topology-mode":null})");
  AwaitHints("aaaaaa");
}

TEST_F(TopologyHintsTest, RestartKeepsHintsAndWritesNothing) {
  CreateZones(0);
  for (int i = 0; i < 6; ++i) CreatePodIn("a");
  CreateService("web");
  Annotate(kAuto);
  Start({AddEndpointSliceController});
  AwaitHints("aabbcc");
  const auto before = client().List<EndpointSlice>(*ctx, {.ns = "default"});
  ASSERT_TRUE(before.ok());
  StopManager();
  Start({AddEndpointSliceController});
  // The controller reconciles "other" after its restart; "web" is before it in the initial list or
  // in the queue.
  CreateService("other");
  Slices([](const auto& slices) { return slices.size() == 2; });
  const auto after = client().Get<EndpointSlice>(*ctx, KeyOf(before->items.at(0)));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->metadata.resourceVersion, before->items.at(0).metadata.resourceVersion);
}

}  // namespace
}  // namespace cox::controllers
