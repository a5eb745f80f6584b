// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/meta/v1.h"
#include "base/result.h"
#include "object/apply/managers.h"
#include "object/type/value.h"

// metadata.managedFields: the field managers in the form in which objects store them.
namespace cox::apply {

// Decodes the list of entries; null means no managers. Of several entries with the same ManagerId,
// the last one wins. Errors: BadRequest for malformed entries.
Result<Managers> DecodeManagedFields(const Value& entries);

// Encodes as a sorted list of entries: Apply before Update, then by time, name, version and
// subresource.
Value EncodeManagedFields(const Managers& managers);
// The same for typed objects.
List<meta::v1::ManagedFieldsEntry> ManagedFieldsEntries(const Managers& managers);

// The managers of an object. Errors: as above.
Result<Managers> ManagersOf(const Value& object);
// Writes the managers to the object's metadata; removes managedFields if there are none.
void SetManagers(const Managers& managers, Value* object);
// Removes managedFields from the object.
void DropManagedFields(Value* object);

// True for the lists with which a client requests removal of all managers: [] and [{}].
bool IsReset(const Value& object);

// Limits the number of Update managers of an object to `limit`: merges the oldest into one per
// version, named "ancient-changes".
inline constexpr size_t kMaxUpdateManagers = 10;
void CapUpdateManagers(Managers* managers, size_t limit = kMaxUpdateManagers);

// The manager name of a request: its fieldManager, or else the program in its User-Agent
// ("kubectl/v1.36.0 (linux/amd64)" becomes "kubectl"); at most 128 bytes.
std::string ManagerName(std::string_view field_manager, std::string_view user_agent);

}  // namespace cox::apply
