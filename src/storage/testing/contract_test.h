// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract of every Store as a test suite, StoreContract. The test of an implementation
// includes this file and instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(StoreCase{...}), CaseName);
#include "storage/testing/contract_fixture.h"
#include "storage/testing/contract_kv_test.h"
#include "storage/testing/contract_watch_test.h"
