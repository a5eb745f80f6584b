// SPDX-License-Identifier: Apache-2.0

// Command controller-runtime runs an operator against an API server that envtest starts, as in the
// tests of operators. $KUBEBUILDER_ASSETS is the folder with etcd and kube-apiserver.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"coxswain.example/tests/compat/steps"
)

// suite is the state that all steps share: the control plane, and a manager with the operator.
type suite struct {
	environment envtest.Environment
	config      *rest.Config
	direct      client.Client // reads from the server
	manager     ctrl.Manager  // its client reads from the cache
	stop        context.CancelFunc
	stopped     chan error
}

// env is the suite, with the namespace of one step.
type env struct {
	*steps.T
	*suite
	namespace string
}

func (s *suite) start(t *steps.T) {
	begin := time.Now()
	s.config = steps.Must(s.environment.Start())(t)
	fmt.Printf("envtest: control plane ready after %d ms\n", time.Since(begin).Milliseconds())
	s.direct = steps.Must(client.New(s.config, client.Options{Scheme: scheme.Scheme}))(t)
	s.manager = steps.Must(ctrl.NewManager(s.config, ctrl.Options{
		Scheme:                  scheme.Scheme,
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "compat",
		LeaderElectionNamespace: "default",
		// The next leader need not wait until the lease expires.
		LeaderElectionReleaseOnCancel: true,
	}))(t)
	t.Check(setUpOperator(s.manager))
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.stopped = make(chan error, 1)
	go func() { s.stopped <- s.manager.Start(ctx) }()
	select {
	case <-s.manager.Elected():
	case err := <-s.stopped:
		t.Failf("the manager ended: %v", err)
	case <-time.After(steps.EventSeconds * time.Second):
		t.Failf("not elected within %d s", steps.EventSeconds)
	}
	t.True(s.manager.GetCache().WaitForCacheSync(t.Ctx), "the cache did not fill")
	fmt.Printf("envtest: operator runs after %d ms\n", time.Since(begin).Milliseconds())
}

func (s *suite) finish(t *steps.T) {
	begin := time.Now()
	s.stop()
	t.Check(steps.Receive(t, "the manager ends", s.stopped))
	s.stop = nil
	middle := time.Now()
	t.Check(s.environment.Stop())
	fmt.Printf("envtest: manager ended after %d ms, control plane after another %d ms\n",
		middle.Sub(begin).Milliseconds(), time.Since(middle).Milliseconds())
	// envtest kills a server that has not ended after a minute.
	t.True(time.Since(middle) < 20*time.Second, "the control plane took %s to stop", time.Since(middle))
}

func (s *suite) with(name string, run func(*env)) steps.Step {
	return steps.Step{Name: name, Run: func(t *steps.T) {
		t.True(s.stop != nil, "the control plane does not run")
		e := &env{T: t, suite: s, namespace: strings.ReplaceAll(name, "_", "-")}
		t.Check(s.direct.Create(t.Ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}))
		run(e)
	}}
}

func main() {
	ctrl.SetLogger(klog.Background())
	s := &suite{}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ended
		_ = s.environment.Stop() // the processes of envtest would otherwise keep running
		os.Exit(3)
	}()
	all := []steps.Step{{Name: "envtest_start", Run: s.start}}
	for _, each := range []struct {
		name string
		run  func(*env)
	}{
		{"reconcile_creates", reconcileCreates},
		{"reconcile_follows", reconcileFollows},
		{"reconcile_restores", reconcileRestores},
		{"reconcile_finalizes", reconcileFinalizes},
		{"cache_index", cacheIndex},
		{"cache_unstructured", cacheUnstructured},
		{"cache_metadata", cacheMetadata},
		{"client_patches", clientPatches},
		{"client_apply", clientApply},
		{"client_status", clientStatus},
		{"client_subresources", clientSubresources},
		{"client_dry_run", clientDryRun},
		{"client_delete_all", clientDeleteAll},
		{"user_forbidden", userForbidden},
		{"user_master", userMaster},
		{"user_role", userRole},
	} {
		all = append(all, s.with(each.name, each.run))
	}
	all = append(all, steps.Step{Name: "envtest_stop", Run: s.finish})
	// Stop the control plane also if a step failed or finish did not run.
	code := steps.Run(all)
	if s.stop != nil {
		_ = s.environment.Stop()
	}
	os.Exit(code)
}
