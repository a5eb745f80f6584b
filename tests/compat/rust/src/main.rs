// SPDX-License-Identifier: Apache-2.0

//! Drives an API server with kube-rs. Takes the server from $KUBECONFIG: coxswain-compat [STEP...]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use futures::{FutureExt, StreamExt, TryStreamExt, future::LocalBoxFuture, pin_mut};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{
    Api, DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy, WatchEvent,
    WatchParams,
};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error>>;

const EVENT_TIME: Duration = Duration::from_secs(20);

/// Fails the step unless both are equal.
macro_rules! equal {
    ($what:expr, $got:expr, $want:expr) => {
        let (got, want) = (&$got, &$want);
        if got != want {
            return Err(format!("{} is {got:?}, want {want:?}", $what).into());
        }
    };
}

/// Clients of one step, bound to the namespace that it has for itself.
struct Env {
    client: Client,
    namespace: String,
    config_maps: Api<ConfigMap>,
    deployments: Api<Deployment>,
    pods: Api<Pod>,
}

fn object<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the literal fits its type")
}

fn config_map(name: &str, label: &str) -> ConfigMap {
    object(json!({"metadata": {"name": name, "labels": {"l": label}}, "data": {"key": "value"}}))
}

fn pod_spec() -> Value {
    json!({"containers": [{"name": "main", "image": "registry.example.com/app:1"}]})
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec()}}})
}

fn data(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
}

/// Ok if the server refuses with that code and reason.
fn refused<T>(code: u16, reason: &str, result: kube::Result<T>) -> Outcome {
    match result {
        Err(kube::Error::Api(status)) => {
            equal!("refusal", (status.code, status.reason.as_str()), (code, reason));
            Ok(())
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err(format!("not refused, want {reason}").into()),
    }
}

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    tokio::time::timeout(EVENT_TIME, future).await.map_err(|_| format!("{what}: not within {EVENT_TIME:?}").into())
}

async fn crud_config_map(e: Env) -> Outcome {
    let mut made = e.config_maps.create(&PostParams::default(), &config_map("c", "v")).await?;
    equal!("what get gives", e.config_maps.get("c").await?, made);
    equal!("absent", e.config_maps.get_opt("absent").await?, None);
    made.data = data(&[("key", "new")]);
    let changed = e.config_maps.replace("c", &PostParams::default(), &made).await?;
    equal!("data", changed.data, data(&[("key", "new")]));
    refused(409, "Conflict", e.config_maps.replace("c", &PostParams::default(), &made).await)?;
    refused(409, "AlreadyExists", e.config_maps.create(&PostParams::default(), &config_map("c", "v")).await)?;
    equal!("deleted", e.config_maps.delete("c", &DeleteParams::default()).await?.is_right(), true);
    refused(404, "NotFound", e.config_maps.get("c").await)
}

async fn crud_deployment(e: Env) -> Outcome {
    let dry = PostParams { dry_run: true, ..Default::default() };
    e.deployments.create(&dry, &object(deployment("d"))).await?;
    equal!("after a dry run", e.deployments.get_opt("d").await?, None);
    let made = e.deployments.create(&PostParams::default(), &object(deployment("d"))).await?;
    equal!("generation", made.metadata.generation, Some(1));
    let patch = Patch::Merge(json!({"spec": {"replicas": 5}}));
    e.deployments.patch_scale("d", &PatchParams::default(), &patch).await?;
    equal!("scale", e.deployments.get_scale("d").await?.spec.and_then(|spec| spec.replicas), Some(5));
    let status = Patch::Merge(json!({"status": {"replicas": 4}}));
    let got = e.deployments.patch_status("d", &PatchParams::default(), &status).await?;
    equal!("status", got.status.and_then(|status| status.replicas), Some(4));
    let foreground = DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..Default::default() };
    equal!("deleted at once", e.deployments.delete("d", &foreground).await?.is_right(), false);
    equal!("finalizers", e.deployments.get("d").await?.finalizers(), ["foregroundDeletion"]);
    Ok(())
}

