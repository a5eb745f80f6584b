// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "apiserver/filters/audit/events/policy.h"
#include "apiserver/request/user.h"

namespace cox::apiserver {

// An event in the format of --audit-log-format=legacy: one line of key="value" pairs.
struct LegacyLine {
  std::string received;  // RFC 3339
  std::string audit_id;
  std::string ip;
  std::string verb;
  UserInfo user;
  std::optional<UserInfo> as;
  std::string user_agent;
  std::string ns;
  std::string uri;

  // With its newline. `code` 0: no response yet.
  std::string Text(AuditStage stage, int code) const;
};

}  // namespace cox::apiserver
