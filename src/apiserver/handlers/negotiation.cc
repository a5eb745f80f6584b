// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/negotiation.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kRepresentations =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// One alternative of an Accept header: "application/json;as=Table;q=0.5".
struct Clause {
  std::string_view type;  // with subtype
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
  double quality = 1.0;
};

Clause ParseClause(std::string_view text) {
  Clause clause;
  bool first = true;
  for (std::string_view part : Split(text, ';')) {
    part = Trim(part);
    if (std::exchange(first, false)) {
      clause.type = part;
      continue;
    }
    const size_t equals = part.find('=');
    const std::string_view name = Trim(part.substr(0, equals));
    const std::string_view value =
        equals == part.npos ? std::string_view() : Trim(part.substr(equals + 1));
    if (name == "q") {
      double quality = 1.0;
      if (std::from_chars(value.data(), value.data() + value.size(), quality).ec == std::errc()) {
        clause.quality = quality;
      }
    } else if (!name.empty()) {
      clause.parameters.emplace_back(name, value);
    }
  }
  return clause;
}

// Best quality first; of equals, the one that was named first.
std::vector<Clause> ParseAccept(std::string_view header) {
  std::vector<Clause> clauses;
  for (std::string_view part : Split(header, ',')) {
    if (!Trim(part).empty()) clauses.push_back(ParseClause(Trim(part)));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.quality > b.quality; });
  return clauses;
}

std::optional<Format> FormatOf(std::string_view type) {
  if (type == "*/*" || type == MediaType(Format::kJson)) return Format::kJson;
  if (type == MediaType(Format::kYaml)) return Format::kYaml;
  if (type == MediaType(Format::kProtobuf)) return Format::kProtobuf;
  return std::nullopt;
}

// "true" of the pretty parameter, as Go's strconv.ParseBool understands it.
bool IsTrue(std::string_view value) {
  return value == "1" || value == "t" || value == "T" || value == "true" || value == "TRUE" ||
         value == "True";
}

struct Wish {
  std::string_view as, group, version;
};

// A wish for another shape must be complete, and one that we know.
bool ApplyWish(const Wish& wish, Accepted* accepted) {
  if (wish.as.empty() && wish.group.empty() && wish.version.empty()) return true;
  if (wish.group != "meta.k8s.io" || (wish.version != "v1" && wish.version != "v1beta1")) {
    return false;
  }
  if (wish.as == "Table") {
    if (accepted->format == Format::kProtobuf) return false;  // cells have no protobuf form
    accepted->transform = Transform::kTable;
  } else if (wish.as == "PartialObjectMetadata") {
    accepted->transform = Transform::kPartialMetadata;
  } else if (wish.as == "PartialObjectMetadataList") {
    accepted->transform = Transform::kPartialMetadataList;
  } else {
    return false;
  }
  accepted->transform_version = wish.version;
  return true;
}

// None if this clause asks for something that does not exist.
std::optional<Accepted> Accept(const Clause& clause, Format format) {
  Accepted accepted{.format = format};
  Wish wish;
  for (const auto& [name, value] : clause.parameters) {
    if (name == "as") wish.as = value;
    if (name == "g") wish.group = value;
    if (name == "v") wish.version = value;
    if (name == "pretty") accepted.pretty = IsTrue(value);
  }
  if (!ApplyWish(wish, &accepted)) return std::nullopt;
  return accepted;
}

Result<Accepted> Negotiate(std::optional<std::string_view> header, bool streaming) {
  if (!header || Trim(*header).empty()) return Accepted{};
  bool known_type = false;
  for (const Clause& clause : ParseAccept(*header)) {
    const std::optional<Format> format = FormatOf(clause.type);
    if (!format) continue;
    known_type = true;
    if (streaming && *format == Format::kYaml) continue;
    if (std::optional<Accepted> accepted = Accept(clause, *format)) return *accepted;
  }
  if (!known_type) {
    return Status(Reason::kNotAcceptable, "406: Not Acceptable\n\nAvailable representations: " +
                                              std::string(kRepresentations));
  }
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: " + std::string(kRepresentations));
}

}  // namespace

Result<Accepted> NegotiateResource(std::optional<std::string_view> header, bool streaming) {
  return Negotiate(header, streaming);
}

Accepted NegotiateError(std::optional<std::string_view> header) {
  Result<Accepted> accepted = Negotiate(header, /*streaming=*/false);
  Accepted plain;
  if (accepted.ok()) {
    plain.format = accepted->format;
    plain.pretty = accepted->pretty;
  }
  return plain;
}

Result<Format> BodyFormat(std::optional<std::string_view> content_type) {
  if (!content_type || content_type->empty()) return Format::kJson;
  const Clause clause = ParseClause(*content_type);
  const std::optional<Format> format = FormatOf(clause.type);
  if (!format || clause.type == "*/*") {
    return Status(Reason::kUnsupportedMediaType,
                  "the body of the request was in an unknown format - accepted media types "
                  "include: " +
                      std::string(kRepresentations));
  }
  return *format;
}

}  // namespace cox::apiserver
