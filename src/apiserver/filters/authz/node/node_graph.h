// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/string_hash.h"

namespace cox::apiserver {

// The objects that a node may need because of its Pods.
enum class NodeObject : uint8_t {
  kPod,
  kSecret,
  kConfigMap,
  kServiceAccount,
  kClaim,   // PersistentVolumeClaim
  kVolume,  // PersistentVolume
  kResourceClaim,
  kAttachment,  // VolumeAttachment
  kSlice,       // ResourceSlice
};

// A reference to an object. `ns` is empty for cluster-scoped objects.
struct NodeObjectRef {
  NodeObject type;
  std::string ns;
  std::string name;

  bool operator==(const NodeObjectRef&) const = default;
};

// Which objects are related to which nodes.
//
//   node n1 <- Pod ns/web -> Secret ns/tls, Claim ns/data
//                                           Volume v  -> Claim ns/data, Secret storage/key
//
// n1 reaches the Pod, its secret, its claim, the volume bound to the claim, and the volume's
// secret. Only the end points are stored: for each object its nodes, with the number of Pods per
// node, so that removing a Pod needs no scan of the others.
//
// Cost: An update costs the references of one Pod or volume. A query is one search among the nodes
// of an object, for secrets also of the volumes that use it. Memory: about 200 bytes per Pod, and
// 16 per node of an object.
// Threads: All methods may be called concurrently; queries share a lock during the search.
class NodeGraph {
 public:
  NodeGraph() = default;
  NodeGraph(const NodeGraph&) = delete;
  NodeGraph& operator=(const NodeGraph&) = delete;

  // Adds or replaces `holder` (a Pod, an attachment, a slice), which is on `node` and needs
  // `references`.
  void Put(const NodeObjectRef& holder, std::string_view node,
           const std::vector<NodeObjectRef>& references);
  // Adds or replaces a volume that is bound to `claim`; nodes that use it need `secrets`.
  void PutVolume(const std::string& name, const NodeObjectRef& claim,
                 const std::vector<NodeObjectRef>& secrets);
  // Removes a holder or a volume, if it exists.
  void Remove(const NodeObjectRef& object);
  // Removes holders and volumes of the type for which `keep(ns, name)` is false.
  void RemoveUnless(NodeObject type,
                    const std::function<bool(std::string_view, std::string_view)>& keep);

  bool Reaches(std::string_view node, NodeObject type, std::string_view ns,
               std::string_view name) const;

  struct Sizes {
    size_t holders = 0, targets = 0, volumes = 0, nodes = 0;
  };
  Sizes sizes() const;

 private:
  template <class T>
  using TextMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

  // A node and its number of holders. Nodes are identified by their address in nodes_, which is
  // stable.
  using Node = std::pair<const std::string, size_t>;
  struct Volume;
  // An object that holders or volumes refer to.
  struct Target {
    size_t uses = 0;                                      // by holders and volumes
    std::vector<std::pair<const Node*, uint32_t>> nodes;  // by address: number of holders
    std::vector<const Volume*> volumes;                   // volumes that need this secret
  };
  using TargetEntry = std::pair<const std::string, Target>;
  struct Holder {
    Node* node;
    std::vector<TargetEntry*> targets;
  };
  struct Volume {
    TargetEntry* claim;
    std::vector<TargetEntry*> secrets;
  };

  static std::string KeyOf(NodeObject type, std::string_view ns, std::string_view name);
  static bool IsOn(const Target& target, const Node* node);
  TargetEntry* Use(const NodeObjectRef& reference) COX_REQUIRES(mu_);
  void Release(TargetEntry* target) COX_REQUIRES(mu_);
  void RemoveHolder(std::string_view key) COX_REQUIRES(mu_);
  void RemoveVolume(std::string_view key) COX_REQUIRES(mu_);

  mutable SharedMutex mu_;
  TextMap<size_t> nodes_ COX_GUARDED_BY(mu_);
  TextMap<Target> targets_ COX_GUARDED_BY(mu_);
  TextMap<Holder> holders_ COX_GUARDED_BY(mu_);
  TextMap<Volume> volumes_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver
