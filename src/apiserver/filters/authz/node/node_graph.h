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

namespace cox::apiserver {

// What a node may need of the API because of what runs there.
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

// An object by its name. `ns` is empty for those without a namespace.
struct NodeObjectRef {
  NodeObject type;
  std::string ns;
  std::string name;

  bool operator==(const NodeObjectRef&) const = default;
};

// Which objects belong to which nodes.
//
//   node n1 <- Pod ns/web -> Secret ns/tls, Claim ns/data
//                                           Volume v  -> Claim ns/data, Secret storage/key
//
// n1 reaches the Pod, its secret, its claim, the volume bound to the claim, and the volume's
// secret. Kept are only the ends that are asked for: for each object the nodes that hold it and how
// many Pods of each do, so that a Pod can go without a look at the others.
//
// Cost: a change costs the references of one Pod or volume; a question one search among the nodes
//   of an object, for secrets also of the volumes that use it. Memory: about 200 bytes for a Pod,
//   and 16 for each node of an object.
// Threads: all methods may be called concurrently; those who ask share a lock for the search.
class NodeGraph {
 public:
  NodeGraph() = default;
  NodeGraph(const NodeGraph&) = delete;
  NodeGraph& operator=(const NodeGraph&) = delete;

  // `holder` (a Pod, an attachment, a slice) is on `node` and needs `references`. Takes the place
  // of what was said about it before.
  void Put(const NodeObjectRef& holder, std::string_view node,
           const std::vector<NodeObjectRef>& references);
  // The volume is bound to `claim`; nodes that use it need `secrets`. Likewise.
  void PutVolume(const std::string& name, const NodeObjectRef& claim,
                 const std::vector<NodeObjectRef>& secrets);
  // A holder or a volume is gone. Fine if it was not there.
  void Remove(const NodeObjectRef& object);
  // Removes holders and volumes of the type that `keep(ns, name)` does not want.
  void RemoveUnless(NodeObject type,
                    const std::function<bool(std::string_view, std::string_view)>& keep);

  bool Reaches(std::string_view node, NodeObject type, std::string_view ns,
               std::string_view name) const;

  struct Sizes {
    size_t holders = 0, targets = 0, volumes = 0, nodes = 0;
  };
  Sizes sizes() const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <class T>
  using TextMap = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  // How many holders are on a node. Nodes are known by the address of their place in nodes_, which
  // does not move.
  using Node = std::pair<const std::string, size_t>;
  struct Volume;
  // What somebody refers to.
  struct Target {
    size_t uses = 0;                                      // by holders and volumes
    std::vector<std::pair<const Node*, uint32_t>> nodes;  // by address: how many holders there
    std::vector<const Volume*> volumes;                   // that need this secret
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
