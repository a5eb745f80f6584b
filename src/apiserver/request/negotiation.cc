// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/negotiation.h"

#include <vector>

#include "base/strings.h"
#include "net/accept.h"

namespace cox::apiserver {
namespace {

using net::MediaRange;

constexpr std::string_view kRepresentations =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kStreams =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

std::optional<Format> FormatOf(std::string_view type) {
  for (const Format format : {Format::kJson, Format::kYaml, Format::kProtobuf}) {
    if (type == MediaType(format)) return format;
  }
  return std::nullopt;
}

// Applies the requested transform. False if its parameters are incomplete or unsupported.
bool ApplyTransform(const MediaRange& range, Accepted* accepted) {
  const std::string_view as = range.Parameter("as"), group = range.Parameter("g"),
                         version = range.Parameter("v");
  if (as.empty() && group.empty() && version.empty()) return true;
  if (group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return false;
  if (as == "Table") {
    if (accepted->format == Format::kProtobuf) return false;  // table cells have no protobuf form
    accepted->transform = Transform::kTable;
  } else if (as == "PartialObjectMetadata") {
    accepted->transform = Transform::kPartialMetadata;
  } else if (as == "PartialObjectMetadataList") {
    accepted->transform = Transform::kPartialMetadataList;
  } else {
    return false;
  }
  accepted->transform_version = version;
  return true;
}

// A media type is supported, but not with the requested transform.
Status NoneAccepted(std::string_view types) {
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: " + std::string(types));
}

// No media type is supported.
Status NoRepresentation(ResponseKind kind) {
  std::string types(kRepresentations);
  if (kind != ResponseKind::kObject) types.append(", ").append(kStreams);
  return Status(Reason::kNotAcceptable,
                "406: Not Acceptable\n\nAvailable representations: " + types);
}

}  // namespace

bool IsTrue(std::string_view value) {
  for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (value == yes) return true;
  }
  return false;
}

Result<Accepted> NegotiateResource(std::optional<std::string_view> header, ResponseKind kind) {
  if (!header || TrimSpace(*header).empty()) return Accepted{};
  bool known_type = false;
  for (const MediaRange& range : net::ParseAccept(*header)) {
    const std::optional<Format> format =
        range.type == "*/*" ? std::optional(Format::kJson) : FormatOf(range.type);
    if (!format) continue;
    known_type = true;
    if (kind == ResponseKind::kWatch && *format == Format::kYaml) continue;
    Accepted accepted{.format = *format, .pretty = IsTrue(range.Parameter("pretty"))};
    if (ApplyTransform(range, &accepted)) return accepted;
  }
  if (!known_type) return NoRepresentation(kind);
  return NoneAccepted(kind == ResponseKind::kWatch ? kStreams : kRepresentations);
}

Accepted NegotiateError(std::optional<std::string_view> header) {
  Result<Accepted> accepted = NegotiateResource(header, ResponseKind::kObject);
  return accepted.ok() ? accepted->Untransformed() : Accepted{};
}

Result<DiscoveryForm> NegotiateDiscovery(std::optional<std::string_view> header, bool aggregated) {
  if (!header || TrimSpace(*header).empty()) header = "*/*";
  for (const MediaRange& range : net::ParseAccept(*header)) {
    const bool any = range.type == "*/*" || range.type == "application/*";
    const std::optional<Format> format = any ? std::optional(Format::kJson) : FormatOf(range.type);
    if (!format) continue;
    const std::string media_type(MediaType(*format));
    const std::string_view as = range.Parameter("as"), group = range.Parameter("g"),
                           version = range.Parameter("v");
    if (as.empty() && group.empty() && version.empty()) {
      return DiscoveryForm{*format, false, media_type};
    }
    if (aggregated && group == "apidiscovery.k8s.io" && version == "v2" &&
        as == "APIGroupDiscoveryList") {
      return DiscoveryForm{*format, true,
                           media_type + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"};
    }
  }
  return NoneAccepted(kRepresentations);
}

Result<Format> BodyFormat(std::optional<std::string_view> content_type) {
  if (!content_type || content_type->empty()) return Format::kJson;
  const std::optional<Format> format = FormatOf(net::ParseMediaRange(*content_type).type);
  if (format) return *format;
  return Status(Reason::kUnsupportedMediaType,
                "the body of the request was in an unknown format - accepted media types "
                "include: " +
                    std::string(kRepresentations));
}

}  // namespace cox::apiserver
