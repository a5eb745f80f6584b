// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/access_path.h"
#include "apiserver/endpoints/verbs/list_response.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "base/strings.h"
#include "storage/continue_token.h"
#include "storage/unreadable.h"

namespace cox::apiserver {
namespace {

using storage::Freshness;
using Match = storage::Freshness::Match;

// The required freshness of a list. For compatibility, a resource version with a limit means Exact.
Result<Freshness> FreshnessOf(const ReadOptions& options) {
  Result<storage::Revision> version = ReadVersion(options.resource_version);
  if (!version.ok()) {
    return Status::BadRequest("invalid resource version: " + version.status().message());
  }
  if (options.resource_version.empty()) return Freshness{Match::kLatest, 0};
  if (*version == 0) return Freshness{Match::kAny, 0};
  const bool exact = options.resource_version_match == "Exact" ||
                     (options.resource_version_match.empty() && options.limit > 0);
  return Freshness{exact ? Match::kExact : Match::kNotOlderThan, *version};
}

// Collects a page from entries in key order.
class PageBuilder {
 public:
  PageBuilder(const ServedResource& resource, const ReadOptions& options, int64_t limit)
      : resource_(resource),
        options_(options),
        limit_(limit),
        filtered_(!options.label_selector.Empty() || !options.field_selector.Empty()) {}

  // Returns false if the page is full and `entry` belongs to the next one, or if the page has
  // failed.
  bool Add(const storage::EntryPtr& entry) {
    // The selectors cannot be evaluated for an unreadable object, so the list fails: clients act on
    // objects that are missing in a list and must not receive an incomplete one.
    if (const auto why = storage::WhyUnreadable(entry->stored())) {
      failure_ = Status::Internal("Internal error occurred: unable to transform key " +
                                  Quote(entry->key()) + ": " + std::string(*why));
      return false;
    }
    if (filtered_) {
      if (!Selects(options_, *entry, SplitKey(resource_, entry->key()).ns)) return true;
    }
    if (limit_ > 0 && static_cast<int64_t>(page.entries.size()) == limit_) {
      full_ = true;
      return false;
    }
    page.entries.push_back(entry);
    return true;
  }

  // `total` is the number of all objects below the prefix from the start of the page.
  Result<ListPage> Finish(const std::string& prefix, storage::Revision revision, int64_t total) {
    COX_RETURN_IF_ERROR(failure_);
    page.revision = revision;
    if (full_) {
      // The next page starts directly after the last key.
      storage::ContinueToken token{revision, std::string(page.entries.back()->key()) + '\0'};
      page.continue_token = token.Encode(prefix);
      if (!filtered_) page.remaining = total - static_cast<int64_t>(page.entries.size());
    }
    return std::move(page);
  }

  ListPage page;

