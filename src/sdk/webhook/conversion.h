// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coxswain/admission.h"
#include "object/type/kind.h"
#include "sdk/webhook/hook_response.h"

namespace cox::sdk {

// The conversions of one path: one handler for all versions, or one per direction between two
// versions.
//
// Threads: immutable after the server starts.
class Conversions {
 public:
  void Add(const KindInfo& from, const KindInfo& to, ConvertHandler<Object, Object> handler);
  void Add(ConvertAnyHandler handler) { any_ = std::move(handler); }

  // Processes one ConversionReview (apiextensions.k8s.io/v1). Converts all objects or none; on
  // failure the response contains the reason.
  HookResponse ConvertReview(Context& ctx, std::string_view body) const;

 private:
  struct Way {
    const KindInfo* from;
    const KindInfo* to;
    ConvertHandler<Object, Object> handler;
  };

  Result<Value> Convert(Context& ctx, const Value& object, const std::string& api_version) const;
  Result<Value> ConvertTyped(Context& ctx, const Value& object,
                             const std::string& api_version) const;
  // The conversion steps from one version to another, one or two. BadRequest if there are none.
  Result<std::vector<const Way*>> FindWays(const GroupVersionKind& from,
                                           const GroupVersionKind& to) const;

  std::vector<Way> ways_;
  ConvertAnyHandler any_;
};

}  // namespace cox::sdk
