// SPDX-License-Identifier: Apache-2.0

// Command shell is /bin/sh of the busybox image. It is the shell of busybox, as in the official image. Debian's build
// of that shell drops environment variables whose names are no shell variables, such as "data-1"; where the tests set
// some, it is bash, which passes them on.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
)

var shellName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func main() {
	program := "/usr/bin/busybox"
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !shellName.MatchString(name) {
			program = "/bin/bash-static"
			break
		}
	}
	err := syscall.Exec(program, os.Args, os.Environ())
	fmt.Fprintln(os.Stderr, "sh:", program, err)
	os.Exit(126)
}
