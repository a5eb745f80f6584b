// SPDX-License-Identifier: Apache-2.0
#include "kubelet/configs/dns.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::kubelet {

using cri::v1::DNSConfig;

namespace {

constexpr size_t kMaxServers = 3;
constexpr size_t kMaxSearches = 32;
constexpr size_t kMaxSearchLength = 2048;

List<std::string> Words(std::string_view line) {
  List<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

void Append(const List<std::string>& more, List<std::string>& to) {
  for (const std::string& one : more) {
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
  }
}

void MergeOption(const core::v1::PodDNSConfigOption& option, List<std::string>& options) {
  erase_if(options, [&option](const std::string& has) {
    return has == option.name || has.starts_with(option.name + ":");
  });
  options.push_back(option.value ? option.name + ":" + *option.value : option.name);
}

void Limit(DNSConfig& config) {
  if (config.servers.size() > kMaxServers) config.servers.resize(kMaxServers);
  if (config.searches.size() > kMaxSearches) config.searches.resize(kMaxSearches);
  size_t length = 0;
  for (size_t i = 0; i < config.searches.size(); ++i) {
    length += config.searches[i].size() + (i > 0 ? 1 : 0);
    if (length <= kMaxSearchLength) continue;
    config.searches.resize(i);
    return;
  }
}

}  // namespace

DNSConfig ParseResolvConf(std::string_view text) {
  DNSConfig config;
  while (!text.empty()) {
    const CutResult cut = Cut(text, '\n');
    const List<std::string> words = Words(cut.before.substr(0, cut.before.find('#')));
    text = cut.after;
    if (words.size() < 2) continue;
    const List<std::string> values(words.begin() + 1, words.end());
    // Each "nameserver" line adds a server; of the others the last line applies.
    if (words[0] == "nameserver") config.servers.push_back(values.front());
    if (words[0] == "search") config.searches = values;
    if (words[0] == "options") config.options = values;
  }
  return config;
}

DNSConfig MakeDnsConfig(const core::v1::Pod& pod, const ClusterDns& cluster,
                        const DNSConfig& host) {
  const std::string& policy = pod.spec.dnsPolicy;
  const bool by_cluster = policy == "ClusterFirstWithHostNet" ||
                          ((policy.empty() || policy == "ClusterFirst") && !pod.spec.hostNetwork);
  DNSConfig config;
  if (policy == "None") {
    // Only the Pod's dnsConfig applies.
  } else if (by_cluster && !cluster.servers.empty()) {
    const std::string& domain = cluster.domain;
    config.servers = cluster.servers;
    config.searches = {pod.metadata.namespace_ + ".svc." + domain, "svc." + domain, domain};
    Append(host.searches, config.searches);
    config.options = {"ndots:5"};
  } else {
    config = host;
  }
  if (pod.spec.dnsConfig) {
    Append(pod.spec.dnsConfig->nameservers, config.servers);
    Append(pod.spec.dnsConfig->searches, config.searches);
    for (const auto& option : pod.spec.dnsConfig->options) MergeOption(option, config.options);
  }
  Limit(config);
  return config;
}

}  // namespace cox::kubelet
