// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/flowcontrol/v1.h"
#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"

namespace cox::apiserver {

// Whether a FlowSchema is about a request: one of its rules names who makes it and what it is.
bool MatchesFlowSchema(const flowcontrol::v1::FlowSchemaSpec& schema, const UserInfo& user,
                       const RequestInfo& info);

// What tells the flows of a schema apart: the user, the namespace, or nothing. Borrows from its
// arguments.
std::string_view DistinguisherOf(const flowcontrol::v1::FlowSchemaSpec& schema,
                                 const UserInfo& user, const RequestInfo& info);

}  // namespace cox::apiserver
