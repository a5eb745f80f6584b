// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/body.h"
#include "apiserver/handlers/resource_handlers.h"
#include "apiserver/handlers/respond.h"

namespace cox::apiserver {
namespace {

// "Success", about an object that is gone.
Object DeletedStatus(const ServedResource& resource, const Object& object) {
  Object status(meta::v1::Status::kKind, GroupVersionKind{"", "v1", "Status"});
  auto* typed = status.As<meta::v1::Status>();
  typed->status = "Success";
  meta::v1::StatusDetails details;
  details.name = object.object_meta()->name;
  details.group = resource.kind().group;
  details.kind = resource.kind().plural;
  details.uid = object.object_meta()->uid;
  typed->details = std::move(details);
  return status;
}

bool IsDryRun(const meta::v1::DeleteOptions& options) { return !options.dryRun.empty(); }

}  // namespace

void ResourceHandlers::Delete(Call& call, const ServedResource& resource) {
  Result<Accepted> accepted = NegotiateResource(call.Header("accept"), /*streaming=*/false);
  if (!accepted.ok()) return call.RespondStatus(accepted.status());
  Result<std::string_view> body = ReadBody(call);
  if (!body.ok()) return call.RespondStatus(body.status());
  Result<meta::v1::DeleteOptions> options = ParseDeleteOptions(call);
  if (!options.ok()) return call.RespondStatus(options.status());
  for (std::string& text : resource.strategy().WarnOnDelete(*options)) call.Warn(std::move(text));
  const bool dry_run = IsDryRun(*options);
  const WriteContext w{call.ctx(), call.user, NowOf(call.ctx()), dry_run, &resource.kind()};
  Result<ResourceStore::DeleteResult> deleted =
      resource.store().Delete(w, call.info.namespace_, call.info.name, *options,
                              JudgeOf(admission_, call, resource, Operation::kDelete, dry_run));
  if (!deleted.ok()) return call.RespondStatus(deleted.status());
  if (deleted->gone && !resource.strategy().ReturnsDeletedObject()) {
    return RespondPlain(call, 200, DeletedStatus(resource, deleted->object),
                        {.format = accepted->format, .pretty = accepted->pretty});
  }
  RespondObject(call, resource, 200, deleted->object, *accepted);
}

void ResourceHandlers::DeleteCollection(Call& call, const ServedResource& resource) {
  Result<Accepted> accepted = NegotiateResource(call.Header("accept"), /*streaming=*/false);
  if (!accepted.ok()) return call.RespondStatus(accepted.status());
  Result<std::string_view> body = ReadBody(call);
  if (!body.ok()) return call.RespondStatus(body.status());
  Result<meta::v1::DeleteOptions> options = ParseDeleteOptions(call);
  if (!options.ok()) return call.RespondStatus(options.status());
  Result<ReadOptions> selection = ParseReadOptions(call, resource);
  if (!selection.ok()) return call.RespondStatus(selection.status());
  for (std::string& text : resource.strategy().WarnOnDelete(*options)) call.Warn(std::move(text));
  Result<ListPage> page = ReadPage(call.ctx(), resource, call.info.namespace_, *selection);
  if (!page.ok()) return call.RespondStatus(page.status());

  const bool dry_run = IsDryRun(*options);
  const WriteContext w{call.ctx(), call.user, NowOf(call.ctx()), dry_run, &resource.kind()};
  const Judge judge = JudgeOf(admission_, call, resource, Operation::kDelete, dry_run);
  std::vector<Object> hubs;
  for (const storage::EntryPtr& entry : page->entries) {
    const KeyParts parts = SplitKey(resource, entry->key());
    Result<ResourceStore::DeleteResult> deleted =
        resource.store().Delete(w, parts.ns, parts.name, *options, judge);
    // Somebody else deleted it first: all the better.
    if (!deleted.ok() && !deleted.status().Is(Reason::kNotFound)) {
      return call.RespondStatus(deleted.status());
    }
    Result<Object> hub = resource.store().Decode(entry->stored(), entry->revision());
    if (hub.ok()) hubs.push_back(std::move(*hub));
  }
  const ListMeta meta{page->revision, page->continue_token, page->remaining};
  Result<std::string> text = EncodeShapedList(resource, hubs, meta, *accepted,
                                              IncludeObject::kMetadata, NowOf(call.ctx()));
  if (!text.ok()) return call.RespondStatus(text.status());
  call.Respond(200, MediaType(accepted->format), {Bytes(std::move(*text))});
}

}  // namespace cox::apiserver
