// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/metrics/request_metrics.h"

#include <algorithm>
#include <string>

#include "object/patch/patch.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kComponent = "apiserver";
// All resources with all verbs, scopes and codes: more than a vector's default limit, but bounded
// by the served resources.
constexpr size_t kSeriesLimit = 10'000;

// Non-resource paths, each counted with its subpaths.
constexpr std::string_view kPaths[] = {"/api",     "/apis",    "/healthz", "/livez",
                                       "/metrics", "/openapi", "/readyz",  "/version"};

std::string_view KnownPath(std::string_view path) {
  if (path == "/") return path;
  for (std::string_view known : kPaths) {
    if (path.starts_with(known) && (path.size() == known.size() || path[known.size()] == '/')) {
      return known;
    }
  }
  return {};
}

struct VerbName {
  std::string_view verb;
  std::string_view shown;
};
constexpr VerbName kVerbs[] = {
    {"get", "GET"},       {"list", "LIST"},
    {"watch", "WATCH"},   {"create", "POST"},
    {"update", "PUT"},    {"patch", "PATCH"},
    {"delete", "DELETE"}, {"deletecollection", "DELETECOLLECTION"},
};
// For non-resource paths, where the verb is the lower-case method.
constexpr VerbName kMethods[] = {{"get", "GET"},        {"head", "GET"},    {"post", "POST"},
                                 {"put", "PUT"},        {"patch", "PATCH"}, {"delete", "DELETE"},
                                 {"options", "OPTIONS"}};

std::string_view Shown(std::span<const VerbName> names, std::string_view verb) {
  for (const VerbName& name : names) {
    if (name.verb == verb) return name.shown;
  }
  return "other";
}

std::string_view VerbOf(const Call& call) {
  const RequestInfo& info = call.info;
  if (!info.is_resource) return Shown(kMethods, info.verb);
  if (IsStreamSubresource(info.subresource)) return "CONNECT";
  if (info.verb == "patch" &&
      patch::PatchTypeOf(call.Header("content-type").value_or("")) == patch::PatchType::kApply) {
    return "APPLY";
  }
  return Shown(kVerbs, info.verb);
}

std::string_view DryRunOf(const Query& query) {
  const std::vector<std::string> values = query.All("dryRun");
  if (values.empty()) return "";
  const bool all = std::all_of(values.begin(), values.end(),
                               [](const std::string& value) { return value == "All"; });
  return all ? "All" : "invalid";
}

bool IsReading(const RequestInfo& info) {
  return info.verb == "get" || info.verb == "list" || info.verb == "watch" || info.verb == "head";
}

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Whether the request shows how long writes take. Renewals of Leases have seats and threads of
// their own and are fast while others wait; reviews are created, but not stored.
bool ShowsWriteLag(const RequestInfo& info) {
  return info.is_resource && !info.long_running &&
         (info.verb == "create" || info.verb == "update" || info.verb == "patch" ||
          info.verb == "delete") &&
         info.group != "coordination.k8s.io" && info.group != "authentication.k8s.io" &&
         info.group != "authorization.k8s.io";
}

// The served APIs that are deprecated. None of them has a release in which it will be removed.
struct DeprecatedApi {
  std::string_view group, version, resource;
};
constexpr DeprecatedApi kDeprecatedApis[] = {{"", "v1", "componentstatuses"},
                                             {"", "v1", "endpoints"}};

bool IsDeprecated(std::string_view group, std::string_view version, std::string_view resource) {
  return std::any_of(
      std::begin(kDeprecatedApis), std::end(kDeprecatedApis), [&](const DeprecatedApi& api) {
        return api.group == group && api.version == version && api.resource == resource;
      });
}

}  // namespace

std::string_view ScopeOf(const RequestInfo& info) {
  if (!info.is_resource) return "";
  if (!info.name.empty() || info.verb == "create") return "resource";
  return info.namespace_.empty() ? "cluster" : "namespace";
}

RequestMetrics::RequestMetrics(MetricsRegistry& registry, CurrentServedSet served, WriteLag* lag)
    : total_(registry.AddCounterVec(
          {"apiserver_request_total",
           "Requests that were answered, by what they asked for and the HTTP code of the answer.",
           Stability::kStable},
          {"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component",
           "code"},
          kSeriesLimit)),
      duration_(registry.AddHistogramVec(
          {"apiserver_request_duration_seconds",
           "Seconds from a request to its answer, or to the end of a stream.", Stability::kStable},
          {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2,
           3,     4,     5,    6,   8,   10,  15,  20,  30, 45,   60},
          {"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"},
          kSeriesLimit)),
      sizes_(registry.AddHistogramVec(
          {"apiserver_response_sizes", "Bytes of answers to reads, before compression.",
           Stability::kStable},
          ExponentialBuckets(1000, 10, 7),
          {"verb", "group", "version", "resource", "subresource", "scope", "component"},
          kSeriesLimit)),
      inflight_(registry.AddGaugeVec({"apiserver_current_inflight_requests",
                                      "Requests that are being answered, but for long-running "
                                      "ones.",
                                      Stability::kStable},
                                     {"request_kind"})),
      long_running_(registry.AddGaugeVec(
          {"apiserver_longrunning_requests", "Watches and streams that are open.",
           Stability::kStable},
          {"verb", "group", "version", "resource", "subresource", "scope", "component"},
          kSeriesLimit)),
      deprecated_(registry.AddGaugeVec(
          {"apiserver_requested_deprecated_apis",
           "1 for each deprecated API that was requested since the server started.",
           Stability::kStable},
          {"group", "version", "resource", "subresource", "removed_release"})),
      reading_(inflight_.With({"readOnly"})),
      writing_(inflight_.With({"mutating"})),
      served_(std::move(served)),
      lag_(lag) {}

