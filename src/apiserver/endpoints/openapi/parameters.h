// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cox::apiserver::openapi {

// A path or query parameter of a request.
struct Parameter {
  std::string_view name;
  std::string_view in = "query";  // or "path"
  std::string_view type = "string";
  std::string_view description = "";
  // The name under which v2 documents share the parameter; empty: written inline. The suffixes of
  // these names have no meaning, but tools diff documents by them.
  std::string_view shared_name = "";

  bool required() const { return in == "path"; }
};

// The parameters of each type of request, sorted by name as in the documents.
std::span<const Parameter* const> ListParameters();
std::span<const Parameter* const> WriteParameters();  // POST and PUT
std::span<const Parameter* const> PatchParameters();
std::span<const Parameter* const> DeleteParameters();
std::span<const Parameter* const> DeleteCollectionParameters();

extern const Parameter kNameParameter;  // the kind is appended to its description
extern const Parameter kNamespaceParameter;
extern const Parameter kPathParameter;  // the part of the path after .../proxy/
extern const Parameter kPrettyParameter;

// Names of the two bodies that v2 documents share.
inline constexpr std::string_view kSharedDeleteBody = "body-2Y1dVQaQ";
inline constexpr std::string_view kSharedPatchBody = "body-78PwaGsr";

// All parameters with a shared name, for the `parameters` table of the v2 document.
std::span<const Parameter* const> SharedParameters();

}  // namespace cox::apiserver::openapi
