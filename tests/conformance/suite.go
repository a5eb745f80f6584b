// SPDX-License-Identifier: Apache-2.0

// Package suite imports the packages that tests/conformance/run builds, so that go.mod and go.sum
// contain their requirements.
package suite

import _ "k8s.io/kubernetes/test/e2e"
