// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coxswain/admission.h"
#include "object/type/kind.h"
#include "sdk/webhook/hook_answer.h"

namespace cox::sdk {

// The conversions of one path: a handler for all versions, or one for each way between two.
//
// Threads: constant once requests come.
class Conversions {
 public:
  void Add(const KindInfo& from, const KindInfo& to, ConvertHandler<Object, Object> handler);
  void Add(ConvertAnyHandler handler) { any_ = std::move(handler); }

  // One ConversionReview (apiextensions.k8s.io/v1) from text to text. All objects are converted or
  // none: the review then says why.
  HookAnswer AnswerReview(Context& ctx, std::string_view body) const;

 private:
  struct Way {
    const KindInfo* from;
    const KindInfo* to;
    ConvertHandler<Object, Object> handler;
  };

  Result<Value> Convert(Context& ctx, const Value& object, const std::string& api_version) const;
  Result<Value> ConvertTyped(Context& ctx, const Value& object,
                             const std::string& api_version) const;
  // The ways that lead there, one or two of them. BadRequest if none do.
  Result<std::vector<const Way*>> FindWays(const GroupVersionKind& from,
                                           const GroupVersionKind& to) const;

  std::vector<Way> ways_;
  ConvertAnyHandler any_;
};

}  // namespace cox::sdk
