// SPDX-License-Identifier: Apache-2.0

package main

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"coxswain.example/tests/compat/steps"
)

func (e *env) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.namespace}, Data: map[string]string{"key": "value"}}
}

func (e *env) createSite(name, replicas string) *corev1.ConfigMap {
	site := e.configMap(name)
	site.Labels = map[string]string{siteLabel: "yes"}
	site.Data["replicas"] = replicas
	e.Check(e.direct.Create(e.Ctx, site))
	return site
}

// size returns the replicas in the spec of the site's Deployment, or -1 if there is none.
func (e *env) size(name string) int32 {
	deployment := &appsv1.Deployment{}
	err := e.direct.Get(e.Ctx, client.ObjectKey{Namespace: e.namespace, Name: name}, deployment)
	if apierrors.IsNotFound(err) {
		return -1
	}
	e.Check(err)
	return *deployment.Spec.Replicas
}

func (e *env) createDeployment(name string) *appsv1.Deployment {
	deployment := newDeployment(name, e.namespace)
	e.Check(e.direct.Create(e.Ctx, deployment))
	return deployment
}

func reconcileCreates(e *env) {
	site := e.createSite("s", "2")
	e.Eventually("a deployment of size 2", func() bool { return e.size("s") == 2 })
	deployment := &appsv1.Deployment{}
	e.Check(e.direct.Get(e.Ctx, client.ObjectKeyFromObject(site), deployment))
	e.True(metav1.IsControlledBy(deployment, site), "owners: %+v", deployment.OwnerReferences)
	e.Eventually("an event", func() bool {
		list := &corev1.EventList{}
		e.Check(e.direct.List(e.Ctx, list, client.InNamespace(e.namespace)))
		return len(list.Items) > 0 && list.Items[0].Reason == "Reconciled"
	})
}

func reconcileFollows(e *env) {
	site := e.createSite("s", "1")
	e.Eventually("size 1", func() bool { return e.size("s") == 1 })
	e.Check(e.direct.Get(e.Ctx, client.ObjectKeyFromObject(site), site))
	site.Data["replicas"] = "5"
	e.Check(e.direct.Update(e.Ctx, site))
	e.Eventually("size 5", func() bool { return e.size("s") == 5 })
}

func reconcileRestores(e *env) {
	e.createSite("s", "3")
	e.Eventually("size 3", func() bool { return e.size("s") == 3 })
	deployment := newDeployment("s", e.namespace)
	e.Check(e.direct.Patch(e.Ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":9}}`))))
	e.Eventually("size 3 again", func() bool { return e.size("s") == 3 })
	old := deployment.UID
	e.Check(e.direct.Delete(e.Ctx, deployment))
	e.Eventually("another deployment", func() bool {
		err := e.direct.Get(e.Ctx, client.ObjectKeyFromObject(deployment), deployment)
		return err == nil && deployment.UID != old
	})
}

func reconcileFinalizes(e *env) {
	site := e.createSite("s", "1")
	e.Eventually("size 1", func() bool { return e.size("s") == 1 })
	e.Check(e.direct.Delete(e.Ctx, site))
	e.Eventually("the site is gone", func() bool {
		return apierrors.IsNotFound(e.direct.Get(e.Ctx, client.ObjectKeyFromObject(site), site))
	})
	e.Equal("size", e.size("s"), int32(-1))
}

func cacheIndex(e *env) {
	odd := newDeployment("odd", e.namespace)
	odd.Spec.Template.Spec.Containers[0].Image = "registry.example.com/odd:1"
	e.Check(e.direct.Create(e.Ctx, odd))
	e.createDeployment("even")
	list := &appsv1.DeploymentList{}
	e.Eventually("both are cached", func() bool {
		e.Check(e.manager.GetClient().List(e.Ctx, list, client.InNamespace(e.namespace)))
		return len(list.Items) == 2
	})
	e.Check(e.manager.GetClient().List(e.Ctx, list, client.InNamespace(e.namespace),
		client.MatchingFields{imageIndex: "registry.example.com/odd:1"}))
	e.Equal("found by index", len(list.Items), 1)
	e.Equal("name", list.Items[0].Name, "odd")
}

func cacheUnstructured(e *env) {
	e.Check(e.direct.Create(e.Ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: e.namespace},
		StringData: map[string]string{"a": "b"}}))
	secret := &unstructured.Unstructured{}
	secret.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	e.Eventually("the secret is cached", func() bool {
		err := e.manager.GetCache().Get(e.Ctx, client.ObjectKey{Namespace: e.namespace, Name: "s"}, secret)
		e.Check(client.IgnoreNotFound(err))
		return err == nil
	})
	value, _, _ := unstructured.NestedString(secret.Object, "data", "a")
	e.Equal("data", value, "Yg==")
}

func cacheMetadata(e *env) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: e.namespace, Labels: map[string]string{"l": "v"}},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	e.Check(e.direct.Create(e.Ctx, service))
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Service"})
	e.Eventually("the service is cached", func() bool {
		err := e.manager.GetCache().Get(e.Ctx, client.ObjectKeyFromObject(service), partial)
		e.Check(client.IgnoreNotFound(err))
		return err == nil
	})
	e.Equal("labels", partial.Labels, map[string]string{"l": "v"})
}

