// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/requests.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/strings.h"

namespace cox::sdk {
namespace {

// Takes a number and its unit off the front; none if there is no such thing.
std::optional<double> TakeMilliseconds(std::string_view& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  struct Unit {
    std::string_view name;
    double milliseconds;
  };
  for (const Unit& unit : {Unit{"ms", 1}, Unit{"s", 1e3}, Unit{"m", 6e4}, Unit{"h", 3.6e6}}) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return number * unit.milliseconds;
  }
  return std::nullopt;
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const Status bad = Status::BadRequest("the address " + Quote(text) + " is not host:port");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  ListenAddress address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return bad;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad;
  }
  address.host = host.empty() ? "0.0.0.0" : std::string(host);
  return address;
}

std::chrono::milliseconds TimeoutOf(std::string_view query, std::chrono::milliseconds most) {
  for (const std::string_view part : Split(query, '&')) {
    const CutResult cut = Cut(part, '=');
    if (cut.before != "timeout") continue;
    std::string_view rest = cut.after;
    double sum = 0;
    while (!rest.empty()) {
      const std::optional<double> piece = TakeMilliseconds(rest);
      if (!piece) return most;
      sum += *piece;
    }
    if (sum <= 0) return most;
    if (sum >= static_cast<double>(most.count())) return most;
    return std::chrono::milliseconds(std::max<int64_t>(1, static_cast<int64_t>(sum)));
  }
  return most;
}

bool IsJson(std::string_view content_type) {
  return TrimSpace(Cut(content_type, ';').before) == "application/json";
}

}  // namespace cox::sdk
