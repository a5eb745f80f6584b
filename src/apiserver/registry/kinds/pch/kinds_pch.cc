// SPDX-License-Identifier: Apache-2.0
// Empty: the target exists for its precompiled header, and a target needs a source.
