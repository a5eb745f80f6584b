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
};

// The best of what `header` accepts; JSON if it says nothing. `streaming`: for watches, which have
// no YAML. NotAcceptable with upstream's texts.
Result<Accepted> NegotiateResource(std::optional<std::string_view> header, bool streaming);
// The form for errors: what the client accepts if it can have it, else JSON.
Accepted NegotiateError(std::optional<std::string_view> header);

// The form of a request's body by its Content-Type; JSON if there is none. UnsupportedMediaType.
Result<Format> BodyFormat(std::optional<std::string_view> content_type);

}  // namespace cox::apiserver
