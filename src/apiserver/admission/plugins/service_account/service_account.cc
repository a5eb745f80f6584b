// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/service_account/service_account.h"

#include <algorithm>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/service_account/secrets.h"
#include "apiserver/admission/plugins/service_account/token_volume.h"
#include "apiserver/filters/authz/node/references.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "apiserver/registry/store/names.h"
#include "base/notification.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using core::v1::PodSpec;

constexpr std::string_view kDefaultAccount = "default";
// The time to wait for a missing account: a controller creates the default account of a new
// namespace shortly after the namespace.
constexpr std::chrono::milliseconds kAccountTimeout{300};

bool IsMirror(const Pod& pod) { return pod.metadata.annotations.contains(pod::kMirrorAnnotation); }

// Sets the service account of Pods, mounts its token unless disabled, and enforces the account's
// restrictions on secrets.
class ServiceAccountPlugin final : public AdmissionPlugin {
 public:
  explicit ServiceAccountPlugin(const Registry& registry)
      : accounts_(registry.Hub(core::v1::ServiceAccount::kKind).store()) {}

  std::string_view name() const override { return "ServiceAccount"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    Pod* pod = object.As<Pod>();
    if (pod == nullptr || !CreatesPod(request)) return {};
    if (IsMirror(*pod)) return CheckMirror(request, pod->spec);
    PodSpec& spec = pod->spec;
    if (spec.serviceAccountName.empty()) spec.serviceAccountName = kDefaultAccount;
    spec.serviceAccount = spec.serviceAccountName;  // the deprecated field
    COX_ASSIGN_OR_RETURN(const core::v1::ServiceAccount account, AccountOf(ctx, request, spec));
    if (service_account::WantsToken(account, spec)) {
      service_account::MountToken(spec, GenerateName);
    }
    if (spec.imagePullSecrets.empty()) spec.imagePullSecrets = account.imagePullSecrets;
    return CheckSecrets(request, account, spec);
  }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    const Pod* pod = request.object == nullptr ? nullptr : request.object->As<Pod>();
    if (pod == nullptr) return {};
    if (AddsEphemeralContainers(request)) return CheckEphemeral(ctx, request, pod->spec);
    if (!CreatesPod(request)) return {};
    if (IsMirror(*pod)) return CheckMirror(request, pod->spec);
    if (pod->spec.serviceAccountName.empty()) {
      return Refused(
          request, "no service account specified for pod " + request.ns + "/" + pod->metadata.name);
    }
    COX_ASSIGN_OR_RETURN(const core::v1::ServiceAccount account,
                         AccountOf(ctx, request, pod->spec));
    return CheckSecrets(request, account, pod->spec);
  }

 private:
  static bool CreatesPod(const AdmissionRequest& request) {
    return request.operation == Operation::kCreate && request.subresource.empty() &&
           &request.resource.kind() == &Pod::kKind;
  }
  static bool AddsEphemeralContainers(const AdmissionRequest& request) {
    return request.operation == Operation::kUpdate &&
           request.subresource == "ephemeralcontainers" && &request.resource.kind() == &Pod::kKind;
  }

  // For a Pod without a name, the error contains its generateName.
  static Status Refused(const AdmissionRequest& request, const std::string& why) {
    const std::string& name =
        request.name.empty() ? request.object->object_meta()->generateName : request.name;
    return ForbiddenError(request.resource.resource(), name, why);
  }

  // Security: kubelets create mirror Pods for static Pods. These must not give a kubelet access to
  // an account or a secret.
  static Status CheckMirror(const AdmissionRequest& request, const PodSpec& spec) {
    if (!spec.serviceAccountName.empty()) {
      return Refused(request, "a mirror pod may not reference service accounts");
    }
    bool uses_secrets = false;
    VisitSecretNames(spec, [&](const std::string&) { uses_secrets = true; });
    if (uses_secrets) return Refused(request, "a mirror pod may not reference secrets");
    for (const core::v1::Volume& volume : spec.volumes) {
      if (!volume.volumeSource.projected) continue;
      for (const core::v1::VolumeProjection& source : volume.volumeSource.projected->sources) {
        if (!source.serviceAccountToken) continue;
        return Refused(request, "a mirror pod may not use ServiceAccountToken volume projections");
      }
    }
    return {};
  }

  static Status CheckSecrets(const AdmissionRequest& request,
                             const core::v1::ServiceAccount& account, const PodSpec& spec) {
    if (!service_account::EnforcesMountableSecrets(account)) return {};
    const std::string why = service_account::ForbiddenSecret(account, spec);
    return why.empty() ? Status() : Refused(request, why);
  }

  Status CheckEphemeral(Context& ctx, const AdmissionRequest& request, const PodSpec& spec) const {
    // Mirror Pods have no account.
    if (spec.ephemeralContainers.empty() || spec.serviceAccountName.empty()) return {};
    COX_ASSIGN_OR_RETURN(const core::v1::ServiceAccount account, AccountOf(ctx, request, spec));
    if (!service_account::EnforcesMountableSecrets(account)) return {};
    const std::string why = service_account::ForbiddenEphemeralSecret(account, spec);
    return why.empty() ? Status() : Refused(request, why);
  }

  Result<core::v1::ServiceAccount> AccountOf(Context& ctx, const AdmissionRequest& request,
                                             const PodSpec& spec) const {
    const std::string& name = spec.serviceAccountName;
    Result<Object> found = accounts_.Get(ctx, request.ns, name, /*from_cache=*/true);
    if (found.status().Is(Reason::kNotFound)) found = Await(ctx, request.ns, name);
    if (found.ok()) return std::move(*found->As<core::v1::ServiceAccount>());
    const std::string why = found.status().Is(Reason::kNotFound)
                                ? "serviceaccount \"" + name + "\" not found"
                                : std::string(found.status().message());
    return Refused(request,
                   "error looking up service account " + request.ns + "/" + name + ": " + why);
  }

  // Waits for an account that is not in the cache: it may have been created just now or be created
  // soon.
  Result<Object> Await(Context& ctx, const std::string& ns, const std::string& name) const {
    const storage::SnapshotPtr now =
        accounts_.cache() == nullptr ? nullptr : accounts_.cache()->Current();
    if (now == nullptr) return accounts_.Get(ctx, ns, name);
    Notification changed;
    storage::WatchOptions options;
    options.prefix = accounts_.Key(ns, name);
    options.exact = true;
    options.after = now->revision();
    options.wake = [&] { changed.Notify(); };
    COX_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Watcher> watcher,
                         accounts_.cache()->Watch(std::move(options)));
    Result<Object> found = accounts_.Get(ctx, ns, name);
    const Clock::SteadyTime until = ctx.clock().In(kAccountTimeout);
    while (found.status().Is(Reason::kNotFound)) {
      COX_RETURN_IF_ERROR(watcher->Take(kBatch).status());
      found = accounts_.Get(ctx, ns, name, /*from_cache=*/true);
      const Clock::SteadyTime at = ctx.clock().Monotonic();
      if (found.ok() || at >= until || ctx.Done()) break;
      changed.Await(ctx, until - at);
    }
    return found;
  }

  static constexpr size_t kBatch = 16;

  const ResourceStore& accounts_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewServiceAccount(const AdmissionParts& parts) {
  return std::make_unique<ServiceAccountPlugin>(parts.registry);
}

}  // namespace cox::apiserver
