// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/registry/served/registry.h"
#include "apiserver/request/user.h"
#include "base/context.h"

// Admission: checks and changes requests after authorization, in addition to validation. All
// plugins first mutate the object, in order, then all validate it.
namespace cox::apiserver {

enum class Operation : uint8_t { kCreate, kUpdate, kDelete, kConnect };
// "CREATE", "UPDATE", ...
std::string_view OperationName(Operation operation);

// Audit annotations that plugins add to the audit event of a request. For duplicate keys, the last
// one wins.
using AuditAnnotations = std::vector<std::pair<std::string, std::string>>;

// State of the mutating plugins that is kept between the two rounds: see AdmissionChain::Mutate.
struct Reinvocation {
  bool again = false;   // true in the second round
  bool wanted = false;  // a plugin has changed the object, and all plugins must run again
  std::map<std::string, std::shared_ptr<void>, std::less<>> kept;  // plugin state by name
};

// A write to be admitted. Objects are of the hub version; for subresources that are not stored
// (Binding, Eviction, Scale, the options of an exec) they are the sent object.
struct AdmissionRequest {
  Operation operation;
  const ServedResource& resource;  // kind() has the version of the request
  std::string subresource;
  std::string ns;
  std::string name;
  const UserInfo& user;
  bool dry_run = false;
  const Object* object = nullptr;     // null for delete
  const Object* old = nullptr;        // null for create
  Warnings* warnings = nullptr;       // may be null
  AuditAnnotations* audit = nullptr;  // may be null
  // The options of the write (CreateOptions, UpdateOptions, DeleteOptions) as JSON, computed when
  // called. May be empty.
  std::function<Value()> options = {};
  Reinvocation* reinvocation = nullptr;  // set by the chain; null if a plugin is called directly

  void Annotate(std::string_view key, std::string value) const {
    if (audit != nullptr) audit->emplace_back(key, std::move(value));
  }
};

// Threads: both methods may be called concurrently.
// Errors: Forbidden with the reason, created by ForbiddenError.
class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin() = default;
  virtual std::string_view name() const = 0;
  // `object` is the object of the request. Not called for delete.
  virtual Status Mutate(Context&, const AdmissionRequest&, Object&) const { return {}; }
  virtual Status Validate(Context&, const AdmissionRequest&) const { return {}; }
};

class AdmissionMetrics;

// The plugins in the order in which they are called.
class AdmissionChain {
 public:
  AdmissionChain();
  // `metrics` must outlive the chain; may be null.
  explicit AdmissionChain(std::vector<std::unique_ptr<const AdmissionPlugin>> plugins,
                          AdmissionMetrics* metrics = nullptr);
  AdmissionChain(AdmissionChain&&) noexcept;
  ~AdmissionChain();

  // Calls all plugins in order. If one of them sets Reinvocation::wanted (a webhook changed the
  // object), calls all of them once more, so that plugins can default fields that a webhook added.
  Status Mutate(Context& ctx, AdmissionRequest request, Object& object) const;
  Status Validate(Context& ctx, const AdmissionRequest& request) const;

 private:
  struct Link;

  Status MutateOnce(Context& ctx, const AdmissionRequest& request, Object& object) const;

  std::vector<Link> links_;
  AdmissionMetrics* metrics_ = nullptr;
};

}  // namespace cox::apiserver
