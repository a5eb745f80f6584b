// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "apiserver/registry/served/registry.h"
#include "base/context.h"
#include "object/type/value.h"

namespace cox::apiserver {

class AdmissionChain;

// Writes of the API server itself, as system:apiserver. Defaults, admission (with webhooks),
// validation and field ownership apply as for other clients.
//
// Threads: all methods may be called concurrently. They block for storage.
class InternalClient {
 public:
  // `admission` must outlive the client. Null: no admission, for tests.
  explicit InternalClient(const Registry& registry, const AdmissionChain* admission = nullptr)
      : registry_(registry), admission_(admission) {}

  // Updates an existing object. False: it is up to date, and nothing is written.
  using MutateFunc = std::function<bool(Object& existing)>;
  // Creates `object`, which is of a hub kind. If it exists, updates it with `mutate`, unless that
  // is null. Idempotent.
  Status Ensure(Context& ctx, Object object, std::string_view manager,
                const MutateFunc& mutate = nullptr) const;

  // Updates an existing object, or its /status. Calls `mutate` again after a conflict. OK if the
  // object does not exist.
  Status Update(Context& ctx, const KindInfo& kind, std::string_view name, std::string_view manager,
                const MutateFunc& mutate, std::string_view subresource = {}) const;

  // Applies `configuration` (apiVersion, kind, metadata.name, status) to /status of an existing
  // object, and takes over the ownership of its fields.
  Status ApplyStatus(Context& ctx, const KindInfo& kind, const Value& configuration,
                     std::string_view manager) const;

 private:
  Status Create(Context& ctx, const ServedResource& resource, Object object,
                std::string_view manager) const;
  Status Change(Context& ctx, const ServedResource& resource, std::string_view ns,
                std::string_view name, std::string_view manager, const MutateFunc& mutate,
                std::string_view subresource) const;

  // Mutating admission of a write that replaces `old` by `object`.
  Status Admit(Context& ctx, const ServedResource& resource, std::string_view subresource,
               Object& object, const Object* old) const;
  ValidateFunc ValidatingAdmission(Context& ctx, const ServedResource& resource,
                                   std::string_view subresource) const;

  const Registry& registry_;
  const AdmissionChain* const admission_;
};

}  // namespace cox::apiserver