func clientPatches(e *env) {
	object := e.configMap("c")
	e.Check(e.direct.Create(e.Ctx, object))
	stale := object.DeepCopy()

	before := object.DeepCopy()
	object.Data["merged"] = "yes"
	e.Check(e.direct.Patch(e.Ctx, object, client.MergeFrom(before)))
	e.Equal("data", object.Data, map[string]string{"key": "value", "merged": "yes"})

	before = stale.DeepCopy()
	stale.Data["late"] = "yes"
	err := e.direct.Patch(e.Ctx, stale, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	e.Error(err, "Conflict", apierrors.IsConflict)

	deployment := e.createDeployment("d")
	base := deployment.DeepCopy()
	deployment.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}}
	e.Check(e.direct.Patch(e.Ctx, deployment, client.StrategicMergeFrom(base)))
	e.Equal("containers", len(deployment.Spec.Template.Spec.Containers), 1)
	e.Equal("env", deployment.Spec.Template.Spec.Containers[0].Env[0].Value, "1")
}

func clientApply(e *env) {
	apply := func(owner, value string, options ...client.ApplyOption) error {
		configuration := corev1apply.ConfigMap("c", e.namespace).WithData(map[string]string{"a": value})
		return e.direct.Apply(e.Ctx, configuration, append(options, client.FieldOwner(owner))...)
	}
	e.Check(apply("one", "1"))
	e.Error(apply("two", "2"), "Conflict", apierrors.IsConflict)
	e.Check(apply("two", "2", client.ForceOwnership))
	object := e.configMap("c")
	e.Check(e.direct.Get(e.Ctx, client.ObjectKeyFromObject(object), object))
	e.Equal("data", object.Data, map[string]string{"a": "2"})
}

func clientStatus(e *env) {
	deployment := e.createDeployment("d")
	before := deployment.DeepCopy()
	deployment.Status.Replicas = 3
	e.Check(e.direct.Status().Patch(e.Ctx, deployment, client.MergeFrom(before)))
	deployment.Status.ReadyReplicas = 2
	e.Check(e.direct.Status().Update(e.Ctx, deployment))
	e.Check(e.direct.Get(e.Ctx, client.ObjectKeyFromObject(deployment), deployment))
	e.Equal("replicas", deployment.Status.Replicas, int32(3))
	e.Equal("ready", deployment.Status.ReadyReplicas, int32(2))
}

func clientSubresources(e *env) {
	deployment := e.createDeployment("d")
	scale := &autoscalingv1.Scale{}
	e.Check(e.direct.SubResource("scale").Get(e.Ctx, deployment, scale))
	e.Equal("replicas", scale.Spec.Replicas, int32(1))
	scale.Spec.Replicas = 4
	e.Check(e.direct.SubResource("scale").Update(e.Ctx, deployment, client.WithSubResourceBody(scale)))
	e.Equal("size", e.size("d"), int32(4))

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: e.namespace}, Spec: deployment.Spec.Template.Spec}
	e.Check(e.direct.Create(e.Ctx, pod))
	e.Check(e.direct.SubResource("eviction").Create(e.Ctx, pod, &policyv1.Eviction{}))
	err := e.direct.Get(e.Ctx, client.ObjectKeyFromObject(pod), pod)
	e.Error(err, "NotFound", apierrors.IsNotFound)
}

func clientDryRun(e *env) {
	dry := client.NewDryRunClient(e.direct)
	object := e.configMap("c")
	e.Check(dry.Create(e.Ctx, object))
	e.True(object.UID != "", "no uid")
	err := e.direct.Get(e.Ctx, client.ObjectKeyFromObject(object), object)
	e.Error(err, "NotFound", apierrors.IsNotFound)
}

func clientDeleteAll(e *env) {
	for _, name := range []string{"a", "b", "c"} {
		object := e.configMap(name)
		object.Labels = map[string]string{"first": map[bool]string{true: "yes", false: "no"}[name == "a"]}
		e.Check(e.direct.Create(e.Ctx, object))
	}
	e.Check(e.direct.DeleteAllOf(e.Ctx, &corev1.ConfigMap{}, client.InNamespace(e.namespace), client.MatchingLabels{"first": "no"}))
	list := &corev1.ConfigMapList{}
	e.Check(e.direct.List(e.Ctx, list, client.InNamespace(e.namespace)))
	e.Equal("left", len(list.Items), 1)
}

// user returns a client with a certificate that envtest has signed.
func (e *env) user(name string, groups ...string) client.Client {
	user := steps.Must(e.environment.AddUser(envtest.User{Name: name, Groups: groups}, nil))(e.T)
	// A mapper of its own would send discovery requests, which these steps do not test.
	return steps.Must(client.New(user.Config(), client.Options{Scheme: scheme.Scheme, Mapper: e.manager.GetRESTMapper()}))(e.T)
}

func userForbidden(e *env) {
	err := e.user("nobody").Create(e.Ctx, e.configMap("c"))
	e.Error(err, "Forbidden", apierrors.IsForbidden)
}

func userMaster(e *env) {
	e.Check(e.user("boss", "system:masters").Create(e.Ctx, e.configMap("c")))
}

func userRole(e *env) {
	meta := metav1.ObjectMeta{Name: "reader", Namespace: e.namespace}
	e.Check(e.direct.Create(e.Ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}))
	e.Check(e.direct.Create(e.Ctx, &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}}}))
	reader := e.user("reader")
	e.Eventually("the role counts", func() bool {
		return reader.List(e.Ctx, &corev1.ConfigMapList{}, client.InNamespace(e.namespace)) == nil
	})
	e.Error(reader.Create(e.Ctx, e.configMap("c")), "Forbidden", apierrors.IsForbidden)
}
