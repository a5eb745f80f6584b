// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/flowcontrol/v1.h"
#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"

namespace cox::apiserver {

// Whether a FlowSchema matches a request: one of its rules must match both the subject and the
// request.
bool MatchesFlowSchema(const flowcontrol::v1::FlowSchemaSpec& schema, const UserInfo& user,
                       const RequestInfo& info);

// The flow distinguisher within a schema: the user, the namespace, or empty. Borrows from its
// arguments.
std::string_view DistinguisherOf(const flowcontrol::v1::FlowSchemaSpec& schema,
                                 const UserInfo& user, const RequestInfo& info);

}  // namespace cox::apiserver
