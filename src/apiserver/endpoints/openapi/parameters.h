// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cox::apiserver::openapi {

// A part of a request beside its body.
struct Parameter {
  std::string_view name;
  std::string_view in = "query";  // or "path"
  std::string_view type = "string";
  std::string_view description = "";
  // Under which a v2 document shares it; empty: written where it is used. The tail of these names
  // says nothing to clients, but tools diff documents by them.
  std::string_view shared_name = "";

  bool required() const { return in == "path"; }
};

// The parameters of each kind of request. Sorted by name, as documents show them.
std::span<const Parameter* const> ListParameters();
std::span<const Parameter* const> WriteParameters();  // POST and PUT
std::span<const Parameter* const> PatchParameters();
std::span<const Parameter* const> DeleteParameters();
std::span<const Parameter* const> DeleteCollectionParameters();

extern const Parameter kNameParameter;  // its description continues with the kind
extern const Parameter kNamespaceParameter;
extern const Parameter kPathParameter;  // what follows .../proxy/
extern const Parameter kPrettyParameter;

// Names of the two bodies that v2 documents share.
inline constexpr std::string_view kSharedDeleteBody = "body-2Y1dVQaQ";
inline constexpr std::string_view kSharedPatchBody = "body-78PwaGsr";

// All that have a shared name, for the v2 document's table.
std::span<const Parameter* const> SharedParameters();

}  // namespace cox::apiserver::openapi
