// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/reviews/exchange.h"

#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/served/field_managers.h"
#include "object/defaults.h"

namespace cox::apiserver {

std::optional<ReviewExchange> BeginReview(Call& call, const KindInfo& kind) {
  auto read = [&]() -> Result<ReviewExchange> {
    COX_ASSIGN_OR_RETURN(Accepted accepted, call.Negotiate());
    if (accepted.transform != Transform::kNone) {
      return Status(Reason::kNotAcceptable,
                    "only the following media types are accepted: application/json, "
                    "application/yaml, application/vnd.kubernetes.protobuf");
    }
    COX_ASSIGN_OR_RETURN(WriteOptions options, ParseWriteOptions(call, "CreateOptions"));
    COX_ASSIGN_OR_RETURN(Object body, DecodeBody(call, kind, options.field_validation));
    ApplyDefaults(body.type(), body.data());
    return ReviewExchange{std::move(accepted), std::move(options), std::move(body)};
  };
  Result<ReviewExchange> exchange = read();
  if (exchange.ok()) return std::move(*exchange);
  call.RespondStatus(exchange.status());
  return std::nullopt;
}

void TrackReview(Call& call, ReviewExchange& exchange, std::string_view subresource) {
  const GroupVersionKind& gvk = exchange.body.gvk();
  const apply::FieldManager fields(exchange.body.type(),
                                   {.api_version = gvk.group_version().ToString(),
                                    .kind = gvk.kind,
                                    .subresource = std::string(subresource)});
  TrackManagers(fields, fields.nothing(), exchange.body, ManagerName(call, exchange.options),
                NowOf(call.ctx()));
}

void EndReview(Call& call, const ReviewExchange& exchange) {
  RespondPlain(call, 201, exchange.body, exchange.accepted);
}

}  // namespace cox::apiserver
