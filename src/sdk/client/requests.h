// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "net/http.h"
#include "object/codec.h"

// Converts the client's calls to HTTP requests. Pure functions.
namespace cox::sdk {

// The requested form of the response.
enum class Shape : uint8_t {
  kWhole,
  kMetadata,      // PartialObjectMetadata, for a watch
  kMetadataList,  // PartialObjectMetadataList
};
// The Accept header. kProtobuf also accepts JSON, for servers without protobuf.
std::string_view AcceptHeader(Format format, Shape shape);

std::string_view MethodOf(Operation::Verb verb);

// Path and query.
// Errors: BadRequest if the request could reach an unintended path: a missing name or namespace
//   (DELETE without a name deletes the collection) or a name that is not a valid path segment; also
//   for apply without a field manager.
Result<std::string> TargetOf(const Operation& operation);
std::string ListTarget(const Resource& resource, const ListOptions& options,
                       std::string_view continue_token);
std::string WatchTarget(const Resource& resource, const WatchOptions& options);

// Escapes a path segment or a query value.
void AppendEscaped(std::string* out, std::string_view text);

// The API's form of the options; no value if all options have their defaults.
std::optional<meta::v1::DeleteOptions> ToApi(const DeleteOptions& options);

// The body and its Content-Type, which is empty if there is no body.
struct Body {
  std::string text;
  std::string_view content_type;
};
Body BodyOf(const Operation& operation, Format format);

}  // namespace cox::sdk
