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

// Request options, parsed from the query and from the body of DELETE. Errors have upstream's texts.
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
// For list, watch and deletecollection. A name in the path (watch of one object) becomes a field
// selector.
Result<ReadOptions> ParseReadOptions(const Call& call, const ServedResource& resource);

// Parses ?resourceVersion=; empty: 0. Errors: an error without a reason (500) if it is not a
// number.
Result<storage::Revision> ReadVersion(const std::string& text);

struct WriteOptions {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::string field_manager;  // as given; see ManagerName
  bool force = false;
};
// `kind` is "CreateOptions", "UpdateOptions" or "PatchOptions", for errors. `apply` is true for
// server-side apply.
Result<WriteOptions> ParseWriteOptions(const Call& call, std::string_view kind, bool apply = false);

// The field manager of a write: the fieldManager parameter, otherwise the prefix of the User-Agent.
std::string ManagerName(const Call& call, const WriteOptions& options);

// Parses body and query. The body may specify kinds of `scheme`.
Result<meta::v1::DeleteOptions> ParseDeleteOptions(const Call& call, const Scheme& scheme);

// Parses and rewrites a field selector for a resource. Errors: BadRequest for unsupported fields.
Result<fields::Selector> ParseFieldSelector(std::string_view text, const ServedResource& resource);

// Reports whether the object matches the selectors. `ns` is its namespace.
bool Selects(const ReadOptions& options, const storage::Entry& entry, std::string_view ns);

}  // namespace cox::apiserver
