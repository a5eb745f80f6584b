// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/registry/registry.h"
#include "apiserver/user.h"
#include "base/context.h"

// Admission: what may be stored, beyond what makes an object valid. Plugins first change the
// object, in order, then all judge it.
namespace cox::apiserver {

enum class Operation : uint8_t { kCreate, kUpdate, kDelete, kConnect };

// What plugins want noted in the audit record of a request: annotations, the last of a key counts.
using AuditAnnotations = std::vector<std::pair<std::string, std::string>>;

// A write on its way in. Objects are of the hub kind.
struct AdmissionRequest {
  Operation operation;
  const ServedResource& resource;
  std::string subresource;
  std::string ns;
  std::string name;
  const UserInfo& user;
  bool dry_run = false;
  const Object* object = nullptr;     // null for deletions
  const Object* old = nullptr;        // null for creations
  Warnings* warnings = nullptr;       // may be null
  AuditAnnotations* audit = nullptr;  // may be null

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

// The plugins in their order.
class AdmissionChain {
 public:
  AdmissionChain() = default;
  explicit AdmissionChain(std::vector<std::unique_ptr<const AdmissionPlugin>> plugins)
      : plugins_(std::move(plugins)) {}

  Status Mutate(Context& ctx, AdmissionRequest request, Object& object) const {
    request.object = &object;
    for (const auto& plugin : plugins_) COX_RETURN_IF_ERROR(plugin->Mutate(ctx, request, object));
    return {};
  }
  Status Validate(Context& ctx, const AdmissionRequest& request) const {
    for (const auto& plugin : plugins_) COX_RETURN_IF_ERROR(plugin->Validate(ctx, request));
    return {};
  }

 private:
  std::vector<std::unique_ptr<const AdmissionPlugin>> plugins_;
};

}  // namespace cox::apiserver