RequestMetrics::Subject RequestMetrics::SubjectOf(const RequestInfo& info) const {
  if (!info.is_resource) return {"", "", "", KnownPath(info.path)};
  const ServedSetPtr now = served_();
  const ServedKind* const found = now->Find(info.group, info.version, info.resource);
  if (found == nullptr) return {};
  const std::span<const SubresourceInfo> subresources = found->kind->subresources;
  const bool known = info.subresource.empty() ||
                     std::any_of(subresources.begin(), subresources.end(),
                                 [&](const auto& sub) { return sub.name == info.subresource; });
  if (!known) return {};
  return {info.group, info.version, info.resource, info.subresource};
}

RequestMetrics::Series& RequestMetrics::SeriesOf(const Call& call) {
  SeriesKey key{SubjectOf(call.info), VerbOf(call), ScopeOf(call.info), DryRunOf(call.query)};
  {
    ReaderLock lock(mutex_);
    const auto found = series_.find(key);
    if (found != series_.end()) return *found->second;
    // Only reached if thousands of custom resources are created and removed: they share a series.
    if (series_.size() >= kSeriesLimit) std::get<Subject>(key) = {};
  }
  const auto& [s, verb, scope, dry_run] = key;
  auto series = std::make_unique<Series>();
  series->owned = {std::string(s.group), std::string(s.version), std::string(s.resource),
                   std::string(s.subresource)};
  series->subject = {series->owned.group, series->owned.version, series->owned.resource,
                     series->owned.subresource};
  series->verb = verb;
  series->scope = scope;
  series->dry_run = dry_run;
  series->duration = &duration_.With(
      {verb, dry_run, s.group, s.version, s.resource, s.subresource, scope, kComponent});
  const bool measured = verb == "GET" || verb == "LIST";
  series->size =
      !measured
          ? nullptr
          : &sizes_.With({verb, s.group, s.version, s.resource, s.subresource, scope, kComponent});
  if (IsDeprecated(s.group, s.version, s.resource)) {
    deprecated_.With({s.group, s.version, s.resource, s.subresource, ""}).Set(1);
  }
  const SeriesKey lasting{series->subject, verb, scope, dry_run};
  WriterLock lock(mutex_);
  // Another thread may have added the series first; both refer to the same metrics.
  return *series_.emplace(lasting, std::move(series)).first->second;
}

Counter& RequestMetrics::CounterOf(Series& series, int code) {
  {
    ReaderLock lock(mutex_);
    for (const auto& [known, counter] : series.by_code) {
      if (known == code) return *counter;
    }
  }
  const Subject& s = series.subject;
  Counter& counter = total_.With({series.verb, series.dry_run, s.group, s.version, s.resource,
                                  s.subresource, series.scope, kComponent, std::to_string(code)});
  WriterLock lock(mutex_);
  series.by_code.emplace_back(code, &counter);
  return counter;
}

void RequestMetrics::Finish(Series& series, int code, size_t bytes, Clock::Duration took) {
  CounterOf(series, code).Inc();
  series.duration->Observe(Seconds(took));
  if (series.size != nullptr) series.size->Observe(static_cast<double>(bytes));
}

void RequestMetrics::Follow(Call& call) {
  Series& series = SeriesOf(call);
  const Subject& s = series.subject;
  Gauge& running = call.info.long_running
                       ? long_running_.With({series.verb, s.group, s.version, s.resource,
                                             s.subresource, series.scope, kComponent})
                   : IsReading(call.info) ? reading_
                                          : writing_;
  running.Inc();
  Clock& clock = call.ctx().clock();
  WriteLag* const lag = ShowsWriteLag(call.info) && series.dry_run.empty() ? lag_ : nullptr;
  if (lag != nullptr) lag->Begin();
  call.set_on_response(
      [this, &series, &running, &clock, lag, start = clock.Monotonic()](int code, size_t bytes) {
        const Clock::Duration took = clock.Monotonic() - start;
        running.Dec();
        Finish(series, code, bytes, took);
        if (lag != nullptr) lag->End(took, code < 300);
      });
}

}  // namespace cox::apiserver
