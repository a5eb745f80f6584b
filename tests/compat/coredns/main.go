// SPDX-License-Identifier: Apache-2.0

// CoreDNS with the plugins that a cluster's names need, and no others: quick to build.
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
	// The order in which a query passes them.
	dnsserver.Directives = []string{"bind", "errors", "kubernetes", "forward"}
}

func main() {
	coremain.Run()
}
