// SPDX-License-Identifier: Apache-2.0
#include "apiserver/discovery/negotiate.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct Clause {
  std::string_view media_type;
  std::string_view group;
  std::string_view version;
  std::string_view as;
  double q = 1;

  bool AsksForKind() const { return !group.empty() || !version.empty() || !as.empty(); }
};

Clause ParseClause(std::string_view text) {
  Clause clause;
  bool first = true;
  for (std::string_view part : Split(text, ';')) {
    part = TrimSpace(part);
    if (first) {
      clause.media_type = part;
      first = false;
      continue;
    }
    const CutResult pair = Cut(part, '=');
    const std::string_view name = TrimSpace(pair.before), value = TrimSpace(pair.after);
    if (name == "g") clause.group = value;
    if (name == "v") clause.version = value;
    if (name == "as") clause.as = value;
    if (name == "q") std::from_chars(value.data(), value.data() + value.size(), clause.q);
  }
  return clause;
}

std::optional<Format> FormatOf(std::string_view media_type) {
  if (media_type == "*/*" || media_type == "application/*") return Format::kJson;
  for (const Format format : {Format::kJson, Format::kYaml, Format::kProtobuf}) {
    if (media_type == MediaType(format)) return format;
  }
  return std::nullopt;
}

std::vector<Clause> ParseAccept(std::string_view accept) {
  if (TrimSpace(accept).empty()) accept = "*/*";
  std::vector<Clause> clauses;
  for (std::string_view text : Split(accept, ',')) clauses.push_back(ParseClause(TrimSpace(text)));
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.q > b.q; });
  return clauses;
}

}  // namespace

std::vector<std::string_view> AcceptedTypes(std::string_view accept) {
  std::vector<std::string_view> types;
  for (const Clause& clause : ParseAccept(accept)) types.push_back(clause.media_type);
  return types;
}

std::optional<DiscoveryForm> NegotiateDiscovery(std::string_view accept, bool aggregated) {
  for (const Clause& clause : ParseAccept(accept)) {
    const std::optional<Format> format = FormatOf(clause.media_type);
    if (!format) continue;
    const std::string media_type(MediaType(*format));
    if (!clause.AsksForKind()) return DiscoveryForm{*format, false, media_type};
    if (aggregated && clause.group == "apidiscovery.k8s.io" && clause.version == "v2" &&
        clause.as == "APIGroupDiscoveryList") {
      return DiscoveryForm{*format, true,
                           media_type + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"};
    }
  }
  return std::nullopt;
}

}  // namespace cox::apiserver
