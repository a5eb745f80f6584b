// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every Store promises, as tests: the suite StoreContract. An implementation includes this in
// its test, and says how to make one:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(StoreCase{...}), CaseName);
#include "storage/testing/contract_fixture.h"
#include "storage/testing/contract_kv_test.h"
#include "storage/testing/contract_watch_test.h"
