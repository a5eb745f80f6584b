// SPDX-License-Identifier: Apache-2.0
#include "object/codec.h"

#include "base/check.h"
#include "base/strings.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/codec/yaml/yaml.h"

namespace cox {
namespace {

// The resolved kind and its GVK. For kinds of every group version (Status, DeleteOptions) the GVK
// is that of the sender.
struct Resolved {
  GroupVersionKind gvk;
  const KindInfo* info;

  Object NewObject() const { return Object(*info, gvk); }
};

// Determines the kind from apiVersion and kind, completed by `expected`.
Result<Resolved> Resolve(std::string_view api_version, std::string_view kind,
                         const GroupVersionKind* expected, const Scheme& scheme,
                         std::string_view text, DecodeStep& step) {
  COX_ASSIGN_OR_RETURN(GroupVersionKind gvk, GroupVersionKind::Parse(api_version, kind));
  if (expected != nullptr) {
    if (gvk.kind.empty()) gvk.kind = expected->kind;
    if (gvk.group_version().empty()) {
      gvk.group = expected->group;
      gvk.version = expected->version;
    }
  }
  if (gvk.kind.empty()) {
    return Status::BadRequest("Object 'Kind' is missing in '" + std::string(text) + "'");
  }
  if (gvk.version.empty()) {
    return Status::BadRequest("Object 'apiVersion' is missing in '" + std::string(text) + "'");
  }
  step = DecodeStep::kKind;
  const KindInfo* info = scheme.FindKind(gvk);
  if (info == nullptr) {
    return Status::BadRequest("no kind " + Quote(gvk.kind) + " is registered for version " +
                              Quote(gvk.group_version().ToString()));
  }
  return Resolved{std::move(gvk), info};
}

Result<Object> DecodeJson(std::string_view bytes, const Scheme& scheme,
                          const GroupVersionKind* expected, json::Strictness* strict,
                          DecodeStep& step) {
  Result<json::TypeMeta> meta = json::PeekTypeMeta(bytes);
  if (!meta.ok()) return meta.status().WithContext("couldn't get version/kind; json parse error");
  step = DecodeStep::kTypeMeta;
  COX_ASSIGN_OR_RETURN(Resolved kind,
                       Resolve(meta->api_version, meta->kind, expected, scheme, bytes, step));
  step = DecodeStep::kFields;
  Object object = kind.NewObject();
  COX_RETURN_IF_ERROR(json::Decode(bytes, *kind.info->type, object.data(), strict));
  return object;
}

Result<Object> DecodeYaml(std::string_view bytes, const Scheme& scheme,
                          const GroupVersionKind* expected, json::Strictness* strict,
                          DecodeStep& step) {
  COX_ASSIGN_OR_RETURN(Value value, yaml::Parse(bytes, strict));
  if (!value.is_object() && !value.is_null()) {
    // Not an object: return the same error as for JSON.
    COX_RETURN_IF_ERROR(json::PeekTypeMeta(json::Write(value))
                            .status()
                            .WithContext("couldn't get version/kind; json parse error"));
  }
  auto text_of = [&value](std::string_view key) {
    const Value* member = value.Find(key);
    return member != nullptr && member->is_string() ? member->as_string() : std::string_view();
  };
  step = DecodeStep::kTypeMeta;
  COX_ASSIGN_OR_RETURN(Resolved kind, Resolve(text_of("apiVersion"), text_of("kind"), expected,
                                              scheme, json::Write(value), step));
  step = DecodeStep::kFields;
  Object object = kind.NewObject();
  COX_RETURN_IF_ERROR(json::FromValue(value, *kind.info->type, object.data(), strict));
  return object;
}

Result<Object> DecodeProtobuf(std::string_view bytes, const Scheme& scheme,
                              const GroupVersionKind* expected, DecodeStep& step) {
  COX_ASSIGN_OR_RETURN(proto::Envelope envelope, proto::Open(bytes));
  step = DecodeStep::kTypeMeta;
  COX_ASSIGN_OR_RETURN(Resolved kind,
                       Resolve(envelope.api_version, envelope.kind, expected, scheme, "", step));
  step = DecodeStep::kFields;
  Object object = kind.NewObject();
  COX_RETURN_IF_ERROR(proto::Decode(envelope.raw, *kind.info->type, object.data()));
  return object;
}

}  // namespace

std::string_view MediaType(Format format) {
  switch (format) {
    case Format::kJson:
      return "application/json";
    case Format::kYaml:
      return "application/yaml";
    case Format::kProtobuf:
      break;
  }
  return "application/vnd.kubernetes.protobuf";
}

Format SniffFormat(std::string_view bytes) {
  if (proto::HasEnvelope(bytes)) return Format::kProtobuf;
  size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '{' ? Format::kJson : Format::kYaml;
}

Result<Object> DecodeObject(std::string_view bytes, Format format, const Scheme& scheme,
                            const GroupVersionKind* expected, json::Strictness* strict,
                            DecodeStep* step) {
  DecodeStep ignored;
  DecodeStep& reached = step != nullptr ? *step : ignored;
  reached = DecodeStep::kSyntax;
  switch (format) {
    case Format::kJson:
      return DecodeJson(bytes, scheme, expected, strict, reached);
    case Format::kYaml:
      return DecodeYaml(bytes, scheme, expected, strict, reached);
    case Format::kProtobuf:
      break;
  }
  return DecodeProtobuf(bytes, scheme, expected, reached);
}

namespace {

Value ToValue(const Object& object, const json::TypeMeta& meta) {
  if (!object.is_typed() || !meta.embedded) return object.ToValue();
  std::string text;
  json::Encode(object.type(), object.data(), &text, &meta);
  return json::Parse(text).value_or(Value());
}

}  // namespace

void EncodeObject(const Object& object, Format format, std::string* out, Embedded embedded) {
  // WatchEvent is the only kind without kind and apiVersion.
  bool says_kind = !object.is_typed() || object.type().type_meta;
  json::TypeMeta meta;
  if (says_kind) meta = {object.gvk().group_version().ToString(), object.gvk().kind};
  meta.embedded = embedded == Embedded::kNamed;
  switch (format) {
    case Format::kJson:
      if (object.is_typed()) {
        json::Encode(object.type(), object.data(), out, &meta);
      } else {
        json::WriteTo(object.ToValue(), out);
      }
      out->push_back('\n');
      return;
    case Format::kYaml:
      out->append(yaml::Write(ToValue(object, meta)));
      return;
    case Format::kProtobuf:
      COX_CHECK(object.is_typed());
      proto::Seal(meta.api_version, meta.kind, object.type(), object.data(), out);
  }
}

}  // namespace cox