 private:
  const ServedResource& resource_;
  const ReadOptions& options_;
  const int64_t limit_;
  const bool filtered_;
  bool full_ = false;
  Status failure_;
};

// A page of a state that may be in the past. `prefix` is that of the request's namespace.
Result<ListPage> PageFromSnapshot(const ServedResource& resource, const ReadOptions& options,
                                  const storage::Snapshot& snapshot, const AccessPath& path,
                                  const std::string& prefix, const std::string& start,
                                  int64_t limit) {
  PageBuilder builder(resource, options, limit);
  int64_t total = 0;
  if (path.one_key) {
    if (storage::EntryPtr entry = snapshot.Find(path.prefix)) builder.Add(entry);
  } else {
    if (limit > 0) total = static_cast<int64_t>(snapshot.Count(path.prefix, start));
    snapshot.Visit(path.prefix, start,
                   [&](const storage::EntryPtr& entry) { return builder.Add(entry); });
  }
  return builder.Finish(prefix, snapshot.revision(), total);
}

// The first page of the current state, from the index.
Result<ListPage> PageFromIndex(Context& ctx, const ServedResource& resource,
                               const ReadOptions& options, const Freshness& freshness,
                               const AccessPath& path, const std::string& prefix, int64_t limit) {
  COX_ASSIGN_OR_RETURN(const storage::Selection found,
                       ReadCurrent(ctx, *resource.store().cache(), path, freshness));
  PageBuilder builder(resource, options, limit);
  for (const storage::EntryPtr& entry : found.entries) {
    if (!builder.Add(entry)) break;
  }
  return builder.Finish(prefix, found.revision, /*total=*/0);
}

// Reads from storage, for revisions that the cache does not contain.
Result<ListPage> PageFromStorage(Context& ctx, const ServedResource& resource,
                                 const ReadOptions& options, const std::string& prefix,
                                 storage::Revision at, std::string start, int64_t limit) {
  PageBuilder builder(resource, options, limit);
  storage::Revision revision = at;
  int64_t total = 0;
  for (bool first = true;; first = false) {
    storage::ListOptions list{.at = revision, .limit = limit > 0 ? limit + 1 : 0, .start = start};
    COX_ASSIGN_OR_RETURN(storage::Page page, resource.store().storage().List(ctx, prefix, list));
    if (first) {
      revision = revision > 0 ? revision : page.revision;
      total = page.count;
    }
    bool more = page.more;
    for (const storage::KeyValue& kv : page.items) {
      start = kv.key + '\0';
      if (!builder.Add(resource.store().MakeEntry(kv))) {
        more = false;
        break;
      }
    }
    if (!more) return builder.Finish(prefix, revision, total);
  }
}

Status ExpiredContinue() {
  return Status::Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
}

// Reports whether the response consists of the cache's shared encodings, so that objects are not
// decoded.
bool IsShared(const Accepted& accepted) {
  return accepted.transform == Transform::kNone && accepted.format != Format::kYaml &&
         !accepted.pretty;
}

// The object of the path, at least as fresh as ?resourceVersion= requires. Errors: NotFound.
Result<storage::EntryPtr> FindEntry(Call& call, const ServedResource& resource) {
  const ResourceStore& store = resource.store();
  const std::string key = store.Key(call.info.namespace_, call.info.name);
  const std::string version_text = call.query.Get("resourceVersion");
  COX_ASSIGN_OR_RETURN(const storage::Revision version, ReadVersion(version_text));
  if (!version_text.empty() && store.cache() != nullptr) {
    const Freshness freshness =
        version == 0 ? Freshness{Match::kAny, 0} : Freshness{Match::kNotOlderThan, version};
    COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr snapshot,
                         store.cache()->Read(call.ctx(), freshness));
    storage::EntryPtr entry = snapshot->Find(key);
    if (entry == nullptr) return NotFoundError(resource.resource(), call.info.name);
    return entry;
  }
  COX_ASSIGN_OR_RETURN(const storage::Store::GetResult found, store.storage().Get(call.ctx(), key));
  if (!found.kv) return NotFoundError(resource.resource(), call.info.name);
  // The cache usually contains this revision with its encodings.
  const storage::SnapshotPtr current =
      store.cache() != nullptr ? store.cache()->Current() : nullptr;
  storage::EntryPtr entry = current != nullptr ? current->Find(key) : nullptr;
  if (entry != nullptr && entry->revision() == found.kv->revision) return entry;
  return store.MakeEntry(*found.kv);
}

}  // namespace

