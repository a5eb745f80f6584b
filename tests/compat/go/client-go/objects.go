// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"coxswain.example/tests/compat/steps"
)

func newConfigMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Data:       map[string]string{"key": "value"},
	}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name:  "main",
		Image: "registry.example.com/app:1",
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
	}}}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}, Spec: podSpec()}
}

func newDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
		},
	}
}

func (e *env) createConfigMap(name string, labels map[string]string) *corev1.ConfigMap {
	return steps.Must(e.clients.CoreV1().ConfigMaps(e.namespace).Create(e.Ctx, newConfigMap(name, labels), metav1.CreateOptions{}))(e.T)
}

func (e *env) createDeployment(name string) *appsv1.Deployment {
	return steps.Must(e.clients.AppsV1().Deployments(e.namespace).Create(e.Ctx, newDeployment(name), metav1.CreateOptions{}))(e.T)
}

func (e *env) createPod(name string) *corev1.Pod {
	return steps.Must(e.clients.CoreV1().Pods(e.namespace).Create(e.Ctx, newPod(name), metav1.CreateOptions{}))(e.T)
}

func crudConfigMap(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	made := e.createConfigMap("c", map[string]string{"a": "b"})
	e.True(made.UID != "" && made.ResourceVersion != "" && !made.CreationTimestamp.IsZero(), "metadata not filled: %+v", made.ObjectMeta)
	e.Equal("namespace", made.Namespace, e.namespace)
	e.Equal("manager", made.ManagedFields[0].Manager, "compat")

	got := steps.Must(client.Get(e.Ctx, "c", metav1.GetOptions{}))(e.T)
	e.Equal("what get gives", got, made)

	got.Data["more"] = "text"
	got.BinaryData = map[string][]byte{"bytes": {0, 1, 0xff}}
	changed := steps.Must(client.Update(e.Ctx, got, metav1.UpdateOptions{}))(e.T)
	e.True(changed.ResourceVersion != made.ResourceVersion, "resourceVersion did not change")
	e.Equal("uid", changed.UID, made.UID)
	e.Equal("binaryData", changed.BinaryData["bytes"], []byte{0, 1, 0xff})

	same := steps.Must(client.Update(e.Ctx, changed, metav1.UpdateOptions{}))(e.T)
	e.Equal("resourceVersion after an update that changes nothing", same.ResourceVersion, changed.ResourceVersion)

	list := steps.Must(client.List(e.Ctx, metav1.ListOptions{}))(e.T)
	e.Equal("items", len(list.Items), 1)
	e.True(list.ResourceVersion != "", "the list has no resourceVersion")

	e.Check(client.Delete(e.Ctx, "c", metav1.DeleteOptions{}))
	_, err := client.Get(e.Ctx, "c", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
}

func crudDeployment(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	made := e.createDeployment("d")
	e.Equal("generation", made.Generation, int64(1))
	e.Equal("default strategy", made.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	e.Equal("default maxSurge", made.Spec.Strategy.RollingUpdate.MaxSurge.String(), "25%")
	e.Equal("default history", *made.Spec.RevisionHistoryLimit, int32(10))
	e.Equal("default restart policy", made.Spec.Template.Spec.RestartPolicy, corev1.RestartPolicyAlways)

	made.Spec.Template.Spec.Containers[0].Image = "registry.example.com/app:2"
	changed := steps.Must(client.Update(e.Ctx, made, metav1.UpdateOptions{}))(e.T)
	e.Equal("generation", changed.Generation, int64(2))

	changed.Labels = map[string]string{"only": "metadata"}
	labelled := steps.Must(client.Update(e.Ctx, changed, metav1.UpdateOptions{}))(e.T)
	e.Equal("generation after a change of labels", labelled.Generation, int64(2))
	e.Check(client.Delete(e.Ctx, "d", metav1.DeleteOptions{}))
}

func crudPod(e *env) {
	client := e.clients.CoreV1().Pods(e.namespace)
	made := e.createPod("p")
	e.Equal("phase", made.Status.Phase, corev1.PodPending)
	e.Equal("qosClass", made.Status.QOSClass, corev1.PodQOSBurstable)
	cpu := made.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
	e.Equal("cpu", cpu.MilliValue(), int64(100))
	e.Equal("pull policy", made.Spec.Containers[0].ImagePullPolicy, corev1.PullIfNotPresent)

	made.Labels["more"] = "yes"
	steps.Must(client.Update(e.Ctx, made, metav1.UpdateOptions{}))(e.T)
	// A Pod without a node is deleted immediately, in spite of its grace period.
	e.Check(client.Delete(e.Ctx, "p", metav1.DeleteOptions{}))
	_, err := client.Get(e.Ctx, "p", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
}

func secretBytes(e *env) {
	client := e.clients.CoreV1().Secrets(e.namespace)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Data:       map[string][]byte{"every": every},
		StringData: map[string]string{"text": "plain"},
	}
	steps.Must(client.Create(e.Ctx, secret, metav1.CreateOptions{}))(e.T)
	got := steps.Must(client.Get(e.Ctx, "s", metav1.GetOptions{}))(e.T)
	e.Equal("data", got.Data, map[string][]byte{"every": every, "text": []byte("plain")})
	e.Equal("type", got.Type, corev1.SecretTypeOpaque)
}

func generateName(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	names := map[string]bool{}
	for range 5 {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "many-"}}
		names[steps.Must(client.Create(e.Ctx, object, metav1.CreateOptions{}))(e.T).Name] = true
	}
	e.Equal("different names", len(names), 5)
}

