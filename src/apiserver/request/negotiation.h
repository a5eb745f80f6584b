// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/codec.h"

// Content negotiation by the Accept header.
namespace cox::apiserver {

// The transforms of a response object that a client can request.
enum class Transform : uint8_t { kNone, kTable, kPartialMetadata, kPartialMetadataList };

struct Accepted {
  Format format = Format::kJson;
  bool pretty = false;
  Transform transform = Transform::kNone;
  // The version of the Table or PartialObjectMetadata in meta.k8s.io: "v1" or "v1beta1".
  std::string transform_version = "v1";

  // The same format for responses that are not objects of the resource, such as a Status.
  Accepted Untransformed() const { return {.format = format, .pretty = pretty}; }
};

// The kind of response. For lists and watches the 406 error also names the streaming media types;
// watches do not support YAML.
enum class ResponseKind : uint8_t { kObject, kList, kWatch };

// The best supported media type in `header`; JSON if the header is absent or empty. Errors:
// NotAcceptable with upstream's texts.
Result<Accepted> NegotiateResource(std::optional<std::string_view> header, ResponseKind kind);
// The format for errors: the accepted one if it is supported, otherwise JSON.
Accepted NegotiateError(std::optional<std::string_view> header);

// The negotiated form of a discovery document.
struct DiscoveryForm {
  Format format = Format::kJson;
  bool aggregated = false;   // APIGroupDiscoveryList instead of the plain document
  std::string content_type;  // of the response
};
// `aggregated` states whether the path supports aggregated discovery, as /api and /apis do.
// Alternatives that request it on other paths, or in a version other than v2, are skipped.
Result<DiscoveryForm> NegotiateDiscovery(std::optional<std::string_view> header, bool aggregated);

// The format of a request body by its Content-Type; JSON if there is none. Errors:
// UnsupportedMediaType.
Result<Format> BodyFormat(std::optional<std::string_view> content_type);

// Whether Go's strconv.ParseBool reads the value as true.
bool IsTrue(std::string_view value);

}  // namespace cox::apiserver
