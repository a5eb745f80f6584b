// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"

	"coxswain.example/tests/compat/steps"
)

func listPages(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	for i := range 7 {
		e.createConfigMap(fmt.Sprintf("c%d", i), nil)
	}
	first := steps.Must(client.List(e.Ctx, metav1.ListOptions{Limit: 3}))(e.T)
	e.Equal("items of the first page", len(first.Items), 3)
	e.Equal("remaining", *first.RemainingItemCount, int64(4))
	// All pages show the state of the first one: changes between them have no effect.
	e.createConfigMap("c9", nil)
	e.Check(client.Delete(e.Ctx, "c6", metav1.DeleteOptions{}))
	names, page := []string{}, first
	for {
		for _, each := range page.Items {
			names = append(names, each.Name)
		}
		e.Equal("resourceVersion of the page", page.ResourceVersion, first.ResourceVersion)
		if page.Continue == "" {
			break
		}
		page = steps.Must(client.List(e.Ctx, metav1.ListOptions{Limit: 3, Continue: page.Continue}))(e.T)
	}
	e.Equal("names", names, []string{"c0", "c1", "c2", "c3", "c4", "c5", "c6"})

	count := 0
	lister := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, options)
	})
	lister.PageSize = 2
	e.Check(lister.EachListItem(e.Ctx, metav1.ListOptions{}, func(runtime.Object) error { count++; return nil }))
	e.Equal("items seen by the pager", count, 7)
}

func listSelectors(e *env) {
	for i := range 4 {
		e.createConfigMap(fmt.Sprintf("c%d", i), map[string]string{"n": fmt.Sprint(i), "all": "yes"})
	}
	count := func(options metav1.ListOptions) int {
		return len(steps.Must(e.clients.CoreV1().ConfigMaps(e.namespace).List(e.Ctx, options))(e.T).Items)
	}
	e.Equal("in", count(metav1.ListOptions{LabelSelector: "n in (1,2),all"}), 2)
	e.Equal("not", count(metav1.ListOptions{LabelSelector: "n!=1,!absent"}), 3)
	e.Equal("field", count(metav1.ListOptions{FieldSelector: "metadata.name=c3"}), 1)
	e.Equal("from the cache", count(metav1.ListOptions{ResourceVersion: "0"}), 4)
	e.createPod("p")
	pods := steps.Must(e.clients.CoreV1().Pods("").List(e.Ctx, metav1.ListOptions{
		FieldSelector: "status.phase=Pending,spec.nodeName=,metadata.namespace=" + e.namespace}))(e.T)
	e.Equal("pending pods", len(pods.Items), 1)
}

func (e *env) expect(watching watch.Interface, kind watch.EventType, name string) *corev1.ConfigMap {
	event := steps.Receive(e.T, fmt.Sprintf("%s %s", kind, name), watching.ResultChan())
	e.Equal("event", event.Type, kind)
	object, is := event.Object.(*corev1.ConfigMap)
	e.True(is, "%T is not a ConfigMap", event.Object)
	if name != "" {
		e.Equal("name", object.Name, name)
	}
	return object
}

func watchFromVersion(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	made := e.createConfigMap("before", nil)
	e.createConfigMap("c", nil) // after the resource version and before the watch: must be seen
	watching := steps.Must(client.Watch(e.Ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion}))(e.T)
	defer watching.Stop()
	object := e.expect(watching, watch.Added, "c")
	object.Data["key"] = "changed"
	changed := steps.Must(client.Update(e.Ctx, object, metav1.UpdateOptions{}))(e.T)
	e.Equal("the object of the event", e.expect(watching, watch.Modified, "c"), changed)
	e.Check(client.Delete(e.Ctx, "c", metav1.DeleteOptions{}))
	gone := e.expect(watching, watch.Deleted, "c")
	e.True(gone.ResourceVersion != changed.ResourceVersion, "a deleted object carries the version of its deletion")
}

// watchSelector receives ADDED and DELETED when the labels of an object begin and cease to match.
func watchSelector(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	object := e.createConfigMap("c", map[string]string{"on": "no"})
	watching := steps.Must(client.Watch(e.Ctx, metav1.ListOptions{ResourceVersion: object.ResourceVersion, LabelSelector: "on=yes"}))(e.T)
	defer watching.Stop()
	object.Labels["on"] = "yes"
	object = steps.Must(client.Update(e.Ctx, object, metav1.UpdateOptions{}))(e.T)
	e.expect(watching, watch.Added, "c")
	object.Labels["on"] = "no"
	steps.Must(client.Update(e.Ctx, object, metav1.UpdateOptions{}))(e.T)
	e.expect(watching, watch.Deleted, "c")
}