func statusSubresource(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	made := e.createDeployment("d")
	made.Status.ObservedGeneration = made.Generation
	made.Status.Replicas = 2
	made.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "Tested",
		LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
	made.Spec.Replicas = ptr.To[int32](7)
	got := steps.Must(client.UpdateStatus(e.Ctx, made, metav1.UpdateOptions{}))(e.T)
	e.Equal("spec.replicas, which status does not write", *got.Spec.Replicas, int32(2))
	e.Equal("status.replicas", got.Status.Replicas, int32(2))
	e.Equal("condition", got.Status.Conditions[0].Reason, "Tested")

	got.Status.Replicas = 5
	got.Spec.Replicas = ptr.To[int32](3)
	got = steps.Must(client.Update(e.Ctx, got, metav1.UpdateOptions{}))(e.T)
	e.Equal("status.replicas, which update does not write", got.Status.Replicas, int32(2))
	e.Equal("spec.replicas", *got.Spec.Replicas, int32(3))
}

func conflictRetry(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	stale := e.createConfigMap("c", nil)
	fresh := stale.DeepCopy()
	fresh.Data["key"] = "other"
	steps.Must(client.Update(e.Ctx, fresh, metav1.UpdateOptions{}))(e.T)
	_, err := client.Update(e.Ctx, stale, metav1.UpdateOptions{})
	e.Error(err, "Conflict", apierrors.IsConflict)

	attempts, current := 0, stale
	e.Check(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		attempts++
		if attempts > 1 {
			current = steps.Must(client.Get(e.Ctx, "c", metav1.GetOptions{}))(e.T)
		}
		current.Data["mine"] = "yes"
		_, err := client.Update(e.Ctx, current, metav1.UpdateOptions{})
		return err
	}))
	e.Equal("attempts", attempts, 2)
	got := steps.Must(client.Get(e.Ctx, "c", metav1.GetOptions{}))(e.T)
	e.Equal("data", got.Data, map[string]string{"key": "other", "mine": "yes"})
}

