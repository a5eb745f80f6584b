// SPDX-License-Identifier: Apache-2.0
// Creation of patches, for the SDK and kubectl.
#include <string>

#include "object/codec/yaml/yaml.h"
#include "object/patch/depth.h"
#include "object/patch/strategic.h"
#include "object/patch/strategic_diff.h"
#include "object/patch/strategic_merge.h"
#include "object/type/go_text.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace {

using strategic::DiffObjects;

// The members of a document, which must be an object or null and must not be too deep.
Result<const Value::Object*> Members(const Value& document) {
  static const Value::Object none;
  if (document.is_null()) return &none;
  if (!document.is_object()) {
    return Status::BadRequest(CannotUnmarshal(document, "value of type map[string]interface {}"));
  }
  if (DeeperThan(document, limits::kMaxTypedDepth)) {
    return Status::BadRequest("exceeded max depth");
  }
  return &document.as_object();
}

Status Conflicting(const Value& patch, const Value& changed) {
  return Status::Conflict("patch:\n" + yaml::Write(patch) +
                          "\nconflicts with changes made from original to current:\n" +
                          yaml::Write(changed) + "\n");
}

}  // namespace

Result<Value> CreateTwoWayStrategicPatch(const Value& original, const Value& modified,
                                         const Type& type,
                                         std::span<const Precondition> preconditions) {
  COX_ASSIGN_OR_RETURN(const Value::Object* from, Members(original));
  COX_ASSIGN_OR_RETURN(const Value::Object* to, Members(modified));
  COX_ASSIGN_OR_RETURN(Value::Object members, DiffObjects(*from, *to, type, {}));
  Value patch(std::move(members));
  COX_RETURN_IF_ERROR(CheckPreconditions(patch, preconditions));
  return patch;
}

Result<Value> CreateThreeWayStrategicPatch(const Value& original, const Value& modified,
                                           const Value& current, const Type& type,
                                           const ThreeWayOptions& options) {
  COX_ASSIGN_OR_RETURN(const Value::Object* last, Members(original));
  COX_ASSIGN_OR_RETURN(const Value::Object* wanted, Members(modified));
  COX_ASSIGN_OR_RETURN(const Value::Object* live, Members(current));
  COX_ASSIGN_OR_RETURN(Value::Object changes,
                       DiffObjects(*live, *wanted, type, {.deletions = false}));
  COX_ASSIGN_OR_RETURN(Value::Object members,
                       DiffObjects(*last, *wanted, type, {.changes = false}));
  COX_RETURN_IF_ERROR(strategic::MergeObject(members, changes, type, strategic::Mode::kCombine));
  Value patch(std::move(members));
  COX_RETURN_IF_ERROR(CheckPreconditions(patch, options.preconditions));
  if (options.overwrite) return patch;

  COX_ASSIGN_OR_RETURN(Value::Object changed, DiffObjects(*last, *live, type, {.order = false}));
  COX_ASSIGN_OR_RETURN(bool conflict, strategic::HaveConflict(patch.as_object(), changed, type));
  if (conflict) return Conflicting(patch, Value(std::move(changed)));
  return patch;
}

}  // namespace cox::patch
