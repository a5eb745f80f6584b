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

// The object an answer holds, JSON or protobuf. It is of the kind that it says it is: the struct of
// `resource` (or a Value where that is dynamic), that of `answer` if it is not null, a built-in one
// (a Status, a Scale); a Value if nobody knows it.
// Errors: Internal for what cannot be read.
Result<Object> DecodeAnswer(std::string_view body, const Resource& resource,
                            const KindInfo* answer);

// The pieces as one text: a view of the only one, or of `storage`.
std::string_view Join(const std::vector<Bytes>& pieces, std::string* storage);

}  // namespace cox::sdk