// watchBookmark reads a whole collection as a stream; a bookmark marks its end.
func watchBookmark(e *env) {
	e.createConfigMap("a", nil)
	e.createConfigMap("b", nil)
	initial := true
	watching := steps.Must(e.clients.CoreV1().ConfigMaps(e.namespace).Watch(e.Ctx, metav1.ListOptions{
		SendInitialEvents: &initial, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}))(e.T)
	defer watching.Stop()
	seen := map[string]bool{e.expect(watching, watch.Added, "").Name: true, e.expect(watching, watch.Added, "").Name: true}
	e.Equal("objects", seen, map[string]bool{"a": true, "b": true})
	mark := e.expect(watching, watch.Bookmark, "")
	e.Equal("annotation", mark.Annotations[metav1.InitialEventsAnnotationKey], "true")
	e.True(mark.ResourceVersion != "", "no resourceVersion")
	e.createConfigMap("c", nil)
	e.expect(watching, watch.Added, "c")
}

// watchRetry resumes a watch after the server has closed it, as it does with every watch.
func watchRetry(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	made := e.createConfigMap("before", nil)
	one := int64(1)
	watching := steps.Must(watchtools.NewRetryWatcherWithContext(e.Ctx, made.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.TimeoutSeconds = &one
			return client.Watch(ctx, options)
		}}))(e.T)
	defer watching.Stop()
	isWatch := func(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }
	for i := range 3 {
		e.Eventually("another watch", func() bool { return e.requests.count(isWatch) > i })
		name := fmt.Sprintf("c%d", i)
		e.createConfigMap(name, nil)
		e.expect(watching, watch.Added, name)
	}
}

// noted contains the events of an informer in the order of their arrival.
type noted struct {
	mutex  sync.Mutex
	events []string
}

func (n *noted) add(kind string, object any) {
	if late, is := object.(cache.DeletedFinalStateUnknown); is {
		object = late.Obj
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.events = append(n.events, kind+" "+object.(metav1.Object).GetName())
}

func (n *noted) has(event string) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, each := range n.events {
		if each == event {
			return true
		}
	}
	return false
}

func (n *noted) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { n.add("add", object) },
		UpdateFunc: func(_, object any) { n.add("update", object) },
		DeleteFunc: func(object any) { n.add("delete", object) },
	}
}

func (e *env) sync(informer cache.SharedIndexInformer) {
	ctx, cancel := context.WithTimeout(e.Ctx, steps.EventSeconds*time.Second)
	defer cancel()
	e.True(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "the cache did not fill")
}

// streamed checks that the informer filled its cache with a watch and did not fall back to a list.
func (e *env) streamed(path string) {
	e.Equal("watch-lists", e.requests.count(func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, path) && r.URL.Query().Get("sendInitialEvents") == "true"
	}), 1)
	e.Equal("plain lists", e.requests.count(func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, path) && r.Method == http.MethodGet && r.URL.Query().Get("watch") == ""
	}), 0)
}

func informer(e *env) {
	client := e.clients.CoreV1().ConfigMaps(e.namespace)
	e.createConfigMap("first", map[string]string{"seen": "yes"})
	factory := informers.NewSharedInformerFactoryWithOptions(e.clients, 0, informers.WithNamespace(e.namespace))
	configMaps := factory.Core().V1().ConfigMaps()
	var events noted
	steps.Must(configMaps.Informer().AddEventHandler(events.handler()))(e.T)
	ctx, stop := context.WithCancel(e.Ctx)
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer stop()
	e.sync(configMaps.Informer())
	e.streamed("/configmaps")

	object := e.createConfigMap("second", nil)
	e.Eventually("add second", func() bool { return events.has("add second") })
	object.Data["key"] = "changed"
	changed := steps.Must(client.Update(e.Ctx, object, metav1.UpdateOptions{}))(e.T)
	e.Eventually("update second", func() bool { return events.has("update second") })
	cached := steps.Must(configMaps.Lister().ConfigMaps(e.namespace).Get("second"))(e.T)
	e.Equal("what the lister has", cached, changed)
	e.Check(client.Delete(e.Ctx, "second", metav1.DeleteOptions{}))
	e.Eventually("delete second", func() bool { return events.has("delete second") })
	e.True(events.has("add first"), "no add first: %v", events.events)
	found := steps.Must(configMaps.Lister().List(labels.SelectorFromSet(labels.Set{"seen": "yes"})))(e.T)
	e.Equal("found by label", len(found), 1)
}
