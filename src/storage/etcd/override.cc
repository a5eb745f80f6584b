// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/override.h"

#include "storage/etcd/server_url.h"

namespace cox::storage {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

Result<EtcdOverride> ParseEtcdOverride(std::string_view text) {
  const auto bad = [text](std::string_view why) {
    return Status::BadRequest("--etcd-servers-overrides: \"" + std::string(text) +
                              "\": " + std::string(why) + "; want group/resource#server1;server2");
  };
  const std::vector<std::string> halves = Split(text, '#');
  if (halves.size() != 2) return bad("there must be one #");
  const std::vector<std::string> names = Split(halves[0], '/');
  if (names.size() != 2) return bad("there must be one / before the #");
  if (names[1].empty()) return bad("there is no resource");
  EtcdOverride result{names[0], names[1], Split(halves[1], ';')};
  for (const std::string& server : result.servers) {
    const Result<net::grpc::Endpoint> endpoint = ParseServerUrl(server);
    if (!endpoint.ok()) return bad(endpoint.status().message());
  }
  return result;
}

Result<std::unique_ptr<StoreRouter>> StoreRouter::Create(const EtcdOptions& options,
                                                         const std::vector<EtcdOverride>& overrides,
                                                         const Connect& connect) {
  auto router = std::make_unique<StoreRouter>();
  std::map<std::vector<std::string>, EtcdStore*> by_servers;
  const auto store_of = [&](const std::vector<std::string>& servers) -> Result<EtcdStore*> {
    EtcdStore*& known = by_servers[servers];
    if (known == nullptr) {
      EtcdOptions own = options;
      own.servers = servers;
      COX_ASSIGN_OR_RETURN(std::unique_ptr<EtcdStore> store, connect(std::move(own)));
      known = store.get();
      router->stores_.push_back(std::move(store));
    }
    return known;
  };
  COX_RETURN_IF_ERROR(store_of(options.servers).status());
  for (const EtcdOverride& override : overrides) {
    COX_ASSIGN_OR_RETURN(EtcdStore* const store, store_of(override.servers));
    router->overrides_[{override.group, override.resource}] = store;
  }
  return router;
}

EtcdStore& StoreRouter::For(std::string_view group, std::string_view resource) const {
  const auto it = overrides_.find(std::pair(std::string(group), std::string(resource)));
  return it != overrides_.end() ? *it->second : *stores_.front();
}

}  // namespace cox::storage
