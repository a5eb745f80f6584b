// SPDX-License-Identifier: Apache-2.0
// Intentionally empty: the target of the precompiled header needs a source file.
