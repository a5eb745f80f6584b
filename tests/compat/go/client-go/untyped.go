// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	"coxswain.example/tests/compat/steps"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

func version(e *env) {
	info := steps.Must(e.clients.Discovery().ServerVersion())(e.T)
	e.Equal("minor", info.Minor, "36")
	e.True(strings.HasPrefix(info.GitVersion, "v1.36."), "gitVersion %s", info.GitVersion)
}

func discoveryAggregated(e *env) {
	groups, resources, failed, err := e.clients.Discovery().(discovery.AggregatedDiscoveryInterface).GroupsAndMaybeResources()
	e.Check(err)
	e.Equal("failed", len(failed), 0)
	e.True(resources != nil, "the server did not answer in aggregated form")
	e.True(len(groups.Groups) > 10, "%d groups", len(groups.Groups))
	e.Equal("requests", e.requests.count(func(r *http.Request) bool {
		return r.URL.Path != "/api" && r.URL.Path != "/apis" && !strings.HasPrefix(r.URL.Path, "/api/v1/namespaces")
	}), 0)
	found := map[string]metav1.APIResource{}
	for _, each := range resources[schema.GroupVersion{Version: "v1"}].APIResources {
		found[each.Name] = each
	}
	e.Equal("pods", found["pods"].ShortNames, []string{"po"})
	e.True(found["pods"].Namespaced && !found["nodes"].Namespaced, "scopes are wrong")
	e.Equal("kind of pods/eviction", found["pods/eviction"].Kind, "Eviction")
	preferred := steps.Must(e.clients.Discovery().ServerPreferredResources())(e.T)
	e.True(len(preferred) > 10, "%d preferred", len(preferred))
}

func discoveryLegacy(e *env) {
	client := steps.Must(discovery.NewDiscoveryClientForConfig(e.config))(e.T)
	client.UseLegacyDiscovery = true
	groups, resources := steps.Must2(client.ServerGroupsAndResources())(e.T)
	aggregated, _ := steps.Must2(e.clients.Discovery().ServerGroupsAndResources())(e.T)
	e.Equal("groups", len(groups), len(aggregated))
	e.True(len(resources) > 10, "%d lists", len(resources))
}

func openapi(e *env) {
	paths := steps.Must(e.clients.Discovery().OpenAPIV3().Paths())(e.T)
	for _, path := range []string{"api/v1", "apis/apps/v1"} {
		document := steps.Must(paths[path].Schema(jsonType))(e.T)
		var parsed struct {
			Components struct{ Schemas map[string]any }
		}
		e.Check(json.Unmarshal(document, &parsed))
		e.True(len(parsed.Components.Schemas) > 10, "%s: %d schemas", path, len(parsed.Components.Schemas))
	}
	document := steps.Must(e.clients.Discovery().OpenAPISchema())(e.T)
	e.True(len(document.Definitions.AdditionalProperties) > 100, "%d definitions", len(document.Definitions.AdditionalProperties))
}

func (e *env) mapper() meta.RESTMapper {
	return restmapper.NewShortcutExpander(
		restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(e.clients.Discovery())), e.clients.Discovery(), nil)
}

