// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "proxy/model/service_port.h"
#include "proxy/rules/program.h"

namespace cox::proxy {

struct ServiceRuleOptions {
  // Who is in the cluster: what comes from elsewhere to a cluster IP is masqueraded. None: nothing
  // is, but for --masquerade-all.
  std::optional<Prefix> cluster_cidr;
  bool masquerade_all = false;
};

// How much is asked of the table for one port of a Service.
Program MakeServiceProgram(const ServicePort& port, const ServiceRuleOptions& options);

// "service-A1B2C3D4-default/web/tcp/http": the hash keeps names apart that are cut off at the
// kernel's limit.
std::string ChainName(std::string_view kind, const std::string& name);

}  // namespace cox::proxy
