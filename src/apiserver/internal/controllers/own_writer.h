// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "apiserver/registry/served/registry.h"
#include "base/context.h"
#include "object/type/value.h"

namespace cox::apiserver {

class AdmissionChain;

// What the API server writes on its own account, as system:apiserver. Defaults, admission,
// validation and field ownership are everybody's: a webhook is asked about our writes too.
//
// Threads: all methods may be called concurrently. They block for storage.
class OwnWriter {
 public:
  // `admission` outlives the writer; null: nobody is asked, which only tests may want.
  explicit OwnWriter(const Registry& registry, const AdmissionChain* admission = nullptr)
      : registry_(registry), admission_(admission) {}

  // Brings an object that is there already up to date. False: it was, nothing is written.
  using Mend = std::function<bool(Object& existing)>;
  // Creates `object`, of a hub kind, unless there is one of its name; that one is mended, where
  // `mend` is given. Idempotent.
  Status Ensure(Context& ctx, Object object, std::string_view manager,
                const Mend& mend = nullptr) const;

  // Changes an object that is there, or its /status. `mend` is called again when somebody else was
  // faster; false: nothing is written. OK if there is no such object: it is gone.
  Status Update(Context& ctx, const KindInfo& kind, std::string_view name, std::string_view manager,
                const Mend& mend, std::string_view subresource = {}) const;

  // Applies `configuration` (apiVersion, kind, metadata.name, status) to /status of an object that
  // is there, and takes over the fields it names.
  Status ApplyStatus(Context& ctx, const KindInfo& kind, const Value& configuration,
                     std::string_view manager) const;

 private:
  Status Create(Context& ctx, const ServedResource& resource, Object object,
                std::string_view manager) const;
  Status Change(Context& ctx, const ServedResource& resource, std::string_view ns,
                std::string_view name, std::string_view manager, const Mend& mend,
                std::string_view subresource) const;

  // Admission of a write: changes `object`, which is about to take the place of `old`.
  Status Admit(Context& ctx, const ServedResource& resource, std::string_view subresource,
               Object& object, const Object* old) const;
  Judge JudgeOf(Context& ctx, const ServedResource& resource, std::string_view subresource) const;

  const Registry& registry_;
  const AdmissionChain* const admission_;
};

}  // namespace cox::apiserver
