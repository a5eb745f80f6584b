// SPDX-License-Identifier: Apache-2.0
// Nothing: a target needs a source, and this one is there for its precompiled header.
