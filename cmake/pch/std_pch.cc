// SPDX-License-Identifier: Apache-2.0
// Empty: CMake requires a source file for the target that builds the precompiled header.