func deletePropagation(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	for _, each := range []struct {
		policy     metav1.DeletionPropagation
		finalizers []string
	}{
		{metav1.DeletePropagationForeground, []string{metav1.FinalizerDeleteDependents}},
		{metav1.DeletePropagationOrphan, []string{metav1.FinalizerOrphanDependents}},
		{metav1.DeletePropagationBackground, nil},
	} {
		name := strings.ToLower(string(each.policy))
		e.createDeployment(name)
		e.Check(client.Delete(e.Ctx, name, metav1.DeleteOptions{PropagationPolicy: ptr.To(each.policy)}))
		got, err := client.Get(e.Ctx, name, metav1.GetOptions{})
		if each.finalizers == nil {
			e.Error(err, "NotFound", apierrors.IsNotFound)
			continue
		}
		e.Check(err) // no garbage collector runs here to finish the deletion
		e.True(got.DeletionTimestamp != nil, "%s: no deletionTimestamp", each.policy)
		e.Equal(string(each.policy)+": finalizers", got.Finalizers, each.finalizers)
	}
	err := client.Delete(e.Ctx, "d", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletionPropagation("Nonsense"))})
	e.Error(err, "Invalid", apierrors.IsInvalid)
}

func deletePreconditions(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	made := e.createConfigMap("c", nil)
	err := client.Delete(e.Ctx, "c", *metav1.NewPreconditionDeleteOptions("00000000-0000-0000-0000-000000000000"))
	e.Error(err, "Conflict", apierrors.IsConflict)
	err = client.Delete(e.Ctx, "c", *metav1.NewRVDeletionPrecondition("1"))
	e.Error(err, "Conflict", apierrors.IsConflict)
	e.Check(client.Delete(e.Ctx, "c", metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &made.UID, ResourceVersion: &made.ResourceVersion}}))
}

