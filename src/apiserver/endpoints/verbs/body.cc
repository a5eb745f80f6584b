// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/body.h"

#include <algorithm>

#include "base/strings.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/kind_names.h"
#include "object/type/limits.h"

namespace cox::apiserver {
namespace {

// The start of a body for error texts: unchanged if it looks like JSON, otherwise in hex.
std::string Excerpt(std::string_view body) {
  constexpr size_t kLength = 30;
  if (body.empty()) return "<empty>";
  const std::string_view head = body.substr(0, kLength);
  const bool json = body.front() == '{';
  std::string text;
  if (json) {
    text = head;
  } else {
    constexpr std::string_view kHex = "0123456789abcdef";
    for (const char c : head) {
      text += kHex[static_cast<unsigned char>(c) >> 4];
      text += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return body.size() > kLength ? text + " ..." : text;
}

Status CannotHandle(const GroupVersionKind& gvk, std::string_view as, std::string_view why) {
  return Status::BadRequest(gvk.kind + " in version " + Quote(gvk.version) +
                            " cannot be handled as a " + std::string(as) + ": " + std::string(why));
}

// The kind that a body specifies, completed by the expected one; the expected one if it cannot be
// parsed.
GroupVersionKind KindOf(std::string_view body, Format format, const GroupVersionKind& expected) {
  GroupVersionKind gvk = expected;
  json::TypeMeta meta;
  if (format == Format::kProtobuf) {
    Result<proto::Envelope> envelope = proto::Open(body);
    if (envelope.ok()) meta = {std::string(envelope->api_version), std::string(envelope->kind)};
  } else if (format == Format::kJson) {
    meta = json::PeekTypeMeta(body).value_or(json::TypeMeta());
  }
  Result<GroupVersionKind> named = GroupVersionKind::Parse(meta.api_version, meta.kind);
  if (!named.ok()) return gvk;
  if (!named->kind.empty()) gvk.kind = named->kind;
  if (!named->group_version().empty()) {
    gvk.group = named->group;
    gvk.version = named->version;
  }
  return gvk;
}

}  // namespace

bool NamesKind(const Call& call, const KindInfo& kind) {
  Result<std::string_view> body = ReadBody(call);
  Result<Format> format = BodyFormat(call.Header("content-type"));
  return body.ok() && format.ok() && KindOf(*body, *format, {}) == GvkOf(kind);
}

std::string NotRegisteredText(const GroupVersionKind& gvk) {
  return "no kind " + Quote(gvk.kind) + " is registered for version " +
         Quote(gvk.group_version().ToString()) + " in scheme \"coxswain/scheme\"";
}

Result<std::string_view> ReadBody(const Call& call) {
  const std::string& body = call.request().body;
  if (body.size() > limits::kMaxBodyBytes) {
    return Status::TooLarge("Request entity too large: limit is " +
                            std::to_string(limits::kMaxBodyBytes));
  }
  return std::string_view(body);
}

Status UnsupportedPatchError() {
  return Status(Reason::kUnsupportedMediaType, "415: Unsupported Media Type");
}

Result<patch::PatchType> ReadPatchType(const Call& call) {
  const std::optional<patch::PatchType> type =
      patch::PatchTypeOf(call.Header("content-type").value_or(""));
  if (!type) return UnsupportedPatchError();
  if (call.audit() != nullptr && ReadBody(call).ok()) call.audit()->SetPatch(call.request().body);
  return *type;
}

Status ReportStrictErrors(Call& call, const json::Strictness& strict, FieldValidation validation,
                          const KindInfo& kind) {
  if (strict.errors.empty() || validation == FieldValidation::kIgnore) return {};
  if (validation == FieldValidation::kWarn) {
    for (const std::string& error : strict.errors) {
      // Strip the prefix of the YAML parser: a warning is a single line.
      constexpr std::string_view kYaml = "yaml: unmarshal errors:\n  ";
      call.Warn(error.starts_with(kYaml) ? error.substr(kYaml.size()) : error);
    }
    return {};
  }
  return CannotHandle(GvkOf(kind), kind.kind,
                      "strict decoding error: " + Join(strict.errors, ", "));
}

Result<Value> ReadConfiguration(Call& call, const WriteOptions& options, const KindInfo& kind) {
  COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
  json::Strictness strict;
  Result<Value> parsed = yaml::Parse(body, &strict);
  if (!parsed.ok()) {
    return Status::BadRequest("error decoding YAML: error converting YAML to JSON: " +
                              parsed.status().message());
  }
  if (parsed->is_array()) {
    return Status::BadRequest(
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        "array into Go value of type map[string]interface {}");
  }
  if (options.field_validation == FieldValidation::kStrict && !strict.errors.empty()) {
    return Status::BadRequest("error strict decoding YAML: error converting YAML to JSON: " +
                              strict.errors.front());
  }
  COX_RETURN_IF_ERROR(ReportStrictErrors(call, strict, options.field_validation, kind));
  return parsed;
}

Result<Object> DecodeBody(Call& call, const ServedResource& resource, FieldValidation validation) {
  return DecodeBody(call, resource.strategy().scheme(), resource.kind(), validation);
}

Result<Object> DecodeBody(Call& call, const KindInfo& builtin, FieldValidation validation) {
  return DecodeBody(call, Scheme::Builtin(), builtin, validation);
}

Result<Object> DecodeBody(Call& call, const Scheme& scheme, const KindInfo& kind,
                          FieldValidation validation) {
  COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
  COX_ASSIGN_OR_RETURN(const Format format, BodyFormat(call.Header("content-type")));
  const GroupVersionKind expected = GvkOf(kind);
  json::Strictness strict;
  DecodeStep step = DecodeStep::kSyntax;
  Result<Object> object =
      DecodeObject(body, format, scheme, &expected,
                   validation == FieldValidation::kIgnore ? nullptr : &strict, &step);
  if (!object.ok()) {
    const std::string& why = object.status().message();
    if (step == DecodeStep::kSyntax) {
      return Status::BadRequest("the object provided is unrecognized (must be of type " +
                                std::string(kind.kind) + "): " + why + " (" + Excerpt(body) + ")");
    }
    const GroupVersionKind named = KindOf(body, format, expected);
    if (step == DecodeStep::kKind) {
      return CannotHandle(named, kind.kind, why + " in scheme \"coxswain/scheme\"");
    }
    return CannotHandle(named, kind.kind, why);
  }
  if (&object->type() != kind.type || object->gvk() != expected) {
    const GroupVersionKind& gvk = object->gvk();
    if (gvk.kind != kind.kind || gvk.group != kind.group) {
      return CannotHandle(gvk, kind.kind,
                          "converting (" + std::string(object->type().name) + ") to (" +
                              GoTypeName(kind) + "): unknown conversion");
    }
    return Status::BadRequest("the API version in the data (" + gvk.group_version().ToString() +
                              ") does not match the expected API version (" +
                              expected.group_version().ToString() + ")");
  }
  if (call.audit() != nullptr) call.audit()->SetRequest(*object);
  COX_RETURN_IF_ERROR(ReportStrictErrors(call, strict, validation, kind));
  return object;
}

}  // namespace cox::apiserver
