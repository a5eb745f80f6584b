// SPDX-License-Identifier: Apache-2.0
#include "api/authentication/v1.h"
#include "api/core/v1.h"
#include "apiserver/endpoints/reviews/exchange.h"
#include "apiserver/endpoints/reviews/reviews.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/store/errors.h"
#include "base/strings.h"

// serviceaccounts/token: issues a token for a service account.
namespace cox::apiserver {
namespace {

using authentication::v1::BoundObjectReference;
using authentication::v1::TokenRequest;

constexpr int64_t kDefaultSeconds = 3600;
constexpr int64_t kMinSeconds = 600;
constexpr int64_t kMaxSeconds = int64_t{1} << 32;
// The expiration that kubelets request for projected tokens of applications that may not reload
// them. The odd value distinguishes these requests from others.
constexpr int64_t kUnawareSeconds = 3607;
// The lifetime that such tokens get instead. The `warnafter` claim holds the requested expiration.
constexpr int64_t kExtendedSeconds = int64_t{365} * 24 * 60 * 60;

// The objects that a token is bound to.
struct Bound {
  std::optional<ObjectClaim> pod, secret, node;
  const ResourceStore* store = nullptr;  // the store of the bound object
  storage::Revision revision = 0;
};

Status CheckName(const RequestInfo& info, const TokenRequest& request) {
  const meta::v1::ObjectMeta& meta = request.metadata;
  if (!meta.namespace_.empty() && meta.namespace_ != info.namespace_) {
    return Status::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (meta.name.empty() || meta.name == info.name) return {};
  const FieldErrorList errors = {
      FieldError::Invalid(FieldPath("metadata").Child("name"), meta.name,
                          "must match the service account name if specified")};
  return NewInvalid("authentication.k8s.io", "TokenRequest", info.name, errors);
}

Status CheckSpec(const TokenRequest& request) {
  FieldErrorList errors;
  const FieldPath path = FieldPath("spec").Child("expirationSeconds");
  const int64_t seconds = request.spec.expirationSeconds.value_or(kDefaultSeconds);
  if (seconds < kMinSeconds) {
    errors.push_back(
        FieldError::Invalid(path, seconds, "may not specify a duration less than 10 minutes"));
  }
  if (seconds > kMaxSeconds) {
    errors.push_back(
        FieldError::Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"));
  }
  if (errors.empty()) return {};
  return NewInvalid("authentication.k8s.io", "TokenRequest", "", errors);
}

Result<Object> Fetch(Context& ctx, const Registry& registry, const KindInfo& kind,
                     std::string_view ns, const std::string& name, Bound* bound) {
  const ResourceStore& store = registry.Hub(kind).store();
  COX_ASSIGN_OR_RETURN(Object object, store.Get(ctx, ns, name));
  bound->store = &store;
  COX_ASSIGN_OR_RETURN(bound->revision,
                       ParseResourceVersion(object.object_meta()->resourceVersion));
  return object;
}

ObjectClaim ClaimOf(const Object& object) {
  return {.name = object.object_meta()->name, .uid = object.object_meta()->uid};
}

// The node that the pod runs on. If the node no longer exists, the claim has its name without a
// UID.
Result<std::optional<ObjectClaim>> NodeOf(Context& ctx, const Registry& registry,
                                          const core::v1::Pod& pod) {
  if (pod.spec.nodeName.empty()) return std::optional<ObjectClaim>();
  const ResourceStore& nodes = registry.Hub(core::v1::Node::kKind).store();
  Result<Object> node = nodes.Get(ctx, "", pod.spec.nodeName, /*from_cache=*/true);
  if (node.ok()) return std::optional(ClaimOf(*node));
  if (!node.status().Is(Reason::kNotFound)) return node.status();
  return std::optional(ObjectClaim{.name = pod.spec.nodeName, .uid = {}});
}

Result<Bound> Bind(Context& ctx, const Registry& registry, const RequestInfo& info,
                   const BoundObjectReference& ref) {
  Bound bound;
  COX_ASSIGN_OR_RETURN(const GroupVersionKind gvk,
                       GroupVersionKind::Parse(ref.apiVersion, ref.kind));
  std::string uid;
  if (gvk.group.empty() && gvk.kind == "Pod") {
    COX_ASSIGN_OR_RETURN(const Object object, Fetch(ctx, registry, core::v1::Pod::kKind,
                                                    info.namespace_, ref.name, &bound));
    const auto& pod = *object.As<core::v1::Pod>();
    if (pod.spec.serviceAccountName != info.name) {
      return Status::BadRequest("cannot bind token for serviceaccount " + Quote(info.name) +
                                " to pod running with different serviceaccount name.");
    }
    bound.pod = ClaimOf(object);
    uid = bound.pod->uid;
    COX_ASSIGN_OR_RETURN(bound.node, NodeOf(ctx, registry, pod));
  } else if (gvk.group.empty() && gvk.kind == "Secret") {
    COX_ASSIGN_OR_RETURN(const Object object, Fetch(ctx, registry, core::v1::Secret::kKind,
                                                    info.namespace_, ref.name, &bound));
    bound.secret = ClaimOf(object);
    uid = bound.secret->uid;
  } else if (gvk.group.empty() && gvk.kind == "Node") {
    COX_ASSIGN_OR_RETURN(const Object object,
                         Fetch(ctx, registry, core::v1::Node::kKind, "", ref.name, &bound));
    bound.node = ClaimOf(object);
    uid = bound.node->uid;
  } else {
    return Status::BadRequest("cannot bind token to object of type " + gvk.group + "/" +
                              gvk.version + ", Kind=" + gvk.kind);
  }
  if (!ref.uid.empty() && ref.uid != uid) {
    return ConflictError({gvk.group, gvk.kind}, ref.name,
                         "the UID in the bound object reference (" + ref.uid +
                             ") does not match the UID in record. The object might have been "
                             "deleted and then recreated");
  }
  return bound;
}

}  // namespace

void Reviews::RequestToken(Call& call) const {
  std::optional<ReviewExchange> exchange = BeginReview(call, TokenRequest::kKind);
  if (!exchange) return;
  const RequestInfo& info = call.info;
  const Registry& registry = parts_.resources.registry();
  const ServedResource& accounts = registry.Hub(core::v1::ServiceAccount::kKind);
  auto issue = [&]() -> Status {
    auto& request = *exchange->body.As<TokenRequest>();
    request.status = {};
    if (!request.spec.expirationSeconds) request.spec.expirationSeconds = kDefaultSeconds;
    // Managed fields are recorded before the server sets the remaining fields.
    if (request.metadata.namespace_.empty()) request.metadata.namespace_ = info.namespace_;
    TrackReview(call, *exchange, "token");
    COX_RETURN_IF_ERROR(CheckName(info, request));
    COX_RETURN_IF_ERROR(AdmitSubresource(parts_.resources.admission(), call,
                                         {.resource = accounts,
                                          .subresource = info.subresource,
                                          .operation = Operation::kCreate,
                                          .dry_run = exchange->options.dry_run},
                                         exchange->body));
    COX_ASSIGN_OR_RETURN(const Object account,
                         accounts.store().Get(call.ctx(), info.namespace_, info.name));
    if (request.spec.audiences.empty()) request.spec.audiences = parts_.tokens->api_audiences();
    request.metadata.name = info.name;
    request.metadata.uid = account.object_meta()->uid;
    const Time now = NowOf(call.ctx());
    request.metadata.creationTimestamp = now;
    COX_RETURN_IF_ERROR(CheckSpec(request));
    Bound bound;
    if (request.spec.boundObjectRef) {
      COX_ASSIGN_OR_RETURN(bound, Bind(call.ctx(), registry, info, *request.spec.boundObjectRef));
    }

    const ServiceAccountTokenOptions& limits = parts_.tokens->options();
    int64_t seconds = *request.spec.expirationSeconds;
    if (limits.max_expiration.count() > 0 && seconds > limits.max_expiration.count()) {
      call.Warn("requested expiration of " + std::to_string(seconds) + " seconds shortened to " +
                std::to_string(limits.max_expiration.count()) + " seconds");
      seconds = limits.max_expiration.count();
      request.spec.expirationSeconds = seconds;
    }
    const List<std::string>& audiences = request.spec.audiences;
    ServiceAccountClaims claims{.issuer = {},
                                .audiences = {audiences.begin(), audiences.end()},
                                .id = {},
                                .expires = now.unix_seconds() + seconds,
                                .issued_at = now.unix_seconds(),
                                .not_before = now.unix_seconds(),
                                .ns = info.namespace_,
                                .account = ClaimOf(account),
                                .pod = std::move(bound.pod),
                                .secret = std::move(bound.secret),
                                .node = std::move(bound.node),
                                .warn_after = std::nullopt};
    request.status.expirationTimestamp = Time::FromUnix(claims.expires);
    if (limits.extend_expiration && seconds == kUnawareSeconds && claims.pod &&
        claims.audiences == parts_.tokens->api_audiences()) {
      claims.warn_after = claims.expires;
      claims.expires = claims.issued_at + kExtendedSeconds;
    }
    COX_ASSIGN_OR_RETURN(request.status.token, parts_.tokens->Issue(std::move(claims)));

    // The client may use the token at once, and tokens are validated against the caches.
    COX_ASSIGN_OR_RETURN(const storage::Revision revision,
                         ParseResourceVersion(account.object_meta()->resourceVersion));
    COX_RETURN_IF_ERROR(accounts.store().cache()->WaitFor(call.ctx(), revision));
    if (bound.store == nullptr) return {};
    return bound.store->cache()->WaitFor(call.ctx(), bound.revision);
  };
  const Status issued = issue();
  if (!issued.ok()) return call.RespondStatus(issued);
  EndReview(call, *exchange);
}

}  // namespace cox::apiserver
