// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_feed.h"

#include "api/core/v1.h"
#include "api/resource/v1.h"
#include "api/storage/v1.h"
#include "apiserver/filters/authz/node/references.h"
#include "apiserver/registry/served/cache_follower.h"

namespace cox::apiserver {
namespace {

// A resource whose objects relate to nodes.
class Source final : public CacheFollower::Sink {
 public:
  Source(const Registry& registry, const KindInfo& kind, NodeObject type, NodeGraph& graph)
      : store_(registry.Hub(kind).store()), type_(type), graph_(graph), follower_(store_, *this) {}

  Status CatchUp(const std::function<void()>& wake) { return follower_.CatchUp(wake).status(); }

  void Begin(const storage::Snapshot& now) override {
    graph_.RemoveUnless(type_, [&](std::string_view ns, std::string_view name) {
      return now.Find(store_.Key(ns, name)) != nullptr;
    });
  }

  void Put(const storage::Entry& entry) override {
    const NodeObjectRef self = RefOf(entry.key());
    // Indexed selector fields need no decoding; unscheduled Pods are skipped by them.
    const std::string_view node = entry.fields()("spec.nodeName").value_or("");
    if (type_ == NodeObject::kPod && node.empty()) return graph_.Remove(self);
    if (type_ == NodeObject::kSlice) return PutOn(self, node, {});
    const Result<Object> object = store_.Decode(entry.stored(), entry.revision());
    if (!object.ok()) return graph_.Remove(self);  // an undecodable object grants nothing
    if (const auto* pod = object->As<core::v1::Pod>()) {
      return PutOn(self, pod->spec.nodeName, ReferencesOf(*pod));
    }
    if (const auto* attachment = object->As<cox::storage::v1::VolumeAttachment>()) {
      return PutOn(self, attachment->spec.nodeName, {});
    }
    const auto& volume = *object->As<core::v1::PersistentVolume>();
    if (!volume.spec.claimRef) return graph_.Remove(self);
    const core::v1::ObjectReference& claim = *volume.spec.claimRef;
    graph_.PutVolume(self.name, {NodeObject::kClaim, claim.namespace_, claim.name},
                     SecretsOf(volume));
  }

  void Forget(std::string_view key) override { graph_.Remove(RefOf(key)); }

 private:
  void PutOn(const NodeObjectRef& self, std::string_view node,
             const std::vector<NodeObjectRef>& references) {
    if (node.empty()) return graph_.Remove(self);
    graph_.Put(self, node, references);
  }

  // Parses "/registry/pods/ns/name" and "/registry/persistentvolumes/name".
  NodeObjectRef RefOf(std::string_view key) const {
    const std::string_view rest = key.substr(store_.root_prefix().size());
    const size_t slash = rest.find('/');
    if (slash == rest.npos) return {type_, {}, std::string(rest)};
    return {type_, std::string(rest.substr(0, slash)), std::string(rest.substr(slash + 1))};
  }

  const ResourceStore& store_;
  const NodeObject type_;
  NodeGraph& graph_;
  CacheFollower follower_;
};

class Feed {
 public:
  Feed(Context& ctx, const Registry& registry, NodeGraph& graph)
      : ctx_(ctx),
        pods_(registry, core::v1::Pod::kKind, NodeObject::kPod, graph),
        volumes_(registry, core::v1::PersistentVolume::kKind, NodeObject::kVolume, graph),
        attachments_(registry, cox::storage::v1::VolumeAttachment::kKind, NodeObject::kAttachment,
                     graph),
        slices_(registry, resource::v1::ResourceSlice::kKind, NodeObject::kSlice, graph) {}

  void Run() {
    RunCacheFollowers(ctx_, changed_, "Nodes", [this] { return CatchUp(); });
  }

 private:
  // A failing source does not block the others, because each only adds permissions.
  Status CatchUp() {
    Status worst;
    for (Source* source : {&volumes_, &attachments_, &slices_, &pods_}) {
      Status status = source->CatchUp([this] { changed_.Notify(); });
      if (!status.ok()) worst = std::move(status);
    }
    return worst;
  }

  Context& ctx_;
  Notification changed_;
  // Last members: their watchers use changed_ until they are destroyed.
  Source pods_, volumes_, attachments_, slices_;
};

}  // namespace

void RunNodeFeed(Context& ctx, const Registry& registry, NodeGraph& graph) {
  if (!registry.WaitReady(ctx).ok()) return;  // only at shutdown
  Feed(ctx, registry, graph).Run();
}

}  // namespace cox::apiserver
