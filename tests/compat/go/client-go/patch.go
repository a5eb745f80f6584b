// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1apply "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"

	"coxswain.example/tests/compat/steps"
)

func (e *env) patchConfigMap(kind types.PatchType, patch string) (*corev1.ConfigMap, error) {
	return e.clients.CoreV1().ConfigMaps(e.namespace).Patch(e.Ctx, "c", kind, []byte(patch), metav1.PatchOptions{})
}

func jsonPatch(e *env) {
	e.createConfigMap("c", nil)
	got := steps.Must(e.patchConfigMap(types.JSONPatchType,
		`[{"op":"test","path":"/data/key","value":"value"},{"op":"replace","path":"/data/key","value":"new"},
		  {"op":"add","path":"/metadata/annotations","value":{}},{"op":"add","path":"/metadata/annotations/example.com~1a","value":"s"},{"op":"copy","from":"/data/key","path":"/data/copied"}]`))(e.T)
	e.Equal("data", got.Data, map[string]string{"key": "new", "copied": "new"})
	e.Equal("annotations", got.Annotations, map[string]string{"example.com/a": "s"})
	_, err := e.patchConfigMap(types.JSONPatchType, `[{"op":"test","path":"/data/key","value":"value"}]`)
	e.Error(err, "Invalid", apierrors.IsInvalid)
}

func mergePatch(e *env) {
	e.createConfigMap("c", nil)
	got := steps.Must(e.patchConfigMap(types.MergePatchType, `{"data":{"key":null,"other":"o"},"metadata":{"labels":{"l":"v"}}}`))(e.T)
	e.Equal("data", got.Data, map[string]string{"other": "o"})
	e.Equal("labels", got.Labels, map[string]string{"l": "v"})
	_, err := e.patchConfigMap(types.MergePatchType, `{"metadata":{"resourceVersion":"1"},"data":{"x":"y"}}`)
	e.Error(err, "Conflict", apierrors.IsConflict)
	_, err = e.patchConfigMap(types.MergePatchType, `{"data":`)
	e.Error(err, "BadRequest", apierrors.IsBadRequest)
}

func strategicMergePatch(e *env) {
	e.createDeployment("d")
	got := steps.Must(e.clients.AppsV1().Deployments(e.namespace).Patch(e.Ctx, "d", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"registry.example.com/side:1"},
		  {"name":"main","env":[{"name":"A","value":"1"}]}]}}}}`), metav1.PatchOptions{}))(e.T)
	images := map[string]string{}
	for _, each := range got.Spec.Template.Spec.Containers {
		images[each.Name] = each.Image
	}
	e.Equal("images", images, map[string]string{"main": "registry.example.com/app:1", "side": "registry.example.com/side:1"})
	got = steps.Must(e.clients.AppsV1().Deployments(e.namespace).Patch(e.Ctx, "d", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"$patch":"delete","name":"side"}]}}}}`), metav1.PatchOptions{}))(e.T)
	e.Equal("containers", len(got.Spec.Template.Spec.Containers), 1)
}

func deploymentConfiguration(e *env) *appsv1apply.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "d"}
	return appsv1apply.Deployment("d", e.namespace).WithSpec(appsv1apply.DeploymentSpec().
		WithReplicas(3).
		WithSelector(metav1apply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1apply.PodTemplateSpec().WithLabels(labels).WithSpec(corev1apply.PodSpec().
			WithContainers(corev1apply.Container().WithName("main").WithImage("registry.example.com/app:1").
				WithPorts(corev1apply.ContainerPort().WithContainerPort(8080))))))
}

