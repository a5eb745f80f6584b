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

// The client's calls as HTTP: where they go and what they carry. Pure functions.
namespace cox::sdk {

// What shape the answer shall have.
enum class Shape : uint8_t {
  kWhole,
  kMetadata,      // PartialObjectMetadata: of a watch
  kMetadataList,  // PartialObjectMetadataList
};
// The Accept header. With kProtobuf JSON is taken too, from servers that have nothing better.
std::string_view AcceptHeader(Format format, Shape shape);

std::string_view MethodOf(Operation::Verb verb);

// Path and query. Errors: BadRequest for what could end up at another path than meant: no name or
// no namespace where one belongs (without a name DELETE is of the whole collection), names that are
// no path segments; no field manager for apply.
Result<std::string> TargetOf(const Operation& operation);
std::string ListTarget(const Resource& resource, const ListOptions& options,
                       std::string_view continue_token);
std::string WatchTarget(const Resource& resource, const WatchOptions& options);

// For a path segment or a value of a query.
void AppendEscaped(std::string* out, std::string_view text);

// As the API writes them; none if they say nothing.
std::optional<meta::v1::DeleteOptions> ToApi(const DeleteOptions& options);

// The body and its Content-Type, which is empty if there is no body.
struct Body {
  std::string text;
  std::string_view content_type;
};
Body BodyOf(const Operation& operation, Format format);

}  // namespace cox::sdk