KeyParts SplitKey(const ServedResource& resource, std::string_view key) {
  key.remove_prefix(resource.store().root_prefix().size());
  if (!resource.kind().namespaced) return {"", key};
  const size_t slash = key.find('/');
  if (slash == key.npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

Result<ListPage> ReadPage(Context& ctx, const ServedResource& resource, std::string_view ns,
                          const ReadOptions& options) {
  const std::string prefix = resource.store().Prefix(ns);
  const AccessPath path = AccessPathOf(resource, ns, options);
  storage::WatchCache* cache = resource.store().cache();
  if (!options.continue_token.empty()) {
    if (!options.resource_version.empty() && options.resource_version != "0") {
      return Status::BadRequest("specifying resource version is not allowed when using continue");
    }
    Result<storage::ContinueToken> token =
        storage::ContinueToken::Decode(options.continue_token, prefix);
    if (!token.ok()) {
      return Status::BadRequest("invalid continue token: " + token.status().message());
    }
    const storage::Revision at = std::max<storage::Revision>(token->revision, 0);
    // As below, the limit does not apply to resource version "0".
    const int64_t limit = options.resource_version == "0" ? 0 : options.limit;
    if (cache != nullptr && at > 0) {
      Result<storage::SnapshotPtr> exact = cache->Read(ctx, {Match::kExact, at});
      if (exact.ok()) {
        return PageFromSnapshot(resource, options, **exact, path, prefix, token->start, limit);
      }
    }
    Result<ListPage> page =
        PageFromStorage(ctx, resource, options, prefix, at, token->start, limit);
    if (!page.ok() && page.status().Is(Reason::kExpired)) return ExpiredContinue();
    return page;
  }
  COX_ASSIGN_OR_RETURN(const Freshness freshness, FreshnessOf(options));
  if (cache != nullptr) {
    // Like upstream, ignore the limit if any cached version is sufficient.
    const int64_t limit = freshness.match == Match::kAny ? 0 : options.limit;
    if (!path.field_value.empty() && freshness.match != Match::kExact) {
      Result<ListPage> page = PageFromIndex(ctx, resource, options, freshness, path, prefix, limit);
      if (page.ok() || freshness.match == Match::kNotOlderThan) return page;
    } else {
      Result<storage::SnapshotPtr> snapshot = cache->Read(ctx, freshness);
      if (snapshot.ok()) {
        return PageFromSnapshot(resource, options, **snapshot, path, prefix, "", limit);
      }
      if (freshness.match == Match::kNotOlderThan) return snapshot.status();
    }
  }
  Result<ListPage> page =
      PageFromStorage(ctx, resource, options, prefix,
                      freshness.match == Match::kExact ? freshness.revision : 0, "", options.limit);
  if (!page.ok() && page.status().Is(Reason::kExpired)) {
    return Status::Expired("The resourceVersion for the provided list is too old.");
  }
  return page;
}

Status RespondPageError(Call& call, const ServedResource& resource, const ReadOptions& options,
                        const Status& error) {
  if (!error.Is(Reason::kExpired) || options.continue_token.empty()) return error;
  const std::string prefix = resource.store().Prefix(call.info.namespace_);
  COX_ASSIGN_OR_RETURN(storage::ContinueToken token,
                       storage::ContinueToken::Decode(options.continue_token, prefix));
  token.revision = -1;
  meta::v1::Status body = ApiStatus(error);
  body.metadata.continue_ = token.Encode(prefix);
  call.RespondStatus(body);
  return {};
}

Status ResourceHandlers::List(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate(ResponseKind::kList));
  COX_ASSIGN_OR_RETURN(const ReadOptions options, ParseReadOptions(call, resource));
  COX_ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(call.query, accepted));
  Result<ListPage> found = ReadPage(call.ctx(), resource, call.info.namespace_, options);
  if (!found.ok()) return RespondPageError(call, resource, options, found.status());
  return RespondList(call, resource, std::move(*found), accepted, include);
}

Status ResourceHandlers::Get(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const storage::EntryPtr entry, FindEntry(call, resource));
  if (IsShared(accepted)) {
    COX_ASSIGN_OR_RETURN(Bytes text, resource.Encoded(*entry, accepted.format));
    std::vector<Bytes> body = {std::move(text)};
    if (accepted.format == Format::kJson) body.push_back(Bytes::Static("\n"));
    call.Respond(200, MediaType(accepted.format), std::move(body));
    return {};
  }
  COX_ASSIGN_OR_RETURN(const Object hub,
                       resource.store().Decode(entry->stored(), entry->revision()));
  return RespondObject(call, resource, 200, hub, accepted);
}

}  // namespace cox::apiserver