func apply(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	options := metav1.ApplyOptions{FieldManager: "one"}
	made := steps.Must(client.Apply(e.Ctx, deploymentConfiguration(e), options))(e.T)
	e.Equal("replicas", *made.Spec.Replicas, int32(3))
	e.Equal("managers", len(made.ManagedFields), 1)
	e.Equal("operation", made.ManagedFields[0].Operation, metav1.ManagedFieldsOperationApply)

	again := steps.Must(client.Apply(e.Ctx, deploymentConfiguration(e), options))(e.T)
	e.Equal("resourceVersion after the same again", again.ResourceVersion, made.ResourceVersion)

	two := appsv1apply.Deployment("d", e.namespace).WithSpec(appsv1apply.DeploymentSpec().WithTemplate(
		corev1apply.PodTemplateSpec().WithSpec(corev1apply.PodSpec().WithContainers(
			corev1apply.Container().WithName("side").WithImage("registry.example.com/side:1")))))
	both := steps.Must(client.Apply(e.Ctx, two, metav1.ApplyOptions{FieldManager: "two"}))(e.T)
	e.Equal("containers of both", len(both.Spec.Template.Spec.Containers), 2)

	empty := appsv1apply.Deployment("d", e.namespace)
	one := steps.Must(client.Apply(e.Ctx, empty, metav1.ApplyOptions{FieldManager: "two"}))(e.T)
	e.Equal("containers after two let go", len(one.Spec.Template.Spec.Containers), 1)
}

func applyConflict(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	steps.Must(client.Apply(e.Ctx, deploymentConfiguration(e), metav1.ApplyOptions{FieldManager: "one"}))(e.T)
	other := appsv1apply.Deployment("d", e.namespace).WithSpec(appsv1apply.DeploymentSpec().WithReplicas(5))
	_, err := client.Apply(e.Ctx, other, metav1.ApplyOptions{FieldManager: "two"})
	e.Error(err, "Conflict", apierrors.IsConflict)
	e.True(strings.Contains(err.Error(), `conflict with "one": .spec.replicas`), "message: %v", err)
	e.True(apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict), "no cause: %#v", err)

	forced := steps.Must(client.Apply(e.Ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true}))(e.T)
	e.Equal("replicas", *forced.Spec.Replicas, int32(5))
	_, err = client.Apply(e.Ctx, deploymentConfiguration(e), metav1.ApplyOptions{FieldManager: "one"})
	e.Error(err, "Conflict", apierrors.IsConflict)
}

// applyExtract changes the fields of a manager after reading them back from the object.
func applyExtract(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	made := steps.Must(client.Apply(e.Ctx, deploymentConfiguration(e), metav1.ApplyOptions{FieldManager: "one"}))(e.T)
	extracted := steps.Must(appsv1apply.ExtractDeployment(made, "one"))(e.T)
	e.Equal("what was applied, read back", extracted, deploymentConfiguration(e))
	extracted.Spec.WithReplicas(4)
	got := steps.Must(client.Apply(e.Ctx, extracted, metav1.ApplyOptions{FieldManager: "one"}))(e.T)
	e.Equal("replicas", *got.Spec.Replicas, int32(4))
	e.Equal("containers", len(got.Spec.Template.Spec.Containers), 1)
}

func applyStatus(e *env) {
	client := e.clients.AppsV1().Deployments(e.namespace)
	e.createDeployment("d")
	status := appsv1apply.Deployment("d", e.namespace).WithStatus(appsv1apply.DeploymentStatus().WithReadyReplicas(0).WithReplicas(2).
		WithConditions(appsv1apply.DeploymentCondition().WithType(appsv1.DeploymentProgressing).WithStatus(corev1.ConditionTrue)))
	got := steps.Must(client.ApplyStatus(e.Ctx, status, metav1.ApplyOptions{FieldManager: "status"}))(e.T)
	e.Equal("status.replicas", got.Status.Replicas, int32(2))
	owner := got.ManagedFields[len(got.ManagedFields)-1]
	for _, each := range got.ManagedFields {
		if each.Manager == "status" {
			owner = each
		}
	}
	e.Equal("subresource of the owner", owner.Subresource, "status")
}
