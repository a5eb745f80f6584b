// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/health_checks.h"

#include <algorithm>
#include <exception>

#include "base/strings.h"

namespace cox::sdk {
namespace {

// Limits hanging checks, because probes time out after some seconds.
constexpr std::chrono::seconds kCheckTimeout{10};

net::Response Text(int status, std::string text) {
  return {.status = status,
          .headers = {{"content-type", "text/plain; charset=utf-8"},
                      {"x-content-type-options", "nosniff"}},
          .body = {Bytes(std::move(text))}};
}

Status Ask(Context& ctx, const std::string& name, const Manager::Check& check) {
  Context limited = ctx.WithTimeout(kCheckTimeout);
  Status status;
  try {
    status = check(limited);
  } catch (const std::exception& exception) {
    status = Status::Internal(std::string("an exception escaped: ") + exception.what());
  }
  if (!status.ok()) COX_V(ctx.log(), 1, "Check failed", {"check", name}, {"err", status});
  return status;
}

// Check names contain no characters that need escaping in a query.
struct Query {
  bool verbose = false;
  std::vector<std::string_view> excluded;

  explicit Query(std::string_view text) {
    constexpr std::string_view kExclude = "exclude=";
    for (const std::string_view parameter : Split(text, '&')) {
      if (parameter == "verbose" || parameter.starts_with("verbose=")) verbose = true;
      if (parameter.starts_with(kExclude)) excluded.push_back(parameter.substr(kExclude.size()));
    }
  }
};

}  // namespace

void HealthChecks::Add(std::string name, Manager::Check check) {
  MutexLock lock(mu_);
  for (auto& [known, old] : checks_) {
    if (known != name) continue;
    old = std::move(check);
    return;
  }
  checks_.emplace_back(std::move(name), std::move(check));
}

bool HealthChecks::Owns(std::string_view path) const {
  if (!path.starts_with('/') || !path.substr(1).starts_with(endpoint_)) return false;
  const std::string_view rest = path.substr(1 + endpoint_.size());
  return rest.empty() || rest.starts_with('/');
}

HealthChecks::Checks HealthChecks::All() const {
  MutexLock lock(mu_);
  if (!checks_.empty()) return checks_;
  return {{"ping", [](Context&) { return Status(); }}};
}

net::Response HealthChecks::Answer(Context& ctx, std::string_view path,
                                   std::string_view query) const {
  const Checks checks = All();
  std::string_view name = path.substr(1 + endpoint_.size());
  if (name.starts_with('/')) name.remove_prefix(1);
  if (!name.empty()) {
    const auto found = std::find_if(checks.begin(), checks.end(),
                                    [&](const auto& check) { return check.first == name; });
    if (found == checks.end()) return Text(404, "404 page not found\n");
    const Status status = Ask(ctx, found->first, found->second);
    if (status.ok()) return Text(200, "ok");
    return Text(500, "internal server error: " + status.message() + "\n");
  }
  const Query parsed(query);
  const auto excluded = [&](const std::string& check) {
    return std::find(parsed.excluded.begin(), parsed.excluded.end(), check) !=
           parsed.excluded.end();
  };
  std::string lines;
  bool well = true;
  for (const auto& [known, check] : checks) {
    if (excluded(known)) {
      lines += "[+]" + known + " excluded: ok\n";
    } else if (Ask(ctx, known, check).ok()) {
      lines += "[+]" + known + " ok\n";
    } else {
      lines += "[-]" + known + " failed: reason withheld\n";
      well = false;
    }
  }
  if (!well) return Text(500, lines + endpoint_ + " check failed\n");
  return Text(200, parsed.verbose ? lines + endpoint_ + " check passed\n" : "ok");
}

}  // namespace cox::sdk
