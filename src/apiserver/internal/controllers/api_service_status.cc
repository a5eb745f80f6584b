// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/api_service_status.h"

#include <string>

#include "api/core/v1.h"
#include "apiserver/internal/controllers/internal_client.h"
#include "apiserver/registry/kinds/apiregistration/api_service.h"
#include "apiserver/request/now.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using apiregistration::v1::APIService;
using apiregistration::v1::APIServiceCondition;

constexpr std::string_view kManager = "kube-apiserver";

APIServiceCondition Missing(const apiregistration::v1::ServiceReference& service) {
  return {.status = "False",
          .reason = "ServiceNotFound",
          .message =
              "service/" + service.name + " in " + Quote(service.namespace_) + " is not present"};
}

Status Reconcile(Context& ctx, const ServedResource& api_services, const ServedResource& services,
                 const InternalClient& writer) {
  const storage::SnapshotPtr known = services.store().cache()->Current();
  Status first_error;
  auto check = [&](const APIService& object) -> Status {
    if (!object.spec.service) return {};
    const auto& service = *object.spec.service;
    if (known->Find(services.store().Key(service.namespace_, service.name)) != nullptr) return {};
    const Time now = NowOf(ctx);
    APIService after = object;
    if (!SetAvailable(after, Missing(service), now)) return {};
    return writer.Update(
        ctx, APIService::kKind, object.metadata.name, kManager,
        [&](Object& stored) {
          return SetAvailable(*stored.As<APIService>(), Missing(service), now);
        },
        "status");
  };
  api_services.store().cache()->Current()->Visit(
      api_services.store().root_prefix(), {}, [&](const storage::EntryPtr& entry) {
        Result<Object> object = api_services.store().Decode(entry->stored(), entry->revision());
        if (!object.ok()) return true;
        const Status checked = check(*object->As<APIService>());
        if (!checked.ok()) first_error = checked;
        return true;
      });
  return first_error;
}

}  // namespace

InternalController ApiServiceStatusLoop(const Registry& registry, const AdmissionChain* admission) {
  const ServedResource& api_services = registry.Hub(APIService::kKind);
  const ServedResource& services = registry.Hub(core::v1::Service::kKind);
  return {.name = "api-service-status",
          .watches = {&api_services, &services},
          .reconcile = [&registry, admission, &api_services, &services](Context& ctx) {
            return Reconcile(ctx, api_services, services, InternalClient(registry, admission));
          }};
}

}  // namespace cox::apiserver
