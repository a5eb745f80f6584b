// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "proxy/model/service_port.h"
#include "proxy/rules/program.h"

namespace cox::proxy {

struct ServiceRuleOptions {
  // The Pod network: packets from other sources to a cluster IP are masqueraded. None: none are,
  // except with --masquerade-all.
  std::optional<Prefix> cluster_cidr;
  bool masquerade_all = false;
};

// The part of the table for one port of a Service.
Program MakeServiceProgram(const ServicePort& port, const ServiceRuleOptions& options);

// "service-A1B2C3D4-default/web/tcp/http": the hash distinguishes names that are truncated to the
// kernel's limit.
std::string ChainName(std::string_view kind, const std::string& name);

}  // namespace cox::proxy
