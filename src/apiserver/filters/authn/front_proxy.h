// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/authenticator/client_certificate.h"

namespace cox::apiserver {

// The requestheader flags: how a front proxy passes on the authenticated user.
struct FrontProxyOptions {
  std::string client_ca_file;              // for the proxies' certificates; empty: disabled
  std::vector<std::string> allowed_names;  // common names; empty: any that the CA signed
  // The first username header that is set gives the user; all group headers give the groups.
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_prefixes;  // "X-Remote-Extra-"
};

// Trusts the headers only if the client certificate is a front proxy's. `clock` must outlive the
// method.
std::unique_ptr<const AuthMethod> NewFrontProxyMethod(CaSource cas, FrontProxyOptions options,
                                                      const Clock& clock);

// The header names and prefixes in lower case.
std::vector<std::string> FrontProxyHeaders(const FrontProxyOptions& options);
std::vector<std::string> FrontProxyPrefixes(const FrontProxyOptions& options);

}  // namespace cox::apiserver
