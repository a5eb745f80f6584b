// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/requests.h"

#include <array>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/validation/names.h"

namespace cox::sdk {
namespace {

// Characters that need no escaping in a path segment or a query (RFC 3986, without '+', '&' and
// '=', which servers interpret).
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = '0'; c <= '9'; ++c) plain[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) plain[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) plain[static_cast<size_t>(c)] = true;
  for (const char c : {'-', '.', '_', '~', ':', '@', '!', '$', '(', ')', '*', ','}) {
    plain[static_cast<unsigned char>(c)] = true;
  }
  return plain;
}();

}  // namespace

void AppendEscaped(std::string* out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain[byte]) {
      *out += c;
    } else {
      *out += '%';
      *out += kHex[byte >> 4];
      *out += kHex[byte & 15];
    }
  }
}

namespace {

// Builds a path by segments, then its query parameters.
class Target {
 public:
  explicit Target(const Resource& resource, std::string_view ns) {
    text_.reserve(128);
    if (resource.gvk.group.empty()) {
      text_ = "/api";
    } else {
      text_ = "/apis";
      Segment(resource.gvk.group);
    }
    Segment(resource.gvk.version);
    if (resource.namespaced && !ns.empty()) {
      text_ += "/namespaces";
      Segment(ns);
    }
    Segment(resource.plural);
  }

  void Segment(std::string_view segment) {
    text_ += '/';
    AppendEscaped(&text_, segment);
  }
  // "status", "proxy/path/below"
  void Subresource(std::string_view subresource) {
    for (const std::string_view part : Split(subresource, '/')) Segment(part);
  }

  // Empty values are not sent.
  void Add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ += first_ ? '?' : '&';
    first_ = false;
    text_ += name;
    text_ += '=';
    AppendEscaped(&text_, value);
  }
  void AddFlag(std::string_view name, bool value) {
    if (value) Add(name, "true");
  }

  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

std::string_view ValidationName(FieldValidation validation) {
  switch (validation) {
    case FieldValidation::kServerDefault:
      return "";
    case FieldValidation::kIgnore:
      return "Ignore";
    case FieldValidation::kWarn:
      return "Warn";
    case FieldValidation::kStrict:
      return "Strict";
  }
  return "";
}

std::string_view PropagationName(Propagation propagation) {
  switch (propagation) {
    case Propagation::kServerDefault:
      return "";
    case Propagation::kOrphan:
      return "Orphan";
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
  }
  return "";
}

void AddSelectors(Target& target, const ListOptions& options) {
  if (!options.labels.Empty()) target.Add("labelSelector", options.labels.ToString());
  if (!options.fields.Empty()) target.Add("fieldSelector", options.fields.ToString());
}

void AddWriteOptions(Target& target, const WriteOptions& options) {
  if (options.dry_run) target.Add("dryRun", "All");
  target.Add("fieldManager", options.field_manager);
  target.Add("fieldValidation", ValidationName(options.field_validation));
}

Status CheckSegment(std::string_view what, std::string_view segment) {
  const auto wrong = validation::IsValidPathSegmentName(segment);
  if (wrong.empty()) return {};
  return Status::BadRequest("invalid " + std::string(what) + " " + Quote(segment) + ": " +
                            std::string(wrong.front()));
}

// Checks the key: of the object, or of the collection for creations.
Status CheckKey(const Operation& operation) {
  using Verb = Operation::Verb;
  if (operation.verb == Verb::kDeleteAll) return CheckSegment("namespace", operation.key.ns);
  const bool collection = operation.verb == Verb::kCreate && operation.subresource.empty();
  if (!collection && operation.key.name.empty()) {
    return Status::BadRequest("resource name may not be empty");
  }
  if (operation.resource.namespaced && operation.key.ns.empty()) {
    return Status::BadRequest(collection ? "an empty namespace may not be set during creation"
                                         : "an empty namespace may not be set when a resource name "
                                           "is provided");
  }
  COX_RETURN_IF_ERROR(CheckSegment("namespace", operation.key.ns));
  if (collection) return {};
  COX_RETURN_IF_ERROR(CheckSegment("resource name", operation.key.name));
  return {};
}

void AddOptions(Target& target, const Operation& operation) {
  switch (operation.verb) {
    case Operation::Verb::kGet:
      if (operation.get != nullptr) {
        target.Add("resourceVersion", operation.get->resource_version);
      }
      return;
    case Operation::Verb::kCreate:
    case Operation::Verb::kUpdate:
    case Operation::Verb::kPatch:
      if (operation.write != nullptr) AddWriteOptions(target, *operation.write);
      return;
    case Operation::Verb::kApply:
      if (operation.apply->dry_run) target.Add("dryRun", "All");
      target.Add("fieldManager", operation.apply->field_manager);
      target.AddFlag("force", operation.apply->force);
      return;
    case Operation::Verb::kDelete:
      return;  // in the body
    case Operation::Verb::kDeleteAll:
      if (operation.list != nullptr) AddSelectors(target, *operation.list);
      return;
  }
}

Body DeleteBody(const DeleteOptions* options) {
  const std::optional<meta::v1::DeleteOptions> body =
      options == nullptr ? std::nullopt : ToApi(*options);
  if (!body) return {};
  Body out{.text = "", .content_type = MediaType(Format::kJson)};
  const json::TypeMeta names{.api_version = "v1", .kind = "DeleteOptions"};
  json::Encode(meta::v1::DeleteOptions::kType, &*body, &out.text, &names);
  return out;
}

Body ObjectBody(const Object& object, Format format) {
  if (!object.is_typed()) {
    Body out{.text = "", .content_type = MediaType(Format::kJson)};
    // Avoids the copy of ToValue if kind and apiVersion are present.
    const bool named =
        object.value().Find("kind") != nullptr && object.value().Find("apiVersion") != nullptr;
    json::WriteTo(named ? object.value() : object.ToValue(), &out.text);
    return out;
  }
  Body out{.text = "", .content_type = MediaType(format)};
  EncodeObject(object, format, &out.text);
  return out;
}

}  // namespace

