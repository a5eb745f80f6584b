// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/componentstatus/component_status.h"

#include <array>

#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/store/errors.h"
#include "net/client.h"
#include "object/selector/fields.h"
#include "object/selector/labels.h"

namespace cox::apiserver {
namespace {

using core::v1::ComponentStatus;
using core::v1::ComponentStatusList;

constexpr std::chrono::seconds kCheckTimeout{5};
constexpr size_t kMaxResponse = size_t{64} * 1024;
// In error messages, upstream uses the singular.
constexpr Resource kResource{"", "componentstatus"};
constexpr Column kColumns[] = {
    kNameColumn,
    {.name = "Status", .type = "string", .description = "Status of the component conditions"},
    {.name = "Message", .type = "string", .description = "Message of the component conditions"},
    {.name = "Error", .type = "string", .description = "Error of the component conditions"},
};

ComponentStatus Check(Context& ctx, const ComponentCheck& component) {
  const Result<std::string> result = component.check(ctx);
  ComponentStatus status;
  status.metadata.name = component.name;
  core::v1::ComponentCondition condition;
  condition.type = "Healthy";
  condition.status = result.ok() ? "True" : "False";
  condition.message = result.ok() ? *result : result.status().message();
  status.conditions.push_back(std::move(condition));
  return status;
}

Cells RowOf(const ComponentStatus& status) {
  const core::v1::ComponentCondition& condition = status.conditions[0];
  return {Value(status.metadata.name), Value(condition.status == "True" ? "Healthy" : "Unhealthy"),
          Value(condition.message), Value(condition.error)};
}

Status CheckTransform(const Accepted& accepted) {
  if (accepted.transform == Transform::kNone || accepted.transform == Transform::kTable) return {};
  return Status(Reason::kNotAcceptable,
                "componentstatuses are served as objects and as Tables only");
}

struct Selection {
  labels::Selector labels;
  fields::Selector fields;

  bool Matches(const std::string& name) const {
    const std::pair<std::string_view, std::string_view> known[] = {{"metadata.name", name}};
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 0> kNoLabels = {};
    return labels.Matches(kNoLabels) && fields.Matches(known);
  }
};

Result<Selection> ParseSelection(const Query& query) {
  Selection selection;
  COX_ASSIGN_OR_RETURN(selection.labels, labels::Selector::Parse(query.Get("labelSelector")));
  COX_ASSIGN_OR_RETURN(selection.fields, fields::Selector::Parse(query.Get("fieldSelector")));
  for (const fields::Requirement& requirement : selection.fields.requirements()) {
    if (requirement.field != "metadata.name" && requirement.field != "metadata.namespace") {
      return UnknownFieldError(requirement.field);
    }
  }
  return selection;
}

Result<std::string> RequestHealth(Context& ctx, uint16_t port) {
  Context limited = ctx.WithTimeout(kCheckTimeout);
  net::ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls_options.insecure = true;
  options.connect_timeout = kCheckTimeout;
  options.max_response_bytes = kMaxResponse;
  COX_ASSIGN_OR_RETURN(const auto client, net::Client::Create(limited, std::move(options)));
  net::Request request;
  request.method = "GET";
  request.target = "/healthz";
  COX_ASSIGN_OR_RETURN(const net::Response response, client->Do(limited, std::move(request)));
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  if (response.status != 200) {
    return Status::Unavailable("unhealthy: HTTP status " + std::to_string(response.status) + ": " +
                               text);
  }
  return text;
}

}  // namespace

ComponentCheck LocalComponent(std::string name, uint16_t port) {
  return {std::move(name), [port](Context& ctx) -> Result<std::string> {
            Result<std::string> text = RequestHealth(ctx, port);
            if (text.ok()) return text;
            return text.status().WithContext("Get \"https://127.0.0.1:" + std::to_string(port) +
                                             "/healthz\"");
          }};
}

bool ComponentStatuses::Handle(Call& call) const {
  const RequestInfo& info = call.info;
  if (!info.group.empty() || info.version != "v1" || info.resource != "componentstatuses" ||
      !info.subresource.empty() || !info.namespace_.empty() || info.trailing ||
      (info.verb != "get" && info.verb != "list") || call.request().method != "GET") {
    return false;
  }
  call.Warn("v1 ComponentStatus is deprecated in v1.19+");
  if (call.audit() != nullptr) call.audit()->Annotate("k8s.io/deprecated", "true");
  const Status status = info.verb == "get" ? Get(call) : List(call);
  if (!status.ok()) call.RespondStatus(status);
  return true;
}

Status ComponentStatuses::Get(Call& call) const {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_RETURN_IF_ERROR(CheckTransform(accepted));
  for (const ComponentCheck& component : checks_) {
    if (component.name != call.info.name) continue;
    const ComponentStatus status = Check(call.ctx(), component);
    const Object object = Object::Of(status);
    if (accepted.transform == Transform::kTable) {
      const TableRow row{object, RowOf(status)};
      return RespondTable(call, kColumns, {&row, 1}, "", accepted);
    }
    RespondPlain(call, 200, object, accepted);
    return {};
  }
  return NotFoundError(kResource, call.info.name);
}

Status ComponentStatuses::List(Call& call) const {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate(ResponseKind::kList));
  COX_RETURN_IF_ERROR(CheckTransform(accepted));
  COX_ASSIGN_OR_RETURN(const Selection selection, ParseSelection(call.query));
  ComponentStatusList list;
  std::vector<TableRow> rows;
  for (const ComponentCheck& component : checks_) {
    if (!selection.Matches(component.name)) continue;
    ComponentStatus status = Check(call.ctx(), component);
    if (accepted.transform == Transform::kTable) {
      rows.push_back({Object::Of(status), RowOf(status)});
    }
    list.items.push_back(std::move(status));
  }
  if (accepted.transform == Transform::kTable) {
    return RespondTable(call, kColumns, rows, "", accepted);
  }
  RespondPlain(call, 200, Object::Of(std::move(list)), accepted);
  return {};
}

}  // namespace cox::apiserver