async fn crud_pod(e: Env) -> Outcome {
    let pod: Pod = object(json!({"metadata": {"name": "p"}, "spec": pod_spec()}));
    e.pods.create(&PostParams::default(), &pod).await?;
    let pending = e.pods.list(&ListParams::default().fields("status.phase=Pending")).await?;
    equal!("pending", pending.items.len(), 1);
    e.pods.evict("p", &EvictParams::default()).await?;
    equal!("after the eviction", e.pods.get_opt("p").await?, None);
    Ok(())
}

async fn patches(e: Env) -> Outcome {
    e.deployments.create(&PostParams::default(), &object(deployment("d"))).await?;
    let side = json!({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "registry.example.com/side:1"}]}}}});
    let got = e.deployments.patch("d", &PatchParams::default(), &Patch::Strategic(side)).await?;
    let names = |d: &Deployment| -> Vec<String> {
        let pod = d.spec.as_ref().and_then(|spec| spec.template.spec.clone());
        let mut names: Vec<String> = pod.unwrap_or_default().containers.into_iter().map(|each| each.name).collect();
        names.sort();
        names
    };
    equal!("containers", names(&got), ["main", "side"]);
    let merge = json!({"metadata": {"labels": {"l": "v"}}});
    let got = e.deployments.patch("d", &PatchParams::default(), &Patch::Merge(merge)).await?;
    equal!("label", got.labels().get("l").map(String::as_str), Some("v"));
    e.config_maps.create(&PostParams::default(), &config_map("c", "v")).await?;
    let operations: json_patch::Patch = serde_json::from_value(json!([{"op": "replace", "path": "/data/key", "value": "new"}]))?;
    let got = e.config_maps.patch("c", &PatchParams::default(), &Patch::Json::<()>(operations)).await?;
    equal!("data", got.data, data(&[("key", "new")]));
    Ok(())
}

async fn apply(e: Env) -> Outcome {
    let configuration = |value: &str| {
        Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": value}}))
    };
    let made = e.config_maps.patch("c", &PatchParams::apply("one"), &configuration("1")).await?;
    equal!("managers", made.managed_fields().len(), 1);
    refused(409, "Conflict", e.config_maps.patch("c", &PatchParams::apply("two"), &configuration("2")).await)?;
    let got = e.config_maps.patch("c", &PatchParams::apply("two").force(), &configuration("2")).await?;
    equal!("data", got.data, data(&[("a", "2")]));
    Ok(())
}

async fn pages(e: Env) -> Outcome {
    for i in 0..7 {
        e.config_maps.create(&PostParams::default(), &config_map(&format!("c{i}"), "v")).await?;
    }
    let (mut sizes, mut params) = (Vec::new(), ListParams::default().limit(3));
    loop {
        let page = e.config_maps.list(&params).await?;
        sizes.push(page.items.len());
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
    }
    equal!("pages", sizes, [3, 3, 1]);
    Ok(())
}

async fn metadata(e: Env) -> Outcome {
    e.deployments.create(&PostParams::default(), &object(deployment("d"))).await?;
    equal!("name", e.deployments.get_metadata("d").await?.name_any(), "d");
    equal!("items", e.deployments.list_metadata(&ListParams::default()).await?.items.len(), 1);
    Ok(())
}

async fn dynamic(e: Env) -> Outcome {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let api: Api<DynamicObject> = Api::namespaced_with(e.client.clone(), &e.namespace, &resource);
    let made = DynamicObject::new("c", &resource).data(json!({"data": {"a": "1"}}));
    api.create(&PostParams::default(), &made).await?;
    equal!("data", api.get("c").await?.data["data"]["a"], "1");
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    equal!("left", api.list(&ListParams::default()).await?.items.len(), 0);
    Ok(())
}

