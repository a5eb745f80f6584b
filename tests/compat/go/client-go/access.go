// SPDX-License-Identifier: Apache-2.0

package main

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"coxswain.example/tests/compat/steps"
)

func selfReviews(e *env) {
	who := steps.Must(e.clients.AuthenticationV1().SelfSubjectReviews().Create(e.Ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))(e.T)
	e.Equal("user", who.Status.UserInfo.Username, "admin")
	may := steps.Must(e.clients.AuthorizationV1().SelfSubjectAccessReviews().Create(e.Ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: e.namespace, Verb: "delete", Resource: "pods"}}}, metav1.CreateOptions{}))(e.T)
	e.True(may.Status.Allowed, "not allowed: %+v", may.Status)
}

func createToken(e *env) {
	accounts := e.clients.CoreV1().ServiceAccounts(e.namespace)
	steps.Must(accounts.Create(e.Ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}))(e.T)
	request := steps.Must(accounts.CreateToken(e.Ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(e.T)
	config := rest.AnonymousClientConfig(e.config)
	config.BearerToken = request.Status.Token
	robot := steps.Must(kubernetes.NewForConfig(config))(e.T)
	who := steps.Must(robot.AuthenticationV1().SelfSubjectReviews().Create(e.Ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))(e.T)
	e.Equal("user", who.Status.UserInfo.Username, "system:serviceaccount:"+e.namespace+":robot")
}

func impersonation(e *env) {
	config := rest.CopyConfig(e.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"nobodies"}}
	somebody := steps.Must(kubernetes.NewForConfig(config))(e.T)
	_, err := somebody.CoreV1().ConfigMaps(e.namespace).List(e.Ctx, metav1.ListOptions{})
	e.Error(err, "Forbidden", apierrors.IsForbidden)
}
