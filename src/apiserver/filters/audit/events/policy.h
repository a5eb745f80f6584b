// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "base/result.h"

namespace cox::apiserver {

// The amount of data to record, in ascending order.
enum class AuditLevel : uint8_t { kNone, kMetadata, kRequest, kRequestResponse };
inline constexpr size_t kAuditLevels = 4;
std::string_view AuditLevelName(AuditLevel level);

// The stages of a request that produce an event.
enum class AuditStage : uint8_t { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };
std::string_view AuditStageName(AuditStage stage);

class AuditStages {
 public:
  void Add(AuditStage stage) { bits_ |= Bit(stage); }
  void Add(AuditStages stages) { bits_ |= stages.bits_; }
  bool Has(AuditStage stage) const { return (bits_ & Bit(stage)) != 0; }

 private:
  static uint8_t Bit(AuditStage stage) {
    return static_cast<uint8_t>(1u << static_cast<unsigned>(stage));
  }
  uint8_t bits_ = 0;
};

// The audit decision for one request.
struct AuditDecision {
  AuditLevel level = AuditLevel::kNone;
  bool omit_managed_fields = false;
  AuditStages omitted;
};

// An audit.k8s.io/v1 Policy. The first matching rule decides; requests that match no rule are not
// audited.
//
// Threads: Immutable after parsing. Decide does not allocate.
class AuditPolicy {
 public:
  // Errors: BadRequest with every invalid field. A misspelt rule must not silently disable auditing
  // or record bodies that should be excluded.
  static Result<AuditPolicy> Parse(std::string_view text);

  AuditDecision Decide(const UserInfo& user, const RequestInfo& request) const;

 private:
  // A set of names; rules treat an empty set as a wildcard.
  class Names {
   public:
    Names() = default;
    explicit Names(std::vector<std::string> names);
    bool empty() const { return names_.empty(); }
    bool Contains(std::string_view name) const;

   private:
    std::vector<std::string> names_;  // sorted
  };

  // "pods", "pods/log", "pods/*", "*/status" or "*".
  struct ResourcePattern {
    explicit ResourcePattern(std::string_view text);
    bool Matches(const RequestInfo& request) const;

    enum class Shape : uint8_t { kAll, kResource, kExact, kSubresource, kWithSubresources };
    Shape shape;
    std::string resource, subresource;
  };
  struct GroupResources {
    bool Matches(const RequestInfo& request) const;

    std::string group;
    std::vector<ResourcePattern> resources;  // empty: all resources of the group
    Names names;
  };
  struct Rule {
    bool Matches(const UserInfo& user, const RequestInfo& request) const;

    AuditDecision decision;
    Names users, groups, verbs, namespaces;
    std::vector<GroupResources> resources;
    std::vector<std::string> paths;
  };
  friend class PolicyReader;

  std::vector<Rule> rules_;
  AuditDecision otherwise_;
};

}  // namespace cox::apiserver
