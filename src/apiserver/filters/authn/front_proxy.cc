// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/front_proxy.h"

#include <algorithm>

#include "apiserver/request/request_info.h"

namespace cox::apiserver {
namespace {

std::vector<std::string> Lower(std::vector<std::string> names) {
  for (std::string& name : names) {
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return names;
}

// The first header that is set and not empty.
std::string First(const net::Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::optional<std::string_view> value = headers.Get(name);
    if (value && !value->empty()) return std::string(*value);
  }
  return {};
}

class FrontProxyMethod final : public AuthMethod {
 public:
  FrontProxyMethod(CaSource cas, FrontProxyOptions options, const Clock& clock)
      : cas_(std::move(cas)), options_(std::move(options)), clock_(clock) {}

  Result<std::optional<UserInfo>> Try(const net::Request& request) const override {
    COX_ASSIGN_OR_RETURN(const std::optional<CertificateSubject> peer,
                         VerifyPeer(request, cas_(), clock_));
    if (!peer) return std::optional<UserInfo>();
    const std::vector<std::string>& allowed = options_.allowed_names;
    if (!allowed.empty() && std::ranges::find(allowed, peer->common_name) == allowed.end()) {
      return Status(Reason::kUnauthorized, "this certificate's name is no front proxy's");
    }
    UserInfo user;
    user.name = First(request.headers, options_.username_headers);
    if (user.name.empty()) return std::optional<UserInfo>();
    user.uid = First(request.headers, options_.uid_headers);
    for (const std::string& name : options_.group_headers) {
      for (std::string_view group : request.headers.All(name)) user.groups.emplace_back(group);
    }
    for (const auto& [name, value] : request.headers) {
      for (const std::string& prefix : options_.extra_prefixes) {
        if (!name.starts_with(prefix)) continue;
        const std::string_view raw = std::string_view(name).substr(prefix.size());
        user.extra[PercentDecode(raw, /*plus_is_space=*/false).value_or(std::string(raw))]
            .push_back(value);
      }
    }
    return std::optional<UserInfo>(std::move(user));
  }

 private:
  const CaSource cas_;
  const FrontProxyOptions options_;  // names in lower case
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<const AuthMethod> NewFrontProxyMethod(CaSource cas, FrontProxyOptions options,
                                                      const Clock& clock) {
  options.username_headers = Lower(std::move(options.username_headers));
  options.uid_headers = Lower(std::move(options.uid_headers));
  options.group_headers = Lower(std::move(options.group_headers));
  options.extra_prefixes = Lower(std::move(options.extra_prefixes));
  return std::make_unique<FrontProxyMethod>(std::move(cas), std::move(options), clock);
}

std::vector<std::string> FrontProxyHeaders(const FrontProxyOptions& options) {
  std::vector<std::string> names = options.username_headers;
  names.insert(names.end(), options.uid_headers.begin(), options.uid_headers.end());
  names.insert(names.end(), options.group_headers.begin(), options.group_headers.end());
  return Lower(std::move(names));
}

std::vector<std::string> FrontProxyPrefixes(const FrontProxyOptions& options) {
  return Lower(options.extra_prefixes);
}

}  // namespace cox::apiserver
