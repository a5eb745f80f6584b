// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coxswain/resource.h"
#include "object/object.h"

namespace cox::sdk {

// Decodes the object in a response, JSON or protobuf, by the kind it declares: the struct of
// `resource` (or a Value if that is dynamic), the struct of `answer` if not null, or a built-in
// kind (Status, Scale); a Value for unknown kinds.
// Errors: Internal if the body cannot be decoded.
Result<Object> DecodeResponse(std::string_view body, const Resource& resource,
                              const KindInfo* answer);

// The concatenated pieces: a view of the only piece, or of `storage`.
std::string_view Join(const std::vector<Bytes>& pieces, std::string* storage);

}  // namespace cox::sdk
