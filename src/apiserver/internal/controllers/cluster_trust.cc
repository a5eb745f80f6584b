// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/cluster_trust.h"

#include <algorithm>
#include <memory>

#include "api/core/v1.h"
#include "apiserver/internal/controllers/internal_client.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using core::v1::ConfigMap;

constexpr std::string_view kManager = "kube-apiserver";
constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kName = "extension-apiserver-authentication";
// The maximum delay until a changed CA file is published.
constexpr std::chrono::seconds kResync{60};

// The JSON list at `key`, with the missing elements of `ours` added.
std::string CombinedList(const ConfigMap& map, std::string_view key,
                         const std::vector<std::string>& ours) {
  Value::Array all;
  const auto add = [&all](std::string_view text) {
    for (const Value& one : all) {
      if (one.as_string() == text) return;
    }
    all.emplace_back(text);
  };
  if (const std::string* text = map.data.Get(key)) {
    const Result<Value> there = json::Parse(*text);
    if (there.ok() && there->is_array()) {
      for (const Value& one : there->as_array()) {
        if (one.is_string()) add(one.as_string());
      }
    }
  }
  for (const std::string& one : ours) add(one);
  return json::Write(Value(std::move(all)));
}

// Updates the ConfigMap; false if it is up to date.
bool UpdateConfigMap(const Authentication& authentication, Clock::WallTime now, ConfigMap& map) {
  bool changed = false;
  const auto put = [&](std::string_view key, std::string value) {
    const std::string* there = map.data.Get(key);
    if (there != nullptr && *there == value) return;
    map.data[key] = std::move(value);
    changed = true;
  };
  const auto put_cas = [&](std::string_view key, const std::string& pem) {
    const std::string* there = map.data.Get(key);
    put(key, CombineCertificates(there == nullptr ? std::string() : *there, pem, now));
  };
  const std::string clients = authentication.client_ca_pem();
  const std::string proxies = authentication.front_proxy_ca_pem();
  if (!clients.empty()) put_cas("client-ca-file", clients);
  if (proxies.empty()) return changed;
  const FrontProxyOptions& proxy = authentication.front_proxy();
  put_cas("requestheader-client-ca-file", proxies);
  const std::pair<std::string_view, const std::vector<std::string>&> lists[] = {
      {"requestheader-allowed-names", proxy.allowed_names},
      {"requestheader-username-headers", proxy.username_headers},
      {"requestheader-uid-headers", proxy.uid_headers},
      {"requestheader-group-headers", proxy.group_headers},
      {"requestheader-extra-headers-prefix", proxy.extra_prefixes},
  };
  for (const auto& [key, ours] : lists) put(key, CombinedList(map, key, ours));
  return changed;
}

}  // namespace

InternalController ClusterTrustLoop(const Registry& registry,
                                    const Authentication& authentication) {
  const ServedResource& maps = registry.Hub(ConfigMap::kKind);
  auto writer = std::make_shared<const InternalClient>(registry);
  return {.name = "cluster-trust",
          .watches = {&maps},
          .reconcile = [&authentication, &maps, writer](Context& ctx) -> Status {
            const Clock::WallTime now = ctx.clock().Now();
            // Every change of any ConfigMap triggers this, so it is usually up to date.
            Result<Object> there = maps.store().Get(ctx, kNamespace, kName, /*from_cache=*/true);
            if (there.ok() && !UpdateConfigMap(authentication, now, *there->As<ConfigMap>()))
              return {};
            ConfigMap map;
            map.metadata.namespace_ = kNamespace;
            map.metadata.name = kName;
            if (!UpdateConfigMap(authentication, now, map)) return {};  // no CAs are configured
            return writer->Ensure(ctx, Object::Of(std::move(map)), kManager, [&](Object& existing) {
              return UpdateConfigMap(authentication, now, *existing.As<ConfigMap>());
            });
          },
          .resync = kResync};
}

}  // namespace cox::apiserver
