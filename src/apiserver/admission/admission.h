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

// Admission: what may be stored, beyond what makes an object valid. Plugins first change the
// object, in order, then all judge it.
namespace cox::apiserver {

enum class Operation : uint8_t { kCreate, kUpdate, kDelete, kConnect };
// "CREATE", "UPDATE", ...
std::string_view OperationName(Operation operation);

// What plugins want noted in the audit record of a request: annotations, the last of a key counts.
using AuditAnnotations = std::vector<std::pair<std::string, std::string>>;

// What the second round of mutating plugins knows of the first: see AdmissionChain::Mutate.
struct Reinvocation {
  bool again = false;   // this is the second round
  bool wanted = false;  // a plugin has changed the object in a way that the others must see
  std::map<std::string, std::shared_ptr<void>, std::less<>> kept;  // of plugins, by their name
};

// A write on its way in. Objects are of the hub kind; those of subresources that are asked and not
// stored (Binding, Eviction, Scale, the options of an exec) are what was asked.
struct AdmissionRequest {
  Operation operation;
  const ServedResource& resource;  // as requested: its kind() is of the version the client speaks
  std::string subresource;
  std::string ns;
  std::string name;
  const UserInfo& user;
  bool dry_run = false;
  const Object* object = nullptr;     // null for deletions
  const Object* old = nullptr;        // null for creations
  Warnings* warnings = nullptr;       // may be null
  AuditAnnotations* audit = nullptr;  // may be null
  // The options of the write (CreateOptions, UpdateOptions, DeleteOptions) as JSON shows them. Made
  // when somebody asks; may be empty.
  std::function<Value()> options = {};
  Reinvocation* reinvocation = nullptr;  // the chain's; null where a plugin is called alone

  void Annotate(std::string_view key, std::string value) const {
    if (audit != nullptr) audit->emplace_back(key, std::move(value));
  }
};

// Threads: both methods may be called concurrently.
// Errors: Forbidden with the reason, in the words of ForbiddenError.
class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin() = default;
  virtual std::string_view name() const = 0;
  // `object` is the request's. Deletions have none to change, and only come to Validate.
  virtual Status Mutate(Context&, const AdmissionRequest&, Object&) const { return {}; }
  virtual Status Validate(Context&, const AdmissionRequest&) const { return {}; }
};

class AdmissionMetrics;

// The plugins in their order.
class AdmissionChain {
 public:
  AdmissionChain();
  // `metrics` outlives the chain; may be null.
  explicit AdmissionChain(std::vector<std::unique_ptr<const AdmissionPlugin>> plugins,
                          AdmissionMetrics* metrics = nullptr);
  AdmissionChain(AdmissionChain&&) noexcept;
  ~AdmissionChain();

  // Every plugin in turn. When one of them says that others must see what it did
  // (Reinvocation::wanted: a webhook changed the object), all are asked once more: those that set
  // defaults set them on what a webhook added, too.
  Status Mutate(Context& ctx, AdmissionRequest request, Object& object) const;
  Status Validate(Context& ctx, const AdmissionRequest& request) const;

 private:
  struct Link;

  Status MutateOnce(Context& ctx, const AdmissionRequest& request, Object& object) const;

  std::vector<Link> links_;
  AdmissionMetrics* metrics_ = nullptr;
};

}  // namespace cox::apiserver
