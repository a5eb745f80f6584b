// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "object/patch/patch.h"
#include "object/selector/fields.h"
#include "object/selector/labels.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Options of the client's verbs. All are optional; `{}` is the usual choice.
namespace cox {

struct GetOptions {
  // "": the most recent version. "0": any version from the server's cache. Otherwise: a version
  // that is not older than this one.
  std::string resource_version;
  std::string subresource;  // "scale"
};

struct ListOptions {
  std::string ns;  // empty: all namespaces
  labels::Selector labels;
  fields::Selector fields;
  // 0: the whole list in one response. Otherwise the client reads the list in pages of this size.
  int64_t page_size = 0;
  std::string resource_version;        // as in GetOptions
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"
  // If a continue token expires (410), the client restarts the list without paging and calls
  // on_restart; the caller must discard the objects received so far. Without on_restart the list
  // fails with Expired.
  std::function<void()> on_restart;
};

// Delivers changes after `list.resource_version`.
struct WatchOptions {
  ListOptions list;
  bool bookmarks = true;
  // The server first sends the existing objects as ADDED events, then a bookmark that marks their
  // end, then changes. This replaces a list and does not hold the whole list in memory.
  bool send_initial_events = false;
  // The server closes the watch after this time. 0: the server chooses.
  std::chrono::seconds timeout{0};
};

enum class FieldValidation : uint8_t { kServerDefault, kIgnore, kWarn, kStrict };

// For create, update, patch.
struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;  // empty: derived from the user agent
  FieldValidation field_validation = FieldValidation::kServerDefault;
  std::string subresource;  // "status", "scale", "resize", ...
};

struct ApplyOptions {
  std::string field_manager;  // REQUIRED, by the API
  // Takes ownership of fields from other managers. Without it, a field owned by another manager
  // causes a Conflict whose causes name the manager.
  bool force = false;
  bool dry_run = false;
  std::string subresource;
};

enum class Propagation : uint8_t { kServerDefault, kOrphan, kBackground, kForeground };

struct DeleteOptions {
  std::optional<std::chrono::seconds> grace_period;
  Propagation propagation = Propagation::kServerDefault;
  // Preconditions: the delete fails with Conflict if the uid or the resourceVersion differs.
  std::string uid;
  std::string resource_version;
  bool dry_run = false;
};

namespace internal {
// The body of Patch::Between; "" if there is no difference.
std::string MergeBetween(const Type& type, const void* before, const void* after, bool optimistic);
std::string MergeBetween(const Value& before, const Value& after, bool optimistic);
}  // namespace internal

// A patch: its type and its JSON body.
struct Patch {
  patch::PatchType type = patch::PatchType::kMerge;
  std::string body;

  static Patch Merge(std::string body) { return {patch::PatchType::kMerge, std::move(body)}; }
  static Patch Strategic(std::string body) {
    return {patch::PatchType::kStrategic, std::move(body)};
  }
  static Patch Json(std::string body) { return {patch::PatchType::kJson, std::move(body)}; }

  // Merge patch that changes `before` into `after`; empty() if they are equal. With `optimistic`
  // the patch contains the resourceVersion of `before`, so that the server rejects it with Conflict
  // if the object has changed. Lists are replaced as a whole, as in every merge patch.
  template <class T>
  static Patch Between(const T& before, const T& after, bool optimistic = false) {
    if constexpr (std::is_same_v<T, Value>) {
      return Merge(internal::MergeBetween(before, after, optimistic));
    } else {
      return Merge(internal::MergeBetween(T::kType, &before, &after, optimistic));
    }
  }
  // As Between, but as a JSON Patch of add, remove and replace operations, the form that mutating
  // webhooks return.
  static Patch JsonBetween(const Value& before, const Value& after);
  bool empty() const { return body.empty() || body == "{}" || body == "[]"; }
};

}  // namespace cox
