// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/list_response.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"

namespace cox::apiserver {
namespace {

// A Status "Success" with details of the deleted object.
Object DeletedStatus(const ServedResource& resource, const meta::v1::ObjectMeta& meta) {
  meta::v1::StatusDetails details;
  details.name = meta.name;
  details.group = resource.kind().group;
  details.kind = resource.kind().plural;
  details.uid = meta.uid;
  meta::v1::Status status;
  status.status = "Success";
  status.details = std::move(details);
  return StatusObject(std::move(status));
}

bool IsDryRun(const meta::v1::DeleteOptions& options) { return !options.dryRun.empty(); }

}  // namespace

Status ResourceHandlers::Delete(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const meta::v1::DeleteOptions options,
                       ParseDeleteOptions(call, resource.strategy().scheme()));
  call.Warn(resource.strategy().WarnOnDelete(options));
  const bool dry_run = IsDryRun(options);
  COX_ASSIGN_OR_RETURN(
      const ResourceStore::DeleteResult deleted,
      resource.store().Delete(
          WriteContextOf(call, resource, dry_run), call.info.namespace_, call.info.name, options,
          ValidatingAdmission(admission_, call, resource, Operation::kDelete, dry_run)));
  if (deleted.gone && !resource.strategy().ReturnsDeletedObject()) {
    RespondPlain(call, 200, DeletedStatus(resource, *deleted.object.object_meta()), accepted);
    return {};
  }
  return RespondObject(call, resource, 200, deleted.object, accepted);
}

Status ResourceHandlers::DeleteCollection(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const meta::v1::DeleteOptions options,
                       ParseDeleteOptions(call, resource.strategy().scheme()));
  COX_ASSIGN_OR_RETURN(const ReadOptions selection, ParseReadOptions(call, resource));
  call.Warn(resource.strategy().WarnOnDelete(options));
  Result<ListPage> found = ReadPage(call.ctx(), resource, call.info.namespace_, selection);
  if (!found.ok()) return RespondPageError(call, resource, selection, found.status());
  const bool dry_run = IsDryRun(options);
  const WriteContext w = WriteContextOf(call, resource, dry_run);
  const ValidateFunc validate =
      ValidatingAdmission(admission_, call, resource, Operation::kDelete, dry_run);
  for (const storage::EntryPtr& entry : found->entries) {
    const KeyParts parts = SplitKey(resource, entry->key());
    Status deleted = resource.store().Delete(w, parts.ns, parts.name, options, validate).status();
    // Another client has deleted the object in the meantime.
    if (!deleted.ok() && !deleted.Is(Reason::kNotFound)) return deleted;
  }
  return RespondList(call, resource, std::move(*found), accepted, IncludeObject::kMetadata);
}

}  // namespace cox::apiserver
