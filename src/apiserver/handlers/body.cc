// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/body.h"

#include <algorithm>

#include "base/strings.h"
#include "object/kind_names.h"
#include "object/limits.h"
#include "object/protobuf/protobuf.h"

namespace cox::apiserver {
namespace {

// The start of a body, for error texts: as it is if it can be printed, else in hex.
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

Result<GroupVersionKind> NamedKind(std::string_view body, Format format) {
  switch (format) {
    case Format::kJson: {
      COX_ASSIGN_OR_RETURN(const json::TypeMeta meta, json::PeekTypeMeta(body));
      return GroupVersionKind::Parse(meta.api_version, meta.kind);
    }
    case Format::kProtobuf: {
      COX_ASSIGN_OR_RETURN(const proto::Envelope envelope, proto::Open(body));
      return GroupVersionKind::Parse(envelope.api_version, envelope.kind);
    }
    case Format::kYaml:
      return GroupVersionKind{};
  }
  return GroupVersionKind{};
}

// Why a body could not be decoded, in the words that clients know.
std::string ReasonFor(std::string_view body, Format format, const std::string& why) {
  if (format == Format::kProtobuf && body.empty()) return "empty data";
  if (format == Format::kProtobuf && why == "proto: unexpected end of message") {
    return "unexpected EOF";
  }
  return why;
}

// The kind a body names, completed by the expected one. Empty if it cannot be read at all.
GroupVersionKind KindOf(std::string_view body, Format format, const GroupVersionKind& expected) {
  GroupVersionKind gvk = expected;
  Result<GroupVersionKind> named = NamedKind(body, format);
  if (!named.ok()) return gvk;
  if (!named->kind.empty()) gvk.kind = named->kind;
  if (!named->group_version().empty()) {
    gvk.group = named->group;
    gvk.version = named->version;
  }
  return gvk;
}

}  // namespace

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
  return *type;
}

Status JudgeStrictness(Call& call, const json::Strictness& strict, FieldValidation validation,
                       const KindInfo& kind) {
  if (strict.errors.empty() || validation == FieldValidation::kIgnore) return {};
  if (validation == FieldValidation::kWarn) {
    for (const std::string& error : strict.errors) {
      // A YAML parser says where it is; the reader of a warning sees only one line of it.
      constexpr std::string_view kYaml = "yaml: unmarshal errors:\n  ";
      call.Warn(error.starts_with(kYaml) ? error.substr(kYaml.size()) : error);
    }
    return {};
  }
  return CannotHandle(GvkOf(kind), kind.kind,
                      "strict decoding error: " + Join(strict.errors, ", "));
}

Result<Object> DecodeBody(Call& call, const KindInfo& kind, FieldValidation validation) {
  COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
  COX_ASSIGN_OR_RETURN(const Format format, BodyFormat(call.Header("content-type")));
  const GroupVersionKind expected = GvkOf(kind);
  json::Strictness strict;
  Result<Object> object = DecodeObject(body, format, Scheme::Builtin(), &expected,
                                       validation == FieldValidation::kIgnore ? nullptr : &strict);
  if (!object.ok()) {
    const std::string why = ReasonFor(body, format, object.status().message());
    // What could not even be read as some object, against what is one but not of our kind.
    const bool unrecognized = why.starts_with("couldn't get version/kind") ||
                              why.starts_with("yaml: ") || why.starts_with("provided data") ||
                              why.starts_with("empty data") || why.starts_with("unexpected EOF");
    if (unrecognized) {
      return Status::BadRequest("the object provided is unrecognized (must be of type " +
                                std::string(kind.kind) + "): " + why + " (" + Excerpt(body) + ")");
    }
    const GroupVersionKind named = KindOf(body, format, expected);
    if (why.starts_with("no kind ")) {
      return CannotHandle(named, kind.kind, why + " in scheme \"coxswain/scheme\"");
    }
    return CannotHandle(named, kind.kind, why);
  }
  if (&object->type() != kind.type) {
    const GroupVersionKind& gvk = object->gvk();
    // One of the same group in another version is told so by the caller, who can convert.
    if (gvk.kind != kind.kind || gvk.group != kind.group) {
      return CannotHandle(gvk, kind.kind,
                          "converting (" + std::string(object->type().name) + ") to (" +
                              GoTypeName(kind) + "): unknown conversion");
    }
    return Status::BadRequest("the API version in the data (" + gvk.group_version().ToString() +
                              ") does not match the expected API version (" +
                              expected.group_version().ToString() + ")");
  }
  COX_RETURN_IF_ERROR(JudgeStrictness(call, strict, validation, kind));
  return object;
}

}  // namespace cox::apiserver
