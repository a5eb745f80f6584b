// SPDX-License-Identifier: Apache-2.0
#include "object/type/containers.h"

#include "object/type/api_types.h"

// The types that all API packages share.
namespace cox {

template struct Items<std::string>;
template struct Items<Bool>;
template struct Items<int32_t>;
template struct Items<int64_t>;
template struct Items<double>;
template struct Items<RawJson>;
template struct Items<Time>;
template struct Items<Quantity>;
template struct Items<IntOrString>;
template struct Items<Map<std::string>::Entry>;
template struct Items<Map<Bool>::Entry>;
template struct Items<Map<int32_t>::Entry>;
template struct Items<Map<int64_t>::Entry>;
template struct Items<Map<double>::Entry>;
template struct Items<Map<Quantity>::Entry>;
template struct Items<Map<RawJson>::Entry>;
template struct Items<Map<Time>::Entry>;
template struct Items<Map<IntOrString>::Entry>;
template struct Items<Map<List<std::string>>::Entry>;

}  // namespace cox