std::optional<meta::v1::DeleteOptions> ToApi(const DeleteOptions& options) {
  meta::v1::DeleteOptions body;
  bool has_fields = false;
  if (options.grace_period) {
    body.gracePeriodSeconds = options.grace_period->count();
    has_fields = true;
  }
  if (options.propagation != Propagation::kServerDefault) {
    body.propagationPolicy = std::string(PropagationName(options.propagation));
    has_fields = true;
  }
  if (!options.uid.empty() || !options.resource_version.empty()) {
    meta::v1::Preconditions& only = body.preconditions.emplace();
    if (!options.uid.empty()) only.uid = options.uid;
    if (!options.resource_version.empty()) only.resourceVersion = options.resource_version;
    has_fields = true;
  }
  if (options.dry_run) {
    body.dryRun = {"All"};
    has_fields = true;
  }
  if (!has_fields) return std::nullopt;
  return body;
}

std::string_view AcceptHeader(Format format, Shape shape) {
  const bool protobuf = format == Format::kProtobuf;
  switch (shape) {
    case Shape::kWhole:
      return protobuf ? "application/vnd.kubernetes.protobuf,application/json" : "application/json";
    case Shape::kMetadata:
      return protobuf
                 ? "application/"
                   "vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
                   "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
                 : "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
    case Shape::kMetadataList:
      return protobuf
                 ? "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;"
                   "v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                   "application/json"
                 : "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                   "application/json";
  }
  return "";
}

std::string_view MethodOf(Operation::Verb verb) {
  switch (verb) {
    case Operation::Verb::kGet:
      return "GET";
    case Operation::Verb::kCreate:
      return "POST";
    case Operation::Verb::kUpdate:
      return "PUT";
    case Operation::Verb::kPatch:
    case Operation::Verb::kApply:
      return "PATCH";
    case Operation::Verb::kDelete:
    case Operation::Verb::kDeleteAll:
      return "DELETE";
  }
  return "";
}

Result<std::string> TargetOf(const Operation& operation) {
  COX_RETURN_IF_ERROR(CheckKey(operation));
  if (operation.verb == Operation::Verb::kApply &&
      (operation.apply == nullptr || operation.apply->field_manager.empty())) {
    return Status::BadRequest("apply needs a field manager");
  }
  Target target(operation.resource, operation.key.ns);
  const bool collection =
      operation.verb == Operation::Verb::kDeleteAll ||
      (operation.verb == Operation::Verb::kCreate && operation.subresource.empty());
  if (!collection) {
    target.Segment(operation.key.name);
    if (!operation.subresource.empty()) target.Subresource(operation.subresource);
  }
  AddOptions(target, operation);
  return std::move(target).Take();
}

std::string ListTarget(const Resource& resource, const ListOptions& options,
                       std::string_view continue_token) {
  Target target(resource, options.ns);
  AddSelectors(target, options);
  if (options.page_size > 0) target.Add("limit", std::to_string(options.page_size));
  if (continue_token.empty()) {
    target.Add("resourceVersion", options.resource_version);
    target.Add("resourceVersionMatch", options.resource_version_match);
  } else {
    target.Add("continue", continue_token);  // contains the version
  }
  return std::move(target).Take();
}

std::string WatchTarget(const Resource& resource, const WatchOptions& options) {
  Target target(resource, options.list.ns);
  target.Add("watch", "true");
  AddSelectors(target, options.list);
  // A bookmark marks the end of the initial events.
  target.AddFlag("allowWatchBookmarks", options.bookmarks || options.send_initial_events);
  target.Add("resourceVersion", options.list.resource_version);
  std::string_view match = options.list.resource_version_match;
  if (options.send_initial_events) {
    target.Add("sendInitialEvents", "true");
    if (match.empty()) match = "NotOlderThan";  // required by the API
  }
  target.Add("resourceVersionMatch", match);
  if (options.timeout.count() > 0) {
    target.Add("timeoutSeconds", std::to_string(options.timeout.count()));
  }
  return std::move(target).Take();
}

Body BodyOf(const Operation& operation, Format format) {
  switch (operation.verb) {
    case Operation::Verb::kGet:
      return {};
    case Operation::Verb::kCreate:
    case Operation::Verb::kUpdate:
      return ObjectBody(*operation.body, format);
    case Operation::Verb::kPatch:
      return {operation.patch->body, patch::MediaType(operation.patch->type)};
    case Operation::Verb::kApply:
      return {operation.patch->body, patch::MediaType(patch::PatchType::kApply)};
    case Operation::Verb::kDelete:
    case Operation::Verb::kDeleteAll:
      return DeleteBody(operation.remove);
  }
  return {};
}

}  // namespace cox::sdk