func deleteCollection(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	for i := range 6 {
		e.createConfigMap(fmt.Sprintf("c%d", i), map[string]string{"parity": fmt.Sprint(i % 2)})
	}
	e.Check(client.DeleteCollection(e.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "parity=1"}))
	left := steps.Must(client.List(e.Ctx, metav1.ListOptions{}))(e.T)
	e.Equal("left", len(left.Items), 3)
	for _, each := range left.Items {
		e.Equal("label of what is left", each.Labels["parity"], "0")
	}
	e.Check(client.DeleteCollection(e.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	e.Equal("left", len(steps.Must(client.List(e.Ctx, metav1.ListOptions{}))(e.T).Items), 0)
}

func finalizers(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	object := newConfigMap("c", nil)
	object.Finalizers = []string{"example.com/hold"}
	steps.Must(client.Create(e.Ctx, object, metav1.CreateOptions{}))(e.T)
	e.Check(client.Delete(e.Ctx, "c", metav1.DeleteOptions{}))
	held := steps.Must(client.Get(e.Ctx, "c", metav1.GetOptions{}))(e.T)
	e.True(held.DeletionTimestamp != nil, "no deletionTimestamp")
	held.Finalizers = append(held.Finalizers, "example.com/late")
	_, err := client.Update(e.Ctx, held, metav1.UpdateOptions{})
	e.Error(err, "Invalid", apierrors.IsInvalid)
	held.Finalizers = nil
	steps.Must(client.Update(e.Ctx, held, metav1.UpdateOptions{}))(e.T)
	_, err = client.Get(e.Ctx, "c", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
}

func dryRun(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	all := []string{metav1.DryRunAll}
	made := steps.Must(client.Create(e.Ctx, newDeployment("d"), metav1.CreateOptions{DryRun: all}))(e.T)
	e.True(made.UID != "", "no uid")
	e.Equal("defaults", *made.Spec.RevisionHistoryLimit, int32(10))
	_, err := client.Get(e.Ctx, "d", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)

	real := e.createDeployment("d")
	changed := real.DeepCopy()
	changed.Spec.Replicas = ptr.To[int32](9)
	changed = steps.Must(client.Update(e.Ctx, changed, metav1.UpdateOptions{DryRun: all}))(e.T)
	e.Equal("replicas in the answer", *changed.Spec.Replicas, int32(9))
	steps.Must(client.Patch(e.Ctx, "d", types.MergePatchType, []byte(`{"spec":{"replicas":8}}`), metav1.PatchOptions{DryRun: all}))(e.T)
	e.Check(client.Delete(e.Ctx, "d", metav1.DeleteOptions{DryRun: all}))
	e.Check(client.DeleteCollection(e.Ctx, metav1.DeleteOptions{DryRun: all}, metav1.ListOptions{}))
	got := steps.Must(client.Get(e.Ctx, "d", metav1.GetOptions{}))(e.T)
	e.Equal("the object after all that", got, real)

	invalid := newDeployment("i")
	invalid.Spec.Selector.MatchLabels = map[string]string{"app": "different"}
	_, err = client.Create(e.Ctx, invalid, metav1.CreateOptions{DryRun: all})
	e.Error(err, "Invalid", apierrors.IsInvalid)
}

func errorPredicates(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	_, err := client.Get(e.Ctx, "absent", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
	e.Equal("message", err.Error(), `configmaps "absent" not found`)
	e.Error(client.Delete(e.Ctx, "absent", metav1.DeleteOptions{}), "NotFound", apierrors.IsNotFound)

	e.createConfigMap("c", nil)
	_, err = client.Create(e.Ctx, newConfigMap("c", nil), metav1.CreateOptions{})
	e.Error(err, "AlreadyExists", apierrors.IsAlreadyExists)
	e.Equal("message", err.Error(), `configmaps "c" already exists`)

	_, err = client.Create(e.Ctx, newConfigMap("Not_A_Name", nil), metav1.CreateOptions{})
	e.Error(err, "Invalid", apierrors.IsInvalid)
	object := newConfigMap("d", nil)
	object.Namespace = "elsewhere"
	_, err = client.Create(e.Ctx, object, metav1.CreateOptions{})
	e.Error(err, "BadRequest", apierrors.IsBadRequest)
	_, err = e.clients.CoreV1().ConfigMaps("no-such-namespace").Create(e.Ctx, newConfigMap("c", nil), metav1.CreateOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
	_, err = client.List(e.Ctx, metav1.ListOptions{LabelSelector: "a in (b"})
	e.Error(err, "BadRequest", apierrors.IsBadRequest)
	_, err = client.List(e.Ctx, metav1.ListOptions{Continue: "nonsense", Limit: 1})
	e.Error(err, "BadRequest", apierrors.IsBadRequest)
	_, err = e.clients.CoreV1().Pods(e.namespace).Patch(e.Ctx, "p", types.PatchType("application/nonsense"), []byte("{}"), metav1.PatchOptions{})
	e.Error(err, "UnsupportedMediaType", apierrors.IsUnsupportedMediaType)
}

func errorInvalidCauses(e *env) {
	pod := newPod("p")
	pod.Spec.Containers[0].Image = ""
	pod.Spec.RestartPolicy = "Sometimes"
	_, err := e.clients.CoreV1().Pods(e.namespace).Create(e.Ctx, pod, metav1.CreateOptions{})
	e.Error(err, "Invalid", apierrors.IsInvalid)
	var status apierrors.APIStatus
	e.True(errors.As(err, &status), "not an APIStatus: %T", err)
	details := status.Status().Details
	e.Equal("code", status.Status().Code, int32(422))
	e.Equal("kind", details.Kind, "Pod")
	fields := map[string]metav1.CauseType{}
	for _, cause := range details.Causes {
		fields[cause.Field] = cause.Type
	}
	e.Equal("causes", fields, map[string]metav1.CauseType{
		"spec.containers[0].image": metav1.CauseTypeFieldValueRequired,
		"spec.restartPolicy":       metav1.CauseTypeFieldValueNotSupported})
}
