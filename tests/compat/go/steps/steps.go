// SPDX-License-Identifier: Apache-2.0

// Package steps runs named checks one after the other and prints a line for each: "ok NAME" or
// "FAIL NAME: why". The last line, "steps: N", shows the caller that the output is complete.
package steps

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"
)

// EventSeconds is how long a step waits for something that the server should do at once.
const EventSeconds = 20

const stepSeconds = 60

// T provides assertions for a step. The first failed assertion ends the step.
type T struct {
	// Ctx is cancelled when the step takes too long.
	Ctx context.Context
}

// Step is one check. KNOWN_GAPS of the Python tests refers to its name.
type Step struct {
	Name string
	Run  func(t *T)
}

type failure string

// Failf ends the step.
func (t *T) Failf(format string, arguments ...any) {
	panic(failure(fmt.Sprintf(format, arguments...)))
}

// Check fails on an error.
func (t *T) Check(err error) {
	if err != nil {
		t.Failf("%T: %v", err, err)
	}
}

// True fails unless the condition holds.
func (t *T) True(condition bool, format string, arguments ...any) {
	if !condition {
		t.Failf(format, arguments...)
	}
}

// Equal compares deeply.
func (t *T) Equal(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		t.Failf("%s is %#v, want %#v", what, got, want)
	}
}

// Error fails unless the predicate accepts err.
func (t *T) Error(err error, name string, is func(error) bool) {
	if err == nil {
		t.Failf("no error, want %s", name)
	}
	if !is(err) {
		t.Failf("not %s: %T: %v", name, err, err)
	}
}

// Eventually polls until the condition holds.
func (t *T) Eventually(what string, condition func() bool) {
	deadline := time.Now().Add(EventSeconds * time.Second)
	for !condition() {
		if time.Now().After(deadline) || t.Ctx.Err() != nil {
			t.Failf("%s: not within %d s", what, EventSeconds)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Receive takes the next value of a channel.
func Receive[V any](t *T, what string, channel <-chan V) V {
	select {
	case value, open := <-channel:
		t.True(open, "%s: the channel was closed", what)
		return value
	case <-time.After(EventSeconds * time.Second):
		t.Failf("%s: nothing within %d s", what, EventSeconds)
	}
	panic("not reached")
}

// Must fails on an error and returns the value otherwise: steps.Must(f())(t).
func Must[V any](value V, err error) func(t *T) V {
	return func(t *T) V {
		t.Check(err)
		return value
	}
}

// Must2 is Must for functions that return two values.
func Must2[V, W any](first V, second W, err error) func(t *T) (V, W) {
	return func(t *T) (V, W) {
		t.Check(err)
		return first, second
	}
}

func runOne(step Step) (why string) {
	ctx, cancel := context.WithTimeout(context.Background(), stepSeconds*time.Second)
	defer cancel()
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case failure:
			why = string(problem)
		default:
			why = fmt.Sprintf("panic: %v\n%s", problem, debug.Stack())
		}
	}()
	step.Run(&T{Ctx: ctx})
	return ""
}

// Run runs all steps, or those whose names are arguments of the program. It returns the exit code.
func Run(all []Step) int {
	wanted := map[string]bool{}
	for _, name := range os.Args[1:] {
		wanted[name] = true
	}
	count, code := 0, 0
	for _, step := range all {
		if len(wanted) > 0 && !wanted[step.Name] {
			continue
		}
		count++
		if why := runOne(step); why != "" {
			code = 1
			fmt.Printf("FAIL %s: %s\n", step.Name, strings.ReplaceAll(why, "\n", " | "))
		} else {
			fmt.Printf("ok %s\n", step.Name)
		}
	}
	fmt.Printf("steps: %d\n", count)
	return code
}
