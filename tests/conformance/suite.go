// SPDX-License-Identifier: Apache-2.0

// Package suite names the packages that tests/conformance/run builds, so that go.mod and go.sum hold what they need.
package suite

import _ "k8s.io/kubernetes/test/e2e"
