// SPDX-License-Identifier: Apache-2.0

// CoreDNS with only the plugins that cluster DNS needs, to keep the build short.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func init() {
	// The order in which the plugins handle a query.
	dnsserver.Directives = []string{"bind", "errors", "kubernetes", "forward"}
}

func main() {
	coremain.Run()
}
