// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rbac_feed.h"

#include <set>

#include "api/rbac/v1.h"
#include "apiserver/registry/served/cache_follower.h"

namespace cox::apiserver {
namespace {

template <class Binding>
RbacBindingPtr ToBinding(Binding& from) {
  auto binding = std::make_shared<RbacBinding>();
  binding->ns = from.metadata.namespace_;
  binding->name = from.metadata.name;
  binding->role = std::move(from.roleRef);
  binding->role_key =
      RbacRoleKey(binding->role.kind == "Role" ? binding->ns : "", binding->role.name);
  binding->subjects = std::move(from.subjects);
  return binding;
}

template <class Role>
void PutRole(RbacIndexBuilder& builder, Object& object) {
  auto& role = *object.As<Role>();
  builder.SetRole(RbacRoleKey(role.metadata.namespace_, role.metadata.name),
                  std::make_shared<const RbacRules>(std::move(role.rules)));
}

template <class Binding>
void PutBinding(RbacIndexBuilder& builder, const std::string& key, Object& object) {
  builder.SetBinding(key, ToBinding(*object.As<Binding>()));
}

// One of the four RBAC resources.
class Source final : public CacheFollower::Sink {
 public:
  Source(const Registry& registry, const KindInfo& kind, RbacIndexBuilder& builder)
      : store_(registry.Hub(kind).store()),
        is_binding_(kind.kind.ends_with("Binding")),
        builder_(builder),
        follower_(store_, *this) {}

  // True if something changed.
  Result<bool> CatchUp(const std::function<void()>& wake) { return follower_.CatchUp(wake); }

  void Begin(const storage::Snapshot& now) override {
    const std::set<std::string, std::less<>> known = known_;
    for (const std::string& key : known) {
      if (now.Find(key) == nullptr) Forget(key);
    }
  }

  void Put(const storage::Entry& entry) override {
    std::string key(entry.key());
    Result<Object> object = store_.Decode(entry.stored(), entry.revision());
    // An undecodable object grants nothing.
    if (!object.ok()) return Forget(key);
    using namespace rbac::v1;  // NOLINT: four names
    if (object->As<Role>() != nullptr) PutRole<Role>(builder_, *object);
    if (object->As<ClusterRole>() != nullptr) PutRole<ClusterRole>(builder_, *object);
    if (object->As<RoleBinding>() != nullptr) PutBinding<RoleBinding>(builder_, key, *object);
    if (object->As<ClusterRoleBinding>() != nullptr) {
      PutBinding<ClusterRoleBinding>(builder_, key, *object);
    }
    known_.insert(std::move(key));
  }

  void Forget(std::string_view key) override {
    const auto known = known_.find(key);
    if (known != known_.end()) known_.erase(known);
    if (is_binding_) return builder_.SetBinding(std::string(key), nullptr);
    // "/registry/roles/ns/name" and "/registry/clusterroles/name".
    const std::string_view rest = key.substr(store_.root_prefix().size());
    const size_t slash = rest.find('/');
    builder_.SetRole(slash == rest.npos
                         ? RbacRoleKey("", rest)
                         : RbacRoleKey(rest.substr(0, slash), rest.substr(slash + 1)),
                     nullptr);
  }

 private:
  const ResourceStore& store_;
  const bool is_binding_;
  RbacIndexBuilder& builder_;
  std::set<std::string, std::less<>> known_;
  CacheFollower follower_;
};

class Feed {
 public:
  Feed(Context& ctx, const Registry& registry, RbacAuthorizer& authorizer)
      : ctx_(ctx),
        authorizer_(authorizer),
        roles_(registry, rbac::v1::Role::kKind, builder_),
        cluster_roles_(registry, rbac::v1::ClusterRole::kKind, builder_),
        bindings_(registry, rbac::v1::RoleBinding::kKind, builder_),
        cluster_bindings_(registry, rbac::v1::ClusterRoleBinding::kKind, builder_) {}

  void Run() {
    RunCacheFollowers(ctx_, changed_, "Roles", [this] { return CatchUp(); });
  }

 private:
  Status CatchUp() {
    bool changed = false;
    for (Source* source : {&roles_, &cluster_roles_, &bindings_, &cluster_bindings_}) {
      COX_ASSIGN_OR_RETURN(const bool more, source->CatchUp([this] { changed_.Notify(); }));
      changed = changed || more;
    }
    // Publish only after all four have been read, because a partial policy is wrong.
    if (changed) authorizer_.Publish(builder_.Build());
    return {};
  }

  Context& ctx_;
  RbacAuthorizer& authorizer_;
  RbacIndexBuilder builder_;
  Notification changed_;
  // Last members: their watchers use changed_ until they are destroyed.
  Source roles_, cluster_roles_, bindings_, cluster_bindings_;
};

}  // namespace

void RunRbacFeed(Context& ctx, const Registry& registry, RbacAuthorizer& authorizer) {
  if (!registry.WaitReady(ctx).ok()) return;  // only at shutdown
  Feed(ctx, registry, authorizer).Run();
}

}  // namespace cox::apiserver
