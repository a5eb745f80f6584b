// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/meta/v1.h"
#include "base/result.h"
#include "object/apply/managers.h"
#include "object/type/value.h"

// metadata.managedFields: the managers of an object, as the object carries them.
namespace cox::apply {

// From the list of entries; null and nothing are no managers. Entries of one manager (see
// ManagerId) that come more than once: the last counts. Errors: BadRequest for entries that are
// none of ours.
Result<Managers> DecodeManagedFields(const Value& entries);

// As a list of entries, sorted: those who apply first, then by time, name, version and subresource.
Value EncodeManagedFields(const Managers& managers);
// The same for objects in structs.
List<meta::v1::ManagedFieldsEntry> ManagedFieldsEntries(const Managers& managers);

// An object's managers. Errors as above.
Result<Managers> ManagersOf(const Value& object);
// Writes them into the object's metadata; without managers there is no managedFields.
void SetManagers(const Managers& managers, Value* object);
// Takes managedFields out of the object.
void DropManagedFields(Value* object);

// True for the lists by which a client asks to forget all managers: [] and [{}].
bool IsReset(const Value& object);

// Keeps the number of updating managers of an object at `limit`: merges the oldest into one per
// version, named "ancient-changes".
inline constexpr size_t kMaxUpdateManagers = 10;
void CapUpdateManagers(Managers* managers, size_t limit = kMaxUpdateManagers);

// The name under which a request writes: the fieldManager it gives, else the program that its
// User-Agent names ("kubectl/v1.36.0 (linux/amd64)" is "kubectl"); at most 128 bytes.
std::string ManagerName(std::string_view field_manager, std::string_view user_agent);

}  // namespace cox::apply
