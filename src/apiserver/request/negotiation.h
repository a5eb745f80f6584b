// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/codec.h"

// Which form a client wants its answer in: the Accept header.
namespace cox::apiserver {

// What an object may be turned into on its way out.
enum class Transform : uint8_t { kNone, kTable, kPartialMetadata, kPartialMetadataList };

struct Accepted {
  Format format = Format::kJson;
  bool pretty = false;
  Transform transform = Transform::kNone;
  // Of the Table or PartialObjectMetadata: "v1" or "v1beta1" in meta.k8s.io.
  std::string transform_version = "v1";

  // The same form for answers that are no object of the resource: a Status.
  Accepted Untransformed() const { return {.format = format, .pretty = pretty}; }
};

// What is answered. Lists may be watched, and say so where they refuse; watches have no YAML.
enum class AnswerKind : uint8_t { kObject, kList, kWatch };

// The best of what `header` accepts; JSON if it says nothing. NotAcceptable with upstream's texts.
Result<Accepted> NegotiateResource(std::optional<std::string_view> header, AnswerKind kind);
// The form for errors: what the client accepts if it can have it, else JSON.
Accepted NegotiateError(std::optional<std::string_view> header);

// How a client wants a discovery document.
struct DiscoveryForm {
  Format format = Format::kJson;
  bool aggregated = false;   // APIGroupDiscoveryList instead of the plain document
  std::string content_type;  // of the answer
};
// `aggregated` says whether the path has an aggregated form: /api and /apis do. An alternative that
// asks for one elsewhere, or for a version of it that is not spoken (only v2 is), cannot be given.
Result<DiscoveryForm> NegotiateDiscovery(std::optional<std::string_view> header, bool aggregated);

// The form of a request's body by its Content-Type; JSON if there is none. UnsupportedMediaType.
Result<Format> BodyFormat(std::optional<std::string_view> content_type);

// Whether a parameter says yes, as Go's strconv.ParseBool understands it.
bool IsTrue(std::string_view value);

}  // namespace cox::apiserver
