// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace cox::apiserver {
namespace {

NodeObjectRef Pod(std::string name) { return {NodeObject::kPod, "ns", std::move(name)}; }
NodeObjectRef Secret(std::string name) { return {NodeObject::kSecret, "ns", std::move(name)}; }
NodeObjectRef Claim(std::string name) { return {NodeObject::kClaim, "ns", std::move(name)}; }

TEST(NodeGraph, NodeReachesItsPodsAndTheirReferences) {
  NodeGraph graph;
  graph.Put(Pod("web"), "n1", {Secret("tls"), Claim("data")});
  EXPECT_TRUE(graph.Reaches("n1", NodeObject::kPod, "ns", "web"));
  EXPECT_TRUE(graph.Reaches("n1", NodeObject::kSecret, "ns", "tls"));
  EXPECT_TRUE(graph.Reaches("n1", NodeObject::kClaim, "ns", "data"));
  const struct {
    std::string_view node, ns, name;
    NodeObject type;
  } kStrangers[] = {
      {"n2", "ns", "tls", NodeObject::kSecret},  {"n1", "other", "tls", NodeObject::kSecret},
      {"n1", "ns", "else", NodeObject::kSecret}, {"n1", "ns", "tls", NodeObject::kConfigMap},
      {"n2", "ns", "web", NodeObject::kPod},     {"n1", "ns", "other", NodeObject::kPod},
      {"n1", "", "data", NodeObject::kVolume},   {"", "ns", "tls", NodeObject::kSecret},
      {"n1", "n", "s/tls", NodeObject::kSecret},
  };
  for (const auto& s : kStrangers) {
    EXPECT_FALSE(graph.Reaches(s.node, s.type, s.ns, s.name)) << s.node << " " << s.name;
  }
}

TEST(NodeGraph, VolumeIsReachedThroughClaimInAnyOrder) {
  for (const bool volume_first : {true, false}) {
    NodeGraph graph;
    auto volume = [&] {
      graph.PutVolume("v", Claim("data"), {{NodeObject::kSecret, "storage", "key"}});
    };
    if (volume_first) volume();
    graph.Put(Pod("web"), "n1", {Claim("data")});
    if (!volume_first) volume();
    EXPECT_TRUE(graph.Reaches("n1", NodeObject::kVolume, "", "v"));
    EXPECT_TRUE(graph.Reaches("n1", NodeObject::kSecret, "storage", "key"));
    EXPECT_FALSE(graph.Reaches("n2", NodeObject::kVolume, "", "v"));
    graph.Put(Pod("web"), "n2", {Claim("data")});
    EXPECT_FALSE(graph.Reaches("n1", NodeObject::kVolume, "", "v"));
    EXPECT_TRUE(graph.Reaches("n2", NodeObject::kSecret, "storage", "key"));
    graph.PutVolume("v", Claim("other"), {});
    EXPECT_FALSE(graph.Reaches("n2", NodeObject::kVolume, "", "v"));
    EXPECT_FALSE(graph.Reaches("n2", NodeObject::kSecret, "storage", "key"));
  }
}

TEST(NodeGraph, SharedReferenceStaysUntilLastPodIsRemoved) {
  NodeGraph graph;
  graph.Put(Pod("a"), "n1", {Secret("s")});
  graph.Put(Pod("b"), "n1", {Secret("s"), Secret("s")});
  graph.Remove(Pod("a"));
  EXPECT_TRUE(graph.Reaches("n1", NodeObject::kSecret, "ns", "s"));
  graph.Remove(Pod("b"));
  EXPECT_FALSE(graph.Reaches("n1", NodeObject::kSecret, "ns", "s"));
  graph.Remove(Pod("b"));  // again
}

TEST(NodeGraph, RemoveUnlessRemovesOnlyObjectsOfType) {
  NodeGraph graph;
  graph.Put(Pod("a"), "n1", {Secret("a")});
  graph.Put(Pod("b"), "n1", {Secret("b")});
  graph.Put({NodeObject::kSlice, "", "slice"}, "n1", {});
  graph.PutVolume("v", Claim("c"), {});
  graph.RemoveUnless(NodeObject::kPod, [](std::string_view ns, std::string_view name) {
    return ns == "ns" && name == "b";
  });
  EXPECT_FALSE(graph.Reaches("n1", NodeObject::kSecret, "ns", "a"));
  EXPECT_TRUE(graph.Reaches("n1", NodeObject::kSecret, "ns", "b"));
  EXPECT_TRUE(graph.Reaches("n1", NodeObject::kSlice, "", "slice"));
  graph.RemoveUnless(NodeObject::kVolume, [](auto, auto) { return false; });
  EXPECT_EQ(graph.sizes().volumes, 0u);
}

// After any sequence of changes, the graph contains exactly the references of the existing Pods.
TEST(NodeGraph, MatchesReferenceModelAfterManyChanges) {
  NodeGraph graph;
  std::map<std::string, std::pair<std::string, std::vector<NodeObjectRef>>> pods;
  std::map<std::string, std::string> volumes;  // to claims
  std::mt19937 random(7);
  auto pick = [&](const char* prefix, unsigned n) { return prefix + std::to_string(random() % n); };
  for (int i = 0; i < 5'000; ++i) {
    const std::string pod = pick("p", 40), volume = pick("v", 8);
    switch (random() % 4) {
      case 0:
        graph.Remove(Pod(pod));
        pods.erase(pod);
        break;
      case 1: {
        const std::string claim = pick("c", 8);
        graph.PutVolume(volume, Claim(claim), {Secret("of-" + volume), Secret("shared")});
        volumes[volume] = claim;
        break;
      }
      case 2:
        if (random() % 4 == 0) {
          graph.Remove({NodeObject::kVolume, "", volume});
          volumes.erase(volume);
        }
        break;
      default: {
        std::vector<NodeObjectRef> refs = {Secret(pick("s", 10)), Claim(pick("c", 8))};
        const std::string node = pick("n", 5);
        graph.Put(Pod(pod), node, refs);
        pods[pod] = {node, refs};
      }
    }
  }
  std::set<std::string> want, got;
  auto note = [](std::set<std::string>& set, const std::string& node, const std::string& what) {
    set.insert(node + " " + what);
  };
  for (const auto& [pod, held] : pods) {
    note(want, held.first, "p" + pod);
    note(want, held.first, "s" + held.second[0].name);
    note(want, held.first, "c" + held.second[1].name);
    for (const auto& [volume, claim] : volumes) {
      if (claim != held.second[1].name) continue;
      for (const std::string& what : {"v" + volume, "sof-" + volume, std::string("sshared")}) {
        note(want, held.first, what);
      }
    }
  }
  auto ask = [&](const std::string& node, NodeObject type, char letter, const std::string& name) {
    const std::string_view ns = type == NodeObject::kVolume ? "" : "ns";
    if (graph.Reaches(node, type, ns, name)) note(got, node, letter + name);
  };
  for (int n = 0; n < 5; ++n) {
    const std::string node = "n" + std::to_string(n);
    for (int i = 0; i < 40; ++i) {
      const std::string number = std::to_string(i);
      ask(node, NodeObject::kPod, 'p', "p" + number);
      ask(node, NodeObject::kSecret, 's', "s" + number);
      ask(node, NodeObject::kSecret, 's', "of-v" + number);
      ask(node, NodeObject::kClaim, 'c', "c" + number);
      ask(node, NodeObject::kVolume, 'v', "v" + number);
    }
    ask(node, NodeObject::kSecret, 's', "shared");
  }
  EXPECT_EQ(got, want);
  EXPECT_FALSE(want.empty());
  for (const auto& [pod, held] : pods) graph.Remove(Pod(pod));
  for (const auto& [volume, claim] : volumes) graph.Remove({NodeObject::kVolume, "", volume});
  const NodeGraph::Sizes sizes = graph.sizes();
  EXPECT_EQ(sizes.holders + sizes.targets + sizes.volumes + sizes.nodes, 0u);
}

}  // namespace
}  // namespace cox::apiserver
