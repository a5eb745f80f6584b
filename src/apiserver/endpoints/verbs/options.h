// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/meta/v1.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "object/selector/fields.h"
#include "object/selector/labels.h"
#include "storage/watchcache/watch_cache.h"

// Options of requests: from the query, from the body of DELETE, checked with upstream's texts.
namespace cox::apiserver {

enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

struct ReadOptions {
  labels::Selector label_selector;
  fields::Selector field_selector;
  bool watch = false;
  bool allow_bookmarks = false;
  std::optional<bool> send_initial_events;
  std::string resource_version;
  std::string resource_version_match;
  std::optional<int64_t> timeout_seconds;
  int64_t limit = 0;
  std::string continue_token;
};
// For list, watch and deletecollection. A name in the path (watch of one) becomes a field selector.
Result<ReadOptions> ParseReadOptions(const Call& call, const ServedResource& resource);

// ?resourceVersion= as a number, 0 for none; an error without a reason (500) for what is no number.
Result<storage::Revision> ReadVersion(const std::string& text);

struct WriteOptions {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::string field_manager;  // as given; see ManagerName
  bool force = false;
};
// `kind` is "CreateOptions", "UpdateOptions" or "PatchOptions", for errors; `apply`: a patch of
// that type.
Result<WriteOptions> ParseWriteOptions(const Call& call, std::string_view kind, bool apply = false);

// The name under which a writer owns fields: what it says, else the start of its User-Agent.
std::string ManagerName(const Call& call, const WriteOptions& options);

// From body and query. The body may name the kinds of `scheme`.
Result<meta::v1::DeleteOptions> ParseDeleteOptions(const Call& call, const Scheme& scheme);

// Checks and rewrites a field selector for a resource: BadRequest for fields it does not know.
Result<fields::Selector> ParseFieldSelector(std::string_view text, const ServedResource& resource);

// Whether the object is selected. `ns` is its namespace.
bool Selects(const ReadOptions& options, const storage::Entry& entry, std::string_view ns);

}  // namespace cox::apiserver
