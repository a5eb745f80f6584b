// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/request_info.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "object/selector/fields.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string VerbOf(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The subresources of namespaces. Any other segment after the namespace's name is a resource in
// that namespace.
bool IsNamespaceSubresource(std::string_view word) {
  return word == "status" || word == "finalize";
}

// The segments of the path. Double slashes yield empty segments; a trailing slash does not.
std::optional<std::vector<std::string>> Segments(std::string_view raw_path) {
  std::vector<std::string> segments;
  if (!raw_path.empty() && raw_path.front() == '/') raw_path.remove_prefix(1);
  if (!raw_path.empty() && raw_path.back() == '/') raw_path.remove_suffix(1);
  if (raw_path.empty()) return segments;
  // An escaped slash separates too, because names cannot contain slashes.
  std::optional<std::string> decoded = PercentDecode(raw_path, /*plus_is_space=*/false);
  if (!decoded) return std::nullopt;
  return Split(*decoded, '/').ToStrings();
}

// The name that a field selector requires. Empty if it requires none, or one that is not valid as a
// path segment.
std::string SelectedName(const std::string& text) {
  if (text.empty()) return {};
  Result<fields::Selector> selector = fields::Selector::Parse(text);
  if (!selector.ok()) return {};
  const std::optional<std::string_view> name = selector->RequiresExactMatch("metadata.name");
  if (!name || !validation::IsValidPathSegmentName(*name).empty()) return {};
  return std::string(*name);
}

// Parses namespace, resource, name and subresource from the segments after the version.
void ReadResource(RequestInfo* info) {
  std::vector<std::string>& parts = info->parts;
  size_t at = 0;
  if (!parts.empty() && (parts[0] == "watch" || parts[0] == "proxy") && parts.size() > 1) {
    if (parts[0] == "watch") {
      info->verb = info->verb == "get" ? "watch" : info->verb;
      parts.erase(parts.begin());
    } else {
      info->trailing = true;  // the legacy proxy verb is not supported
    }
  }
  if (parts.empty()) return;
  if (parts[0] == "namespaces" && parts.size() > 1) {
    info->namespace_ = parts[1];
    // A namespace itself is a resource too: /namespaces/x and /namespaces/x/status.
    if (parts.size() > 2 && !IsNamespaceSubresource(parts[2])) at = 2;
  }
  info->resource = parts[at];
  if (parts.size() > at + 1) info->name = parts[at + 1];
  if (parts.size() > at + 2) info->subresource = parts[at + 2];
  info->trailing = info->trailing || parts.size() > at + 3;
  info->is_resource = true;
}

}  // namespace

bool IsStreamSubresource(std::string_view subresource) {
  return subresource == "exec" || subresource == "attach" || subresource == "portforward" ||
         subresource == "proxy";
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexValue(text[i + 1]), low = HexValue(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Query Query::Parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty() || pair.find(';') != pair.npos) continue;
    const size_t equals = pair.find('=');
    std::optional<std::string> name = PercentDecode(pair.substr(0, equals), true);
    std::optional<std::string> value =
        equals == pair.npos ? std::string() : PercentDecode(pair.substr(equals + 1), true);
    if (name && value) query.pairs_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

const std::string* Query::Find(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string Query::Get(std::string_view name) const {
  const std::string* value = Find(name);
  return value == nullptr ? std::string() : *value;
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::Flag(std::string_view name) const {
  const std::string* value = Find(name);
  if (value == nullptr) return false;
  const std::string lower = Lower(*value);
  return lower != "false" && lower != "0";
}

Result<std::optional<int64_t>> Query::Int(std::string_view name) const {
  const std::string* text = Find(name);
  if (text == nullptr || text->empty()) return std::optional<int64_t>();
  auto fail = [text](std::string_view why) {
    return Status::BadRequest("strconv.ParseInt: parsing " + Quote(*text) + ": " +
                              std::string(why));
  };
  int64_t value = 0;
  std::string_view digits = *text;
  if (digits.front() == '+') digits.remove_prefix(1);
  // from_chars accepts a leading minus, which must not follow a plus.
  if (digits.empty() || (digits.size() < text->size() && digits.front() == '-')) {
    return fail("invalid syntax");
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) return fail("invalid syntax");
  if (error == std::errc::result_out_of_range) return fail("value out of range");
  if (error != std::errc()) return fail("invalid syntax");
  return std::optional<int64_t>(value);
}

Result<RequestInfo> ParseRequestInfo(std::string_view method, std::string_view target,
                                     const Query& query) {
  RequestInfo info;
  const std::string_view raw_path = target.substr(0, target.find('?'));
  std::optional<std::string> path = PercentDecode(raw_path, false);
  std::optional<std::vector<std::string>> segments = Segments(raw_path);
  if (!path || !segments) return Status::BadRequest("invalid URL escape in the path");
  info.path = std::move(*path);
  info.verb = Lower(method);

  const bool core = !segments->empty() && segments->front() == "api";
  const bool grouped = !segments->empty() && segments->front() == "apis";
  const size_t head = core ? 2 : 3;  // api/v1, apis/group/version
  if ((!core && !grouped) || segments->size() <= head) return info;

  info.prefix = segments->front();
  if (grouped) info.group = (*segments)[1];
  info.version = (*segments)[head - 1];
  info.parts.assign(segments->begin() + static_cast<ptrdiff_t>(head), segments->end());
  info.verb = VerbOf(method);
  ReadResource(&info);
  if (!info.is_resource) return info;

  if (info.name.empty() && info.verb == "get") info.verb = query.Flag("watch") ? "watch" : "list";
  const bool looking = info.verb == "list" || info.verb == "watch";
  // A field selector on metadata.name sets the name, so that authorization can use it.
  if (info.name.empty() && looking) info.name = SelectedName(query.Get("fieldSelector"));
  if (info.name.empty() && info.verb == "delete") info.verb = "deletecollection";
  const bool stream = IsStreamSubresource(info.subresource) || info.subresource == "log";
  info.long_running = info.verb == "watch" || (stream && !info.name.empty());
  return info;
}

}  // namespace cox::apiserver