func restMapper(e *env) {
	mapping := steps.Must(e.mapper().RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"}))(e.T)
	e.Equal("resource", mapping.Resource, deployments)
	e.Equal("scope", mapping.Scope.Name(), meta.RESTScopeNameNamespace)
	kind := steps.Must(e.mapper().KindFor(schema.GroupVersionResource{Resource: "cm"}))(e.T)
	e.Equal("kind of the short name", kind.Kind, "ConfigMap")
	_, err := e.mapper().RESTMapping(schema.GroupKind{Group: "apps", Kind: "Nonsense"})
	e.Error(err, "NoMatch", meta.IsNoMatchError)
}

func object(text string) *unstructured.Unstructured {
	content := map[string]any{}
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func dynamicCRUD(e *env) {
	client := e.dynamic().Resource(configMaps).Namespace(e.namespace)
	made := steps.Must(client.Create(e.Ctx, object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`), metav1.CreateOptions{}))(e.T)
	e.Check(unstructured.SetNestedField(made.Object, "2", "data", "a"))
	changed := steps.Must(client.Update(e.Ctx, made, metav1.UpdateOptions{}))(e.T)
	value, _, _ := unstructured.NestedString(changed.Object, "data", "a")
	e.Equal("data", value, "2")
	steps.Must(client.Patch(e.Ctx, "c", types.MergePatchType, []byte(`{"data":{"b":"3"}}`), metav1.PatchOptions{}))(e.T)
	list := steps.Must(client.List(e.Ctx, metav1.ListOptions{}))(e.T)
	e.Equal("items", len(list.Items), 1)
	e.Equal("kind of an item", list.Items[0].GetKind(), "ConfigMap")
	watching := steps.Must(client.Watch(e.Ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))(e.T)
	defer watching.Stop()
	e.Check(client.Delete(e.Ctx, "c", metav1.DeleteOptions{}))
	e.Equal("event", steps.Receive(e.T, "deletion", watching.ResultChan()).Type, watch.Deleted)
	_, err := client.Get(e.Ctx, "c", metav1.GetOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
	_, err = e.dynamic().Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}).List(e.Ctx, metav1.ListOptions{})
	e.Error(err, "NotFound", apierrors.IsNotFound)
}

func dynamicApply(e *env) {
	client := e.dynamic().Resource(configMaps).Namespace(e.namespace)
	apply := func(manager, value string, force bool) error {
		_, err := client.Apply(e.Ctx, "c", object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"`+value+`"}}`),
			metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	e.Check(apply("one", "1", false))
	e.Error(apply("two", "2", false), "Conflict", apierrors.IsConflict)
	e.Check(apply("two", "2", true))
}

func dynamicInformer(e *env) {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(e.dynamic(), 0, e.namespace, nil)
	informer := factory.ForResource(deployments).Informer()
	var events noted
	steps.Must(informer.AddEventHandler(events.handler()))(e.T)
	e.createDeployment("d")
	stop := make(chan struct{})
	factory.Start(stop)
	defer factory.Shutdown()
	defer close(stop)
	e.sync(informer)
	e.streamed("/deployments")
	e.Eventually("add d", func() bool { return events.has("add d") })
	e.Check(e.clients.AppsV1().Deployments(e.namespace).Delete(e.Ctx, "d", metav1.DeleteOptions{}))
	e.Eventually("delete d", func() bool { return events.has("delete d") })
}

func dynamicStrict(e *env) {
	client := e.dynamic().Resource(configMaps).Namespace(e.namespace)
	strange := object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"nonsense":1}`)
	_, err := client.Create(e.Ctx, strange, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	e.Error(err, "BadRequest", apierrors.IsBadRequest)
	e.True(strings.Contains(err.Error(), `strict decoding error: unknown field "nonsense"`), "message: %v", err)
	steps.Must(client.Create(e.Ctx, strange, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore}))(e.T)
}

func metadataOnly(e *env, contentType string) {
	config := rest.CopyConfig(e.config)
	config.ContentType, config.AcceptContentTypes = contentType, contentType
	client := steps.Must(metadata.NewForConfig(config))(e.T).Resource(deployments).Namespace(e.namespace)
	made := e.createDeployment("d")
	got := steps.Must(client.Get(e.Ctx, "d", metav1.GetOptions{}))(e.T)
	e.Equal("uid", got.UID, made.UID)
	list := steps.Must(client.List(e.Ctx, metav1.ListOptions{}))(e.T)
	e.Equal("items", len(list.Items), 1)
	watching := steps.Must(client.Watch(e.Ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion}))(e.T)
	defer watching.Stop()
	patched := steps.Must(client.Patch(e.Ctx, "d", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}))(e.T)
	e.Equal("labels", patched.Labels["a"], "b")
	event := steps.Receive(e.T, "change", watching.ResultChan())
	e.Equal("event", event.Type, watch.Modified)
	e.Equal("labels", event.Object.(*metav1.PartialObjectMetadata).Labels["a"], "b")
	e.Check(client.Delete(e.Ctx, "d", metav1.DeleteOptions{}))
}

func metadataInformer(e *env) {
	factory := metadatainformer.NewFilteredSharedInformerFactory(e.metadata(), 0, e.namespace, nil)
	informer := factory.ForResource(configMaps).Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	defer factory.Shutdown()
	defer close(stop)
	e.sync(informer)
	e.streamed("/configmaps")
	e.createConfigMap("c", nil)
	e.Eventually("the object is cached", func() bool { return len(informer.GetStore().ListKeys()) == 1 })
}

func table(e *env) {
	e.createPod("p")
	raw := steps.Must(e.clients.CoreV1().RESTClient().Get().Namespace(e.namespace).Resource("pods").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(e.Ctx).Raw())(e.T)
	var got metav1.Table
	e.Check(json.Unmarshal(raw, &got))
	e.Equal("kind", got.Kind, "Table")
	e.Equal("first column", got.ColumnDefinitions[0].Name, "Name")
	e.Equal("first cell", got.Rows[0].Cells[0], any("p"))
	var included metav1.PartialObjectMetadata
	e.Check(json.Unmarshal(got.Rows[0].Object.Raw, &included))
	e.Equal("object of the row", included.Name, "p")
}

// scaleClient finds the scale of any resource through discovery, as autoscalers do.
func scaleClient(e *env) {
	resolver := scale.NewDiscoveryScaleKindResolver(e.clients.Discovery())
	client := steps.Must(scale.NewForConfig(e.config, e.mapper(), dynamic.LegacyAPIPathResolverFunc, resolver))(e.T).Scales(e.namespace)
	e.createDeployment("d")
	got := steps.Must(client.Get(e.Ctx, deployments.GroupResource(), "d", metav1.GetOptions{}))(e.T)
	e.Equal("replicas", got.Spec.Replicas, int32(2))
	got.Spec.Replicas = 3
	got = steps.Must(client.Update(e.Ctx, deployments.GroupResource(), got, metav1.UpdateOptions{}))(e.T)
	e.Equal("replicas", got.Spec.Replicas, int32(3))
	var patched *autoscalingv1.Scale = steps.Must(client.Patch(e.Ctx, deployments, "d", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}))(e.T)
	e.Equal("replicas", patched.Spec.Replicas, int32(5))
}

// http1 tests clients behind proxies that support only HTTP/1.1.
func http1(e *env) {
	config := rest.CopyConfig(e.config)
	config.TLSClientConfig.NextProtos = []string{"http/1.1"}
	config.WrapTransport = nil
	protocols := make(chan string, 100)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(request)
			if err == nil {
				protocols <- answer.Proto
			}
			return answer, err
		})
	})
	clients := steps.Must(kubernetes.NewForConfig(config))(e.T)
	watching := steps.Must(clients.CoreV1().ConfigMaps(e.namespace).Watch(e.Ctx, metav1.ListOptions{}))(e.T)
	defer watching.Stop()
	steps.Must(clients.CoreV1().ConfigMaps(e.namespace).Create(e.Ctx, newConfigMap("c", nil), metav1.CreateOptions{}))(e.T)
	e.expect(watching, watch.Added, "c")
	e.Equal("protocol", steps.Receive(e.T, "a protocol", protocols), "HTTP/1.1")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// warned collects the warnings of the server.
type warned struct {
	mutex sync.Mutex
	texts []string
}

func (w *warned) HandleWarningHeader(code int, _ string, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if code == 299 {
		w.texts = append(w.texts, text)
	}
}

func warnings(e *env) {
	config := rest.CopyConfig(e.config)
	var handler warned
	config.WarningHandler = &handler
	client := steps.Must(dynamic.NewForConfig(config))(e.T).Resource(configMaps).Namespace(e.namespace)
	strange := object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"nonsense":"\"quoted\""}`)
	steps.Must(client.Create(e.Ctx, strange, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn}))(e.T)
	e.Equal("warnings", handler.texts, []string{`unknown field "nonsense"`})
}
