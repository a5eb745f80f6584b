// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/decode_object.h"

#include "object/codec.h"
#include "object/codec/json/reader.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/type/kind_names.h"
#include "sdk/client/response/list_decoder.h"

namespace cox::sdk {
namespace {

// The document's kind and apiVersion. Unlike json::PeekTypeMeta, stops after these fields, which
// come first in API responses.
json::TypeMeta PeekNames(std::string_view text) {
  json::Reader reader(text);
  json::TypeMeta names;
  if (reader.Peek() != json::Token::kObject || !reader.BeginObject()) return names;
  std::string_view key;
  bool more = true;
  while ((names.kind.empty() || names.api_version.empty()) && reader.NextKey(&key, &more) && more) {
    std::string* to = key == "kind"         ? &names.kind
                      : key == "apiVersion" ? &names.api_version
                                            : nullptr;
    const json::Token token = reader.Peek();
    const bool read =
        to != nullptr && token == json::Token::kString ? reader.TakeString(to) : reader.Skip();
    if (!read) break;
  }
  return names;
}

bool Names(const GroupVersionKind& gvk, std::string_view api_version, std::string_view kind) {
  if (gvk.kind != kind) return false;
  if (gvk.group.empty()) return gvk.version == api_version;
  return api_version.size() == gvk.group.size() + 1 + gvk.version.size() &&
         api_version.starts_with(gvk.group) && api_version[gvk.group.size()] == '/' &&
         api_version.ends_with(gvk.version);
}

Result<ObjectForm> FormOf(std::string_view api_version, std::string_view kind,
                          const Resource& resource, const KindInfo* answer) {
  // A body without a kind has the requested kind.
  if (kind.empty() || Names(resource.gvk, api_version, kind)) {
    return ObjectForm{resource.gvk, resource.info};
  }
  COX_ASSIGN_OR_RETURN(GroupVersionKind gvk, GroupVersionKind::Parse(api_version, kind));
  if (answer != nullptr && GvkOf(*answer) == gvk) return ObjectForm{std::move(gvk), answer};
  const KindInfo* info = Scheme::Builtin().FindKind(gvk);
  return ObjectForm{std::move(gvk), info};
}

}  // namespace

Result<Object> DecodeResponse(std::string_view body, const Resource& resource,
                              const KindInfo* answer) {
  if (proto::HasEnvelope(body)) {
    const Result<proto::Envelope> envelope = proto::Open(body);
    if (!envelope.ok()) {
      return Status::Internal("the server's answer cannot be read: " + envelope.status().message());
    }
    COX_ASSIGN_OR_RETURN(const ObjectForm form,
                         FormOf(envelope->api_version, envelope->kind, resource, answer));
    return DecodeAs(form, envelope->raw, Format::kProtobuf);
  }
  const json::TypeMeta names = PeekNames(body);
  COX_ASSIGN_OR_RETURN(const ObjectForm form,
                       FormOf(names.api_version, names.kind, resource, answer));
  return DecodeAs(form, body, Format::kJson);
}

std::string_view Join(const std::vector<Bytes>& pieces, std::string* storage) {
  if (pieces.empty()) return {};
  if (pieces.size() == 1) return pieces.front().view();
  for (const Bytes& piece : pieces) storage->append(piece.view());
  return *storage;
}

}  // namespace cox::sdk