async fn watch(e: Env) -> Outcome {
    let start = e.config_maps.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    let events = e.config_maps.watch(&WatchParams::default().timeout(20), &start).await?;
    pin_mut!(events);
    e.config_maps.create(&PostParams::default(), &config_map("c", "v")).await?;
    e.config_maps.delete("c", &DeleteParams::default()).await?;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match soon("an event", events.try_next()).await?? {
            Some(WatchEvent::Added(object)) => seen.push(format!("added {}", object.name_any())),
            Some(WatchEvent::Deleted(object)) => seen.push(format!("deleted {}", object.name_any())),
            Some(WatchEvent::Bookmark(_)) => {}
            other => return Err(format!("unexpected: {other:?}").into()),
        }
    }
    equal!("events", seen, ["added c", "deleted c"]);
    Ok(())
}

/// Follows a reflector as it fills its store and keeps it; once by list and watch, once by a streamed list.
async fn follow(e: Env, config: watcher::Config) -> Outcome {
    e.config_maps.create(&PostParams::default(), &config_map("first", "yes")).await?;
    e.config_maps.create(&PostParams::default(), &config_map("other", "no")).await?;
    let (reader, writer) = reflector::store();
    let stream = watcher(e.config_maps.clone(), config.labels("l=yes")).default_backoff().reflect(writer).applied_objects();
    pin_mut!(stream);
    let name = |object: Option<ConfigMap>| object.map(|object| object.name_any());
    equal!("first", name(soon("first", stream.try_next()).await??), Some("first".to_string()));
    e.config_maps.create(&PostParams::default(), &config_map("second", "yes")).await?;
    equal!("second", name(soon("second", stream.try_next()).await??), Some("second".to_string()));
    soon("the store is ready", reader.wait_until_ready()).await??;
    equal!("stored", reader.len(), 2);
    e.config_maps.delete("first", &DeleteParams::default()).await?;
    // A deletion is no applied object: the next one shows that the store has seen both.
    e.config_maps.create(&PostParams::default(), &config_map("third", "yes")).await?;
    equal!("third", name(soon("third", stream.try_next()).await??), Some("third".to_string()));
    let mut names: Vec<String> = reader.state().iter().map(|each| each.name_any()).collect();
    names.sort();
    equal!("stored", names, ["second", "third"]);
    Ok(())
}

async fn reflector_listed(e: Env) -> Outcome {
    follow(e, watcher::Config::default()).await
}

async fn reflector_streamed(e: Env) -> Outcome {
    follow(e, watcher::Config::default().streaming_lists()).await
}

type Step = (&'static str, fn(Env) -> LocalBoxFuture<'static, Outcome>);

const STEPS: &[Step] = &[
    ("crud_config_map", |e| crud_config_map(e).boxed_local()),
    ("crud_deployment", |e| crud_deployment(e).boxed_local()),
    ("crud_pod", |e| crud_pod(e).boxed_local()),
    ("patches", |e| patches(e).boxed_local()),
    ("apply", |e| apply(e).boxed_local()),
    ("pages", |e| pages(e).boxed_local()),
    ("metadata", |e| metadata(e).boxed_local()),
    ("dynamic", |e| dynamic(e).boxed_local()),
    ("watch", |e| watch(e).boxed_local()),
    ("reflector_listed", |e| reflector_listed(e).boxed_local()),
    ("reflector_streamed", |e| reflector_streamed(e).boxed_local()),
];

async fn run_one(client: &Client, step: &Step) -> Outcome {
    let namespace = format!("rust-{}", step.0.replace('_', "-"));
    let made: Namespace = object(json!({"metadata": {"name": namespace}}));
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &made).await?;
    step.1(Env {
        config_maps: Api::namespaced(client.clone(), &namespace),
        deployments: Api::namespaced(client.clone(), &namespace),
        pods: Api::namespaced(client.clone(), &namespace),
        client: client.clone(),
        namespace,
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::try_default().await?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let (mut count, mut code) = (0, 0);
    for step in STEPS.iter().filter(|step| wanted.is_empty() || wanted.iter().any(|name| name == step.0)) {
        count += 1;
        match run_one(&client, step).await {
            Ok(()) => println!("ok {}", step.0),
            Err(why) => {
                code = 1;
                println!("FAIL {}: {}", step.0, why.to_string().replace('\n', " | "));
            }
        }
    }
    println!("steps: {count}");
    std::process::exit(code)
}
