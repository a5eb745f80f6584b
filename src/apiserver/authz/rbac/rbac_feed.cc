// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authz/rbac/rbac_feed.h"

#include <set>

#include "api/rbac/v1.h"
#include "base/doorbell.h"
#include "base/log.h"

namespace cox::apiserver {
namespace {

constexpr std::chrono::seconds kRetry{1};
// Nothing is expected to be missed; this is how long it would stay so.
constexpr std::chrono::minutes kLookAgain{10};
constexpr size_t kBatch = 256;

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

// One of the four resources.
class Source {
 public:
  Source(const Registry& registry, const KindInfo& kind)
      : store_(registry.Hub(kind).store()), is_binding_(kind.kind.ends_with("Binding")) {}

  // True if something changed.
  Result<bool> CatchUp(RbacIndexBuilder& builder, const std::function<void()>& wake) {
    bool changed = false;
    for (;;) {
      if (watcher_ == nullptr) {
        COX_RETURN_IF_ERROR(ReadAll(builder, wake));
        changed = true;
      }
      Result<storage::Watcher::Batch> batch = watcher_->Take(kBatch);
      if (!batch.ok()) {
        watcher_ = nullptr;  // too far behind, or the cache began anew: all is read again
        continue;
      }
      for (const storage::ChangePtr& change : batch->changes) {
        if (change->entry == nullptr) continue;
        changed = true;
        if (change->type == storage::ChangeType::kDeleted) {
          Forget(builder, std::string(change->entry->key()));
        } else {
          Put(builder, *change->entry);
        }
      }
      if (!batch->more) return changed;
    }
  }

 private:
  Status ReadAll(RbacIndexBuilder& builder, const std::function<void()>& wake) {
    const storage::SnapshotPtr now = store_.cache()->Current();
    if (now == nullptr) return Status::Unavailable("the cache is not filled yet");
    COX_ASSIGN_OR_RETURN(watcher_,
                         store_.cache()->Watch(store_.root_prefix(), now->revision(), wake));
    std::set<std::string> gone;
    gone.swap(known_);
    now->Visit(store_.root_prefix(), {}, [&](const storage::EntryPtr& entry) {
      gone.erase(std::string(entry->key()));
      Put(builder, *entry);
      return true;
    });
    for (const std::string& key : gone) Forget(builder, key);
    return {};
  }

  void Put(RbacIndexBuilder& builder, const storage::Entry& entry) {
    std::string key(entry.key());
    Result<Object> object = store_.Decode(entry.stored(), entry.revision());
    // What cannot be read grants nothing.
    if (!object.ok()) return Forget(builder, key);
    using namespace rbac::v1;  // NOLINT: four names
    if (object->As<Role>() != nullptr) PutRole<Role>(builder, *object);
    if (object->As<ClusterRole>() != nullptr) PutRole<ClusterRole>(builder, *object);
    if (object->As<RoleBinding>() != nullptr) PutBinding<RoleBinding>(builder, key, *object);
    if (object->As<ClusterRoleBinding>() != nullptr) {
      PutBinding<ClusterRoleBinding>(builder, key, *object);
    }
    known_.insert(std::move(key));
  }

  void Forget(RbacIndexBuilder& builder, const std::string& key) {
    known_.erase(key);
    if (is_binding_) return builder.SetBinding(key, nullptr);
    // "/registry/roles/ns/name" and "/registry/clusterroles/name".
    const std::string_view rest = std::string_view(key).substr(store_.root_prefix().size());
    const size_t slash = rest.find('/');
    builder.SetRole(slash == rest.npos ? RbacRoleKey("", rest)
                                       : RbacRoleKey(rest.substr(0, slash), rest.substr(slash + 1)),
                    nullptr);
  }

  const ResourceStore& store_;
  const bool is_binding_;
  std::set<std::string> known_;
  std::unique_ptr<storage::Watcher> watcher_;
};

class Feed {
 public:
  Feed(Context& ctx, const Registry& registry, RbacAuthorizer& authorizer)
      : ctx_(ctx),
        authorizer_(authorizer),
        sources_{Source(registry, rbac::v1::Role::kKind),
                 Source(registry, rbac::v1::ClusterRole::kKind),
                 Source(registry, rbac::v1::RoleBinding::kKind),
                 Source(registry, rbac::v1::ClusterRoleBinding::kKind)} {}

  void Run() {
    while (!ctx_.Done()) {
      const Status status = CatchUp();
      if (!status.ok()) COX_V(ctx_.log(), 2, "Roles cannot be read yet", {"why", status.message()});
      changed_.Await(ctx_, status.ok() ? Clock::Duration(kLookAgain) : Clock::Duration(kRetry));
    }
  }

 private:
  Status CatchUp() {
    bool changed = false;
    for (Source& source : sources_) {
      COX_ASSIGN_OR_RETURN(const bool more, source.CatchUp(builder_, [this] { changed_.Ring(); }));
      changed = changed || more;
    }
    // Only once all four are there: half a policy is none.
    if (changed) authorizer_.Publish(builder_.Build());
    return {};
  }

  Context& ctx_;
  RbacAuthorizer& authorizer_;
  RbacIndexBuilder builder_;
  Doorbell changed_;
  std::array<Source, 4> sources_;  // last: their watchers wake until they are gone
};

}  // namespace

void RunRbacFeed(Context& ctx, const Registry& registry, RbacAuthorizer& authorizer) {
  if (!registry.WaitReady(ctx).ok()) return;  // only when it stops
  Feed(ctx, registry, authorizer).Run();
}

}  // namespace cox::apiserver
