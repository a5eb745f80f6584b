// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/codec.h"

namespace cox::apiserver {

// How a client wants a discovery document.
struct DiscoveryForm {
  Format format = Format::kJson;
  bool aggregated = false;   // APIGroupDiscoveryList instead of the plain document
  std::string content_type;  // of the answer
};

// What an Accept header asks for; none if nothing in it can be given (406). Clauses are tried by
// their q, equal ones in the order they stand. The empty header means JSON.
//
// `aggregated` says whether the path has an aggregated form: /api and /apis do. A clause that asks
// for one elsewhere, or for a version of it that is not spoken (only v2 is), cannot be given.
std::optional<DiscoveryForm> NegotiateDiscovery(std::string_view accept, bool aggregated);

// The media types of an Accept header without their parameters, best first. Views into `accept`.
std::vector<std::string_view> AcceptedTypes(std::string_view accept);

}  // namespace cox::apiserver
