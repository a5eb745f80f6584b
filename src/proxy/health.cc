// SPDX-License-Identifier: Apache-2.0
#include "proxy/health.h"

#include "base/strings.h"
#include "object/scalar/time.h"

namespace cox::proxy {
namespace {

std::string Stamp(Clock::WallTime time) {
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  return Time::FromUnixNanos(nanos).ToString();
}

net::Response Json(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.headers = {{"content-type", "application/json"}, {"x-content-type-options", "nosniff"}};
  response.body.emplace_back(std::move(body));
  return response;
}

}  // namespace

void ProxyHealth::Queued() {
  MutexLock lock(mu_);
  if (!waiting_since_) waiting_since_ = clock_.Monotonic();
}

void ProxyHealth::Updated() {
  MutexLock lock(mu_);
  updated_ = clock_.Now();
  waiting_since_.reset();
}

void ProxyHealth::SetEligible(bool eligible) {
  MutexLock lock(mu_);
  eligible_ = eligible;
}

bool ProxyHealth::Healthy() const {
  MutexLock lock(mu_);
  if (!updated_) return false;
  return !waiting_since_ || clock_.Monotonic() - *waiting_since_ < kMaxPending;
}

net::Response ProxyHealth::Answer(const net::Request& request) {
  const bool live = request.path() == "/livez";
  if (!live && request.path() != "/healthz") return {.status = 404};
  const bool healthy = Healthy();
  MutexLock lock(mu_);
  const int status = healthy && (live || eligible_) ? 200 : 503;
  (live ? metrics_.livez : metrics_.healthz).With({std::to_string(status)}).Inc();
  const Clock::WallTime now = clock_.Now();
  // As upstream: an unhealthy proxy reports its last update, a healthy one the current time.
  const Clock::WallTime updated = healthy ? now : updated_.value_or(Clock::WallTime());
  return Json(status, "{\"lastUpdated\": " + Quote(Stamp(updated)) +
                          ",\"currentTime\": " + Quote(Stamp(now)) +
                          ", \"nodeEligible\": " + (eligible_ ? "true}" : "false}"));
}

net::Response RespondWithServiceHealth(const ObjectKey& service, int local_endpoints,
                                       bool healthy) {
  net::Response response =
      Json(local_endpoints > 0 && healthy ? 200 : 503,
           "{\n\t\"service\": {\n\t\t\"namespace\": " + Quote(service.ns) +
               ",\n\t\t\"name\": " + Quote(service.name) +
               "\n\t},\n\t\"localEndpoints\": " + std::to_string(local_endpoints) +
               ",\n\t\"serviceProxyHealthy\": " + (healthy ? "true" : "false") + "\n}");
  response.headers.Add("x-load-balancing-endpoint-weight", std::to_string(local_endpoints));
  return response;
}

void ServiceHealthServers::Update(const ObjectKey& service, const ServiceHealth& health) {
  if (health.port == 0) {
    served_.erase(service);
    return;
  }
  Served& served = served_[service];
  if (served.server != nullptr && served.port == health.port) {
    served.local_endpoints->store(health.local_endpoints);
    return;
  }
  served.server.reset();
  served.port = health.port;
  served.local_endpoints = std::make_shared<std::atomic<int>>(health.local_endpoints);
  auto started = net::Endpoint::Start(
      ctx_, "service-health", {.host = "", .port = health.port},
      [service, count = served.local_endpoints, this](Context&, const net::Request&) {
        return RespondWithServiceHealth(service, count->load(), proxy_.Healthy());
      });
  if (started.ok()) {
    served.server = *std::move(started);
  } else {
    COX_ERROR(ctx_.log(), started.status(), "Could not listen on healthCheckNodePort",
              {"service", service.ToString()}, {"port", health.port});
  }
}

}  // namespace cox::proxy
