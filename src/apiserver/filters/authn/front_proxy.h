// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/authenticator/client_certificate.h"

namespace cox::apiserver {

// How a proxy in front of the server says for whom it speaks: the requestheader flags.
struct FrontProxyOptions {
  std::string client_ca_file;  // of the proxies' certificates; empty: there are no proxies
  std::vector<std::string> allowed_names;  // common names; empty: any that the CA signed
  // The first header of those that is there says the user; all of them the groups.
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_prefixes;  // "X-Remote-Extra-"
};

// Believes the headers of a peer whose certificate is a front proxy's, and nobody else's. `clock`
// outlives the method.
std::unique_ptr<const AuthMethod> NewFrontProxyMethod(CaSource cas, FrontProxyOptions options,
                                                      const Clock& clock);

// The names of the headers, and the prefixes, in lower case.
std::vector<std::string> FrontProxyHeaders(const FrontProxyOptions& options);
std::vector<std::string> FrontProxyPrefixes(const FrontProxyOptions& options);

}  // namespace cox::apiserver
