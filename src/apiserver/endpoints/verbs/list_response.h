// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"

namespace cox::apiserver {

// Responds with a list of objects. A small list is encoded at once. A large one is encoded while
// the client reads it, so that neither a long list nor a slow client needs memory for all of it.
// Errors, with no response sent: NotAcceptable.
Status RespondList(Call& call, const ServedResource& resource, ListPage page,
                   const Accepted& accepted, IncludeObject include);

}  // namespace cox::apiserver
