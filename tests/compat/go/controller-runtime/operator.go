// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const (
	siteLabel     = "compat.example.com/site"
	siteFinalizer = "compat.example.com/site"
	// imageIndex is the cache index of Deployments by container image.
	imageIndex = "image"
)

// siteReconciler creates a Deployment for each ConfigMap with siteLabel; data.replicas is its size.
type siteReconciler struct {
	client.Client
	recorder events.EventRecorder
}

func setUpOperator(manager ctrl.Manager) error {
	err := manager.GetFieldIndexer().IndexField(context.Background(), &appsv1.Deployment{}, imageIndex, func(object client.Object) []string {
		return []string{object.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image}
	})
	if err != nil {
		return err
	}
	labelled := predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetLabels()[siteLabel] != "" })
	return ctrl.NewControllerManagedBy(manager).
		Named("site").
		For(&corev1.ConfigMap{}, builder.WithPredicates(labelled)).
		Owns(&appsv1.Deployment{}).
		Complete(&siteReconciler{manager.GetClient(), manager.GetEventRecorder("site")})
}

func (r *siteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &corev1.ConfigMap{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.finalize(ctx, site)
	}
	before := site.DeepCopy()
	if controllerutil.AddFinalizer(site, siteFinalizer) {
		if err := r.Patch(ctx, site, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	replicas, err := strconv.ParseInt(site.Data["replicas"], 10, 32)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("replicas of %s: %w", request, err)
	}
	deployment := newDeployment(site.Name, site.Namespace)
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		size := int32(replicas)
		deployment.Spec.Replicas = &size
		return controllerutil.SetControllerReference(site, deployment, r.Scheme())
	})
	if err == nil && result != controllerutil.OperationResultNone {
		r.recorder.Eventf(site, deployment, corev1.EventTypeNormal, "Reconciled", "Reconcile", "deployment %s", result)
	}
	return ctrl.Result{}, err
}

// finalize deletes the Deployment of the site, because envtest runs no garbage collector.
func (r *siteReconciler) finalize(ctx context.Context, site *corev1.ConfigMap) error {
	err := r.Delete(ctx, newDeployment(site.Name, site.Namespace))
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if controllerutil.RemoveFinalizer(site, siteFinalizer) {
		return client.IgnoreNotFound(r.Update(ctx, site))
	}
	return nil
}

func newDeployment(name, namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/app:1"}}}},
		},
	}
}
