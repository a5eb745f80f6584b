// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	autoscalingv1apply "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"coxswain.example/tests/compat/steps"
)

func scaleTyped(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	e.createDeployment("d")
	scale := steps.Must(client.GetScale(e.Ctx, "d", metav1.GetOptions{}))(e.T)
	e.Equal("replicas", scale.Spec.Replicas, int32(2))
	e.Equal("selector", scale.Status.Selector, "app=d")
	scale.Spec.Replicas = 4
	scale = steps.Must(client.UpdateScale(e.Ctx, "d", scale, metav1.UpdateOptions{}))(e.T)
	e.Equal("replicas", scale.Spec.Replicas, int32(4))
	got := steps.Must(client.Get(e.Ctx, "d", metav1.GetOptions{}))(e.T)
	e.Equal("replicas of the deployment", *got.Spec.Replicas, int32(4))

	stale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: e.namespace, ResourceVersion: "1"}}
	_, err := client.UpdateScale(e.Ctx, "d", stale, metav1.UpdateOptions{})
	e.Error(err, "Conflict", apierrors.IsConflict)
}

func scaleApply(e *env) {
	e.createDeployment("d")
	scale := steps.Must(e.clients.AppsV1().Deployments(e.namespace).ApplyScale(e.Ctx, "d", autoscalingv1apply.Scale().WithName("d").
		WithSpec(autoscalingv1apply.ScaleSpec().WithReplicas(6)), metav1.ApplyOptions{FieldManager: "scaler", Force: true}))(e.T)
	e.Equal("replicas", scale.Spec.Replicas, int32(6))
}

func eviction(pod *corev1.Pod) *policyv1.Eviction {
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}
}

func evict(e *env) {
	pod := e.createPod("p")
	evictions := e.clients.PolicyV1().Evictions(e.namespace)
	dry := eviction(pod)
	dry.DeleteOptions = &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	e.Check(evictions.Evict(e.Ctx, dry))
	steps.Must(e.clients.CoreV1().Pods(e.namespace).Get(e.Ctx, "p", metav1.GetOptions{}))(e.T)
	e.Check(evictions.Evict(e.Ctx, eviction(pod)))
	_, err := e.clients.CoreV1().Pods(e.namespace).Get(e.Ctx, "p", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
	e.Error(evictions.Evict(e.Ctx, eviction(pod)), "NotFound", apierrors.IsNotFound)
}

// evictBudget sets the status of Pod and PodDisruptionBudget itself, because neither kubelet nor
// disruption controller run here.
func evictBudget(e *env) {
	pods, budgets := e.clients.CoreV1().Pods(e.namespace), e.clients.PolicyV1().PodDisruptionBudgets(e.namespace)
	pod := e.createPod("p")
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod = steps.Must(pods.UpdateStatus(e.Ctx, pod, metav1.UpdateOptions{}))(e.T)
	budget := steps.Must(budgets.Create(e.Ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(1)),
			Selector:     &metav1.LabelSelector{MatchLabels: pod.Labels}},
	}, metav1.CreateOptions{}))(e.T)
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}
	budget = steps.Must(budgets.UpdateStatus(e.Ctx, budget, metav1.UpdateOptions{}))(e.T)

	err := e.clients.PolicyV1().Evictions(e.namespace).Evict(e.Ctx, eviction(pod))
	e.Error(err, "TooManyRequests", apierrors.IsTooManyRequests)
	e.True(apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause), "no cause: %#v", err)
	steps.Must(pods.Get(e.Ctx, "p", metav1.GetOptions{}))(e.T)

	budget.Status.DisruptionsAllowed = 1
	steps.Must(budgets.UpdateStatus(e.Ctx, budget, metav1.UpdateOptions{}))(e.T)
	e.Check(e.clients.PolicyV1().Evictions(e.namespace).Evict(e.Ctx, eviction(pod)))
	budget = steps.Must(budgets.Get(e.Ctx, "b", metav1.GetOptions{}))(e.T)
	e.Equal("disruptions allowed after one", budget.Status.DisruptionsAllowed, int32(0))
	_, noted := budget.Status.DisruptedPods["p"]
	e.True(noted, "the budget does not name the pod: %+v", budget.Status)
}

func eventRecorder(e *env) {
	pod := e.createPod("p")
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: e.clients.EventsV1()})
	e.Check(broadcaster.StartRecordingToSinkWithContext(e.Ctx))
	defer broadcaster.Shutdown()
	recorder := broadcaster.NewRecorder(scheme.Scheme, "compat.example.com/tester")
	recorder.Eventf(pod, nil, corev1.EventTypeWarning, "Tested", "Testing", "something was %s", "seen")
	e.Eventually("the event", func() bool {
		list := steps.Must(e.clients.EventsV1().Events(e.namespace).List(e.Ctx, metav1.ListOptions{FieldSelector: "reason=Tested"}))(e.T)
		return len(list.Items) == 1 && list.Items[0].Note == "something was seen" && list.Items[0].Regarding.UID == pod.UID
	})
	core := steps.Must(e.clients.CoreV1().Events(e.namespace).List(e.Ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.name=p,involvedObject.uid=" + string(pod.UID)}))(e.T)
	e.Equal("as core/v1", len(core.Items), 1)
	e.Equal("message", core.Items[0].Message, "something was seen")
}

func leaderElection(e *env) {
	leading, stopped := make(chan string, 10), make(chan string, 10)
	candidate := func(name string) context.CancelFunc {
		elector := steps.Must(leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: e.namespace},
				Client:     e.clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
			LeaseDuration: 5 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- name },
				OnStoppedLeading: func() { stopped <- name }},
		}))(e.T)
		ctx, cancel := context.WithCancel(e.Ctx)
		go elector.Run(ctx)
		return cancel
	}
	leases := e.clients.CoordinationV1().Leases(e.namespace)
	stopFirst := candidate("first")
	defer stopFirst()
	e.Equal("leader", steps.Receive(e.T, "a leader", leading), "first")
	stopSecond := candidate("second")
	defer stopSecond()
	renewed := func() types.UID {
		lease := steps.Must(leases.Get(e.Ctx, "leader", metav1.GetOptions{}))(e.T)
		e.Equal("holder", *lease.Spec.HolderIdentity, "first")
		return types.UID(lease.ResourceVersion)
	}
	before := renewed()
	e.Eventually("the lease is renewed", func() bool { return renewed() != before })
	stopFirst()
	e.Equal("who stopped", steps.Receive(e.T, "the first stops", stopped), "first")
	e.Equal("next leader", steps.Receive(e.T, "another leader", leading), "second")
	var lease *coordinationv1.Lease = steps.Must(leases.Get(e.Ctx, "leader", metav1.GetOptions{}))(e.T)
	e.Equal("holder", *lease.Spec.HolderIdentity, "second")
	e.True(*lease.Spec.LeaseTransitions >= 1, "transitions: %d", *lease.Spec.LeaseTransitions)
}
