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

// What the verbs of the client can be told. All of it is optional: `{}` is what most want.
namespace cox {

struct GetOptions {
  // "": the newest. "0": whatever the server has at hand. Else: not older than this.
  std::string resource_version;
  std::string subresource;  // "scale"
};

struct ListOptions {
  std::string ns;  // empty: all namespaces
  labels::Selector labels;
  fields::Selector fields;
  // 0: the whole list in one answer. Else pages of this size; the client asks for all of them.
  int64_t page_size = 0;
  std::string resource_version;        // as GetOptions
  std::string resource_version_match;  // "", "Exact", "NotOlderThan"
  // A list in pages whose continue token expired (410) begins anew, as one whole list. This is
  // called then: what was given so far does not count. Without it such a list ends with Expired.
  std::function<void()> on_restart;
};

// Changes after `list.resource_version`, as they come.
struct WatchOptions {
  ListOptions list;
  bool bookmarks = true;
  // The objects there are, as ADDED events, then a bookmark that says that those were all, then
  // changes: a list without the memory of one.
  bool send_initial_events = false;
  // After which the server ends the watch in peace; 0: as the server likes.
  std::chrono::seconds timeout{0};
};

enum class FieldValidation : uint8_t { kServerDefault, kIgnore, kWarn, kStrict };

// For create, update, patch.
struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;  // empty: the program's user agent names it
  FieldValidation field_validation = FieldValidation::kServerDefault;
  std::string subresource;  // "status", "scale", "resize", ...
};

struct ApplyOptions {
  std::string field_manager;  // REQUIRED, by the API
  // Takes fields over from other managers; without it a field that another owns is a Conflict whose
  // causes name them.
  bool force = false;
  bool dry_run = false;
  std::string subresource;
};

enum class Propagation : uint8_t { kServerDefault, kOrphan, kBackground, kForeground };

struct DeleteOptions {
  std::optional<std::chrono::seconds> grace_period;
  Propagation propagation = Propagation::kServerDefault;
  // Delete only this very object, or this version of it: else Conflict.
  std::string uid;
  std::string resource_version;
  bool dry_run = false;
};

namespace internal {
// The body of Patch::Between; "" if there is no difference.
std::string MergeBetween(const Type& type, const void* before, const void* after, bool optimistic);
std::string MergeBetween(const Value& before, const Value& after, bool optimistic);
}  // namespace internal

// A patch: its type and its body, JSON.
struct Patch {
  patch::PatchType type = patch::PatchType::kMerge;
  std::string body;

  static Patch Merge(std::string body) { return {patch::PatchType::kMerge, std::move(body)}; }
  static Patch Strategic(std::string body) {
    return {patch::PatchType::kStrategic, std::move(body)};
  }
  static Patch Json(std::string body) { return {patch::PatchType::kJson, std::move(body)}; }

  // What leads from `before` to `after`, as a merge patch; empty() if nothing does. With
  // `optimistic` the server refuses it (Conflict) unless the object still is `before`. Lists are
  // replaced whole, as merge patches do.
  template <class T>
  static Patch Between(const T& before, const T& after, bool optimistic = false) {
    if constexpr (std::is_same_v<T, Value>) {
      return Merge(internal::MergeBetween(before, after, optimistic));
    } else {
      return Merge(internal::MergeBetween(T::kType, &before, &after, optimistic));
    }
  }
  // The same as a JSON Patch of add, remove and replace: what a mutating webhook answers with.
  static Patch JsonBetween(const Value& before, const Value& after);
  bool empty() const { return body.empty() || body == "{}" || body == "[]"; }
};

}  // namespace cox
