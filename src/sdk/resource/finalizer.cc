// SPDX-License-Identifier: Apache-2.0
#include "coxswain/finalizer.h"

#include "object/codec/json/json.h"
#include "object/type/value.h"

namespace cox::internal {

Result<Object> WriteFinalizers(Context& ctx, Client& client, const Resource& resource,
                               const meta::v1::ObjectMeta& meta) {
  Value::Array finalizers;
  for (const std::string& finalizer : meta.finalizers) finalizers.emplace_back(finalizer);
  // A merge patch replaces lists: send the whole list, conditional on the version that was read.
  const Patch patch = Patch::Merge(json::Write(Value::MakeObject(
      {{"metadata", Value::MakeObject({{"finalizers", Value(std::move(finalizers))},
                                       {"resourceVersion", meta.resourceVersion}})}})));
  const WriteOptions options;
  return client.Execute(ctx, {.verb = Operation::Verb::kPatch,
                              .resource = resource,
                              .key = {meta.namespace_, meta.name},
                              .patch = &patch,
                              .write = &options});
}

bool IsGone(const Status& status) { return status.Is(Reason::kNotFound); }

}  // namespace cox::internal
