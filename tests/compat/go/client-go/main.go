// SPDX-License-Identifier: Apache-2.0

// Command client-go drives an API server with the official Go client, as programs in clusters do.
// It takes the server from $KUBECONFIG. Arguments are names of steps to run; the default is all.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"coxswain.example/tests/compat/steps"
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// env is the environment of a step: clients that use one content type, and a namespace of its own.
type env struct {
	*steps.T
	config    *rest.Config
	clients   *kubernetes.Clientset
	namespace string
	requests  *recorder
}

// recorder records requests, so that a step can check which requests the client sent.
type recorder struct {
	next  http.RoundTripper
	mutex sync.Mutex
	seen  []*http.Request
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mutex.Lock()
	r.seen = append(r.seen, request)
	r.mutex.Unlock()
	return r.next.RoundTrip(request)
}

// count returns the number of requests that match.
func (r *recorder) count(match func(*http.Request) bool) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found := 0
	for _, request := range r.seen {
		if match(request) {
			found++
		}
	}
	return found
}

func (e *env) dynamic() *dynamic.DynamicClient {
	return steps.Must(dynamic.NewForConfig(e.config))(e.T)
}

func (e *env) metadata() metadata.Interface {
	return steps.Must(metadata.NewForConfig(e.config))(e.T)
}

// with runs a step that needs an env. Its namespace is named after the step.
func with(base *rest.Config, contentType, name string, run func(*env)) steps.Step {
	return steps.Step{Name: name, Run: func(t *steps.T) {
		config := rest.CopyConfig(base)
		config.ContentType = contentType
		config.AcceptContentTypes = contentType
		if contentType == protobufType {
			config.AcceptContentTypes += "," + jsonType
		}
		config.QPS = -1
		config.UserAgent = "compat"
		requests := &recorder{}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			requests.next = next
			return requests
		})
		e := &env{T: t, config: config, requests: requests}
		e.clients = steps.Must(kubernetes.NewForConfig(config))(t)
		e.namespace = strings.NewReplacer("/", "-", "_", "-").Replace(name)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}
		steps.Must(e.clients.CoreV1().Namespaces().Create(t.Ctx, namespace, metav1.CreateOptions{}))(t)
		run(e)
	}}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var all []steps.Step
	for _, contentType := range []struct{ name, value string }{{"json", jsonType}, {"protobuf", protobufType}} {
		for _, each := range typed {
			all = append(all, with(config, contentType.value, contentType.name+"/"+each.name, each.run))
		}
	}
	for _, each := range untyped {
		all = append(all, with(config, jsonType, each.name, each.run))
	}
	os.Exit(steps.Run(all))
}

type step struct {
	name string
	run  func(*env)
}

// typed steps use the typed clients, once per content type.
var typed = []step{
	{"crud_configmap", crudConfigMap},
	{"crud_deployment", crudDeployment},
	{"crud_pod", crudPod},
	{"secret_bytes", secretBytes},
	{"generate_name", generateName},
	{"status_subresource", statusSubresource},
	{"conflict_retry", conflictRetry},
	{"delete_propagation", deletePropagation},
	{"delete_preconditions", deletePreconditions},
	{"delete_collection", deleteCollection},
	{"finalizers", finalizers},
	{"dry_run", dryRun},
	{"error_predicates", errorPredicates},
	{"error_invalid_causes", errorInvalidCauses},
	{"json_patch", jsonPatch},
	{"merge_patch", mergePatch},
	{"strategic_merge_patch", strategicMergePatch},
	{"apply", apply},
	{"apply_conflict", applyConflict},
	{"apply_extract", applyExtract},
	{"apply_status", applyStatus},
	{"list_pages", listPages},
	{"list_selectors", listSelectors},
	{"watch", watchFromVersion},
	{"watch_selector", watchSelector},
	{"watch_bookmark", watchBookmark},
	{"watch_retry", watchRetry},
	{"informer", informer},
	{"scale", scaleTyped},
	{"scale_apply", scaleApply},
	{"evict", evict},
	{"evict_budget", evictBudget},
	{"events", eventRecorder},
	{"leader_election", leaderElection},
	{"self_reviews", selfReviews},
	{"create_token", createToken},
}

// untyped steps use clients without typed objects, which choose their content type themselves.
var untyped = []step{
	{"version", version},
	{"discovery_aggregated", discoveryAggregated},
	{"discovery_legacy", discoveryLegacy},
	{"openapi", openapi},
	{"rest_mapper", restMapper},
	{"dynamic_crud", dynamicCRUD},
	{"dynamic_apply", dynamicApply},
	{"dynamic_informer", dynamicInformer},
	{"dynamic_strict", dynamicStrict},
	{"metadata_json", func(e *env) { metadataOnly(e, jsonType) }},
	{"metadata_protobuf", func(e *env) { metadataOnly(e, protobufType) }},
	{"metadata_informer", metadataInformer},
	{"table", table},
	{"scale_client", scaleClient},
	{"http1", http1},
	{"warnings", warnings},
	{"impersonation", impersonation},
}
