// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/options.h"

#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/registry/store/store.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kOptionsGroup = "meta.k8s.io";

// dryRun may be repeated; all values must be "All".
FieldErrorList CheckDryRun(const List<std::string>& values) {
  for (const std::string& value : values) {
    if (value != "All") {
      return {FieldError::NotSupported(FieldPath("dryRun"), values, {"All"})};
    }
  }
  return {};
}

FieldErrorList CheckListOptions(const ReadOptions& o) {
  FieldErrorList errors;
  const FieldPath match("resourceVersionMatch");
  if (o.watch) {
    if (!o.continue_token.empty() && !o.resource_version_match.empty()) {
      errors.push_back(FieldError::Forbidden(
          match, "resourceVersionMatch is forbidden when continue is provided"));
      return errors;
    }
    if (o.send_initial_events) {
      if (o.resource_version_match != "NotOlderThan") {
        errors.push_back(FieldError::Forbidden(
            match, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
      }
    } else if (!o.resource_version_match.empty()) {
      errors.push_back(FieldError::Forbidden(
          match,
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (!o.resource_version_match.empty() && o.resource_version_match != "NotOlderThan") {
      errors.push_back(FieldError::NotSupported(match, o.resource_version_match, {"NotOlderThan"}));
    }
    return errors;
  }
  if (o.send_initial_events) {
    errors.push_back(FieldError::Forbidden(FieldPath("sendInitialEvents"),
                                           "sendInitialEvents is forbidden for list"));
  }
  if (o.resource_version_match.empty()) return errors;
  if (!o.continue_token.empty()) {
    errors.push_back(FieldError::Forbidden(
        match, "resourceVersionMatch is forbidden when continue is provided"));
    return errors;
  }
  if (o.resource_version.empty()) {
    errors.push_back(FieldError::Forbidden(
        match, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (o.resource_version_match != "Exact" && o.resource_version_match != "NotOlderThan") {
    errors.push_back(
        FieldError::NotSupported(match, o.resource_version_match, {"Exact", "NotOlderThan", ""}));
  }
  if (o.resource_version_match == "Exact" && o.resource_version == "0") {
    errors.push_back(FieldError::Forbidden(
        match, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  return errors;
}

Result<meta::v1::DeleteOptions> DeleteOptionsFromBody(const Call& call, const Scheme& scheme) {
  COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
  COX_ASSIGN_OR_RETURN(const Format format, BodyFormat(call.Header("content-type")));
  const GroupVersionKind expected{"", "v1", "DeleteOptions"};
  COX_ASSIGN_OR_RETURN(Object decoded, DecodeObject(body, format, scheme, &expected));
  auto* found = decoded.As<meta::v1::DeleteOptions>();
  if (found == nullptr) return Status::BadRequest(NotRegisteredText(decoded.gvk()));
  return std::move(*found);
}

Result<meta::v1::DeleteOptions> DeleteOptionsFromQuery(const Query& query) {
  meta::v1::DeleteOptions options;
  COX_ASSIGN_OR_RETURN(options.gracePeriodSeconds, query.Int("gracePeriodSeconds"));
  if (const std::string* policy = query.Find("propagationPolicy")) {
    options.propagationPolicy = *policy;
  }
  if (query.Has("orphanDependents")) options.orphanDependents = query.Flag("orphanDependents");
  options.dryRun = query.All("dryRun");
  return options;
}

}  // namespace

Result<fields::Selector> ParseFieldSelector(std::string_view text, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(fields::Selector selector, fields::Selector::Parse(text));
  return selector.Transform(
      [&](const std::string& field,
          const std::string& value) -> Result<std::pair<std::string, std::string>> {
        if (field == "metadata.name" || field == "metadata.namespace") return {{field, value}};
        if (resource.version() != nullptr && !resource.version()->field_labels().empty()) {
          for (const auto& [served, hub] : resource.version()->field_labels()) {
            if (field == served) return {{std::string(hub), value}};
          }
          return resource.strategy().UnknownField(resource.kind(), field);
        }
        for (std::string_view known : resource.strategy().FieldNames()) {
          if (field == known) return {{field, value}};
        }
        return resource.strategy().UnknownField(resource.kind(), field);
      });
}

Result<storage::Revision> ReadVersion(const std::string& text) {
  Result<storage::Revision> version = ParseResourceVersion(text);
  if (version.ok()) return version;
  return Status(Reason::kUnknown, "resourceVersion: Invalid value: " + Quote(text) + ": " +
                                      version.status().message());
}

Result<ReadOptions> ParseReadOptions(const Call& call, const ServedResource& resource) {
  const Query& query = call.query;
  ReadOptions o;
  COX_ASSIGN_OR_RETURN(std::optional<int64_t> limit, query.Int("limit"));
  COX_ASSIGN_OR_RETURN(o.timeout_seconds, query.Int("timeoutSeconds"));
  o.limit = std::max<int64_t>(limit.value_or(0), 0);
  o.watch = call.info.verb == "watch";
  o.allow_bookmarks = query.Flag("allowWatchBookmarks");
  if (query.Has("sendInitialEvents")) o.send_initial_events = query.Flag("sendInitialEvents");
  o.resource_version = query.Get("resourceVersion");
  o.resource_version_match = query.Get("resourceVersionMatch");
  o.continue_token = query.Get("continue");
  // A watch without a resource version starts with the current objects, like a streaming list
  // without the final bookmark.
  if (o.watch && !o.send_initial_events && o.resource_version_match.empty() &&
      (o.resource_version.empty() || o.resource_version == "0")) {
    o.send_initial_events = true;
    o.resource_version_match = "NotOlderThan";
  }
  COX_ASSIGN_OR_RETURN(o.label_selector, labels::Selector::Parse(query.Get("labelSelector")));
  COX_ASSIGN_OR_RETURN(o.field_selector, ParseFieldSelector(query.Get("fieldSelector"), resource));
  FieldErrorList errors = CheckListOptions(o);
  if (!errors.empty()) return NewInvalid(kOptionsGroup, "ListOptions", "", errors);
  if (!call.info.name.empty()) {
    const std::optional<std::string_view> selected =
        o.field_selector.RequiresExactMatch("metadata.name");
    if (selected && *selected != call.info.name) {
      return Status::BadRequest(
          "both a name and a field selector provided; please provide one or "
          "the other.");
    }
    std::vector<fields::Requirement> terms = o.field_selector.requirements();
    terms.push_back({"metadata.name", true, call.info.name});
    o.field_selector = fields::Selector(std::move(terms));
  }
  return o;
}

bool Selects(const ReadOptions& options, const storage::Entry& entry, std::string_view ns) {
  if (!options.label_selector.Empty() && !options.label_selector.Matches(entry.labels())) {
    return false;
  }
  if (options.field_selector.Empty()) return true;
  const storage::HeadPairs fields = entry.fields();
  auto field = [&](std::string_view key) -> std::optional<std::string_view> {
    if (key == "metadata.name") return entry.name();
    if (key == "metadata.namespace") return ns;
    return fields(key);
  };
  return options.field_selector.Matches(field);
}

Result<WriteOptions> ParseWriteOptions(const Call& call, std::string_view kind, bool apply) {
  const Query& query = call.query;
  WriteOptions o;
  const std::vector<std::string> dry_run = query.All("dryRun");
  FieldErrorList errors;
  o.field_manager = query.Get("fieldManager");
  o.force = query.Flag("force");
  if (kind == "PatchOptions") {
    if (apply && o.field_manager.empty()) {
      errors.push_back(
          FieldError::Required(FieldPath("fieldManager"), "is required for apply patch"));
    }
    if (!apply && query.Has("force")) {
      errors.push_back(
          FieldError::Forbidden(FieldPath("force"), "may not be specified for non-apply patch"));
    }
  }
  Append(errors, validation::ValidateFieldManager(o.field_manager, FieldPath("fieldManager")));
  Append(errors, CheckDryRun(dry_run));
  const std::string validation = query.Get("fieldValidation");
  if (validation == "Strict") {
    o.field_validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    o.field_validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    errors.push_back(FieldError::NotSupported(FieldPath("fieldValidation"), validation,
                                              {"", "Ignore", "Strict", "Warn"}));
  }
  if (!errors.empty()) return NewInvalid(kOptionsGroup, kind, "", errors);
  o.dry_run = !dry_run.empty();
  return o;
}

std::string ManagerName(const Call& call, const WriteOptions& options) {
  if (!options.field_manager.empty()) return options.field_manager;
  const std::string_view agent = call.Header("user-agent").value_or("");
  std::string name(agent.substr(0, agent.find('/')));
  // Only printable characters, limited in length.
  std::erase_if(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return name.substr(0, validation::kFieldManagerMaxLength);
}

Result<meta::v1::DeleteOptions> ParseDeleteOptions(const Call& call, const Scheme& scheme) {
  COX_ASSIGN_OR_RETURN(meta::v1::DeleteOptions options, call.request().body.empty()
                                                            ? DeleteOptionsFromQuery(call.query)
                                                            : DeleteOptionsFromBody(call, scheme));
  if (call.audit() != nullptr && call.audit()->records_request_body() &&
      !call.request().body.empty()) {
    Object body(meta::v1::DeleteOptions::kKind, GroupVersionKind{"", "v1", "DeleteOptions"});
    *body.As<meta::v1::DeleteOptions>() = options;
    call.audit()->SetRequest(body);
  }
  FieldErrorList errors;
  const FieldPath path("propagationPolicy");
  if (options.propagationPolicy && options.orphanDependents) {
    errors.push_back(
        FieldError::Invalid(path, *options.propagationPolicy,
                            "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (options.propagationPolicy) {
    const std::string& policy = *options.propagationPolicy;
    if (policy != "Foreground" && policy != "Background" && policy != "Orphan") {
      errors.push_back(
          FieldError::NotSupported(path, policy, {"Foreground", "Background", "Orphan", "nil"}));
    }
  }
  Append(errors, CheckDryRun(options.dryRun));
  if (!errors.empty()) return NewInvalid(kOptionsGroup, "DeleteOptions", "", errors);
  return options;
}

}  // namespace cox::apiserver
