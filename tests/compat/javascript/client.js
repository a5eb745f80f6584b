// SPDX-License-Identifier: Apache-2.0

// Drives an API server with the official JavaScript client. Takes the server from $KUBECONFIG:
// node client.js [STEP...]

import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';

const eventSeconds = 20;
const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

const options = (type) => k8s.setHeaderOptions('Content-Type', type);

const configMap = (name, labels) => ({ metadata: { name, labels }, data: { key: 'value' } });

const podSpec = () => ({
  containers: [{ name: 'main', image: 'registry.example.com/app:1', ports: [{ containerPort: 80 }] }],
});

const deployment = (name) => ({
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: podSpec() },
  },
});

// The body of the refusal. Fails unless the server refuses with that code and reason.
async function refused(code, reason, promise) {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof k8s.ApiException)) throw error;
    const body = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    assert.deepEqual([error.code, body.reason], [code, reason]);
    return body;
  }
  throw new assert.AssertionError({ message: `not refused, want ${reason}` });
}

// A list that grows, and can be waited for.
class Events {
  seen = [];
  waiting = [];
  add(event) {
    this.seen.push(event);
    for (const check of this.waiting) check();
  }
  async reach(count) {
    if (this.seen.length >= count) return;
    let timer;
    await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${count} events not within ${eventSeconds} s: ${this.seen}`)), eventSeconds * 1000);
      this.waiting.push(() => this.seen.length >= count && resolve());
    });
    clearTimeout(timer);
  }
}

const steps = {
  async version() {
    assert.equal((await config.makeApiClient(k8s.VersionApi).getCode()).minor, '36');
  },

  async crud_config_map(namespace) {
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap('c') });
    assert.ok(made.metadata.uid && made.metadata.creationTimestamp instanceof Date);
    assert.deepEqual(await core.readNamespacedConfigMap({ name: 'c', namespace }), made);
    made.data.more = 'text';
    const changed = await core.replaceNamespacedConfigMap({ name: 'c', namespace, body: made });
    assert.deepEqual(changed.data, { key: 'value', more: 'text' });
    await refused(409, 'Conflict', core.replaceNamespacedConfigMap({ name: 'c', namespace, body: made }));
    assert.equal((await core.listNamespacedConfigMap({ namespace })).items.length, 1);
    assert.equal((await core.deleteNamespacedConfigMap({ name: 'c', namespace })).status, 'Success');
    await refused(404, 'NotFound', core.readNamespacedConfigMap({ name: 'c', namespace }));
  },

  async crud_deployment(namespace) {
    const made = await apps.createNamespacedDeployment({ namespace, body: deployment('d') });
    assert.equal(made.spec.strategy.rollingUpdate.maxSurge, '25%');
    made.spec.replicas = 3;
    assert.equal((await apps.replaceNamespacedDeployment({ name: 'd', namespace, body: made })).metadata.generation, 2);
    const scale = await apps.readNamespacedDeploymentScale({ name: 'd', namespace });
    scale.spec.replicas = 5;
    assert.equal((await apps.replaceNamespacedDeploymentScale({ name: 'd', namespace, body: scale })).spec.replicas, 5);
    await apps.deleteNamespacedDeployment({ name: 'd', namespace, propagationPolicy: 'Foreground' });
    const held = await apps.readNamespacedDeployment({ name: 'd', namespace });
    assert.deepEqual(held.metadata.finalizers, ['foregroundDeletion']);
  },

  async crud_pod(namespace) {
    await core.createNamespacedPod({ namespace, body: { metadata: { name: 'p' }, spec: podSpec() } });
    const pods = await core.listNamespacedPod({ namespace, fieldSelector: 'status.phase=Pending' });
    assert.equal(pods.items[0].status.qosClass, 'BestEffort');
    await core.createNamespacedPodEviction({ name: 'p', namespace, body: { metadata: { name: 'p', namespace } } });
    await refused(404, 'NotFound', core.readNamespacedPod({ name: 'p', namespace }));
  },

  async errors(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: configMap('c') });
    const exists = await refused(409, 'AlreadyExists', core.createNamespacedConfigMap({ namespace, body: configMap('c') }));
    assert.equal(exists.message, 'configmaps "c" already exists');
    const pod = { metadata: { name: 'p' }, spec: podSpec() };
    pod.spec.containers[0].image = '';
    const invalid = await refused(422, 'Invalid', core.createNamespacedPod({ namespace, body: pod }));
    assert.equal(invalid.details.causes[0].field, 'spec.containers[0].image');
  },

  async dry_run(namespace) {
    const made = await apps.createNamespacedDeployment({ namespace, body: deployment('d'), dryRun: 'All' });
    assert.ok(made.metadata.uid);
    await refused(404, 'NotFound', apps.readNamespacedDeployment({ name: 'd', namespace }));
  },

  async json_patch(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: configMap('c') });
    const body = [{ op: 'test', path: '/data/key', value: 'value' }, { op: 'replace', path: '/data/key', value: 'new' }];
    const got = await core.patchNamespacedConfigMap({ name: 'c', namespace, body }, options(k8s.PatchStrategy.JsonPatch));
    assert.deepEqual(got.data, { key: 'new' });
  },

  async merge_patch(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: configMap('c') });
    const body = { data: { key: null, other: 'o' } };
    const got = await core.patchNamespacedConfigMap({ name: 'c', namespace, body }, options(k8s.PatchStrategy.MergePatch));
    assert.deepEqual(got.data, { other: 'o' });
  },

  async strategic_merge_patch(namespace) {
    await apps.createNamespacedDeployment({ namespace, body: deployment('d') });
    const body = { spec: { template: { spec: { containers: [{ name: 'side', image: 'registry.example.com/side:1' }] } } } };
    const got = await apps.patchNamespacedDeployment({ name: 'd', namespace, body }, options(k8s.PatchStrategy.StrategicMergePatch));
    assert.deepEqual(got.spec.template.spec.containers.map((each) => each.name).sort(), ['main', 'side']);
  },

  async apply(namespace) {
    const apply = (fieldManager, value, force) => core.patchNamespacedConfigMap(
      { name: 'c', namespace, fieldManager, force, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: value } } },
      options(k8s.PatchStrategy.ServerSideApply));
    const made = await apply('first', '1');
    assert.deepEqual(made.metadata.managedFields.map((each) => [each.manager, each.operation]), [['first', 'Apply']]);
    const conflict = await refused(409, 'Conflict', apply('second', '2'));
    assert.equal(conflict.details.causes[0].field, '.data.a');
    assert.deepEqual((await apply('second', '2', true)).data, { a: '2' });
  },

  async object_api(namespace) {
    const api = k8s.KubernetesObjectApi.makeApiClient(config);
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment('d') };
    object.metadata.namespace = namespace;
    await api.create(object);
    const applied = await api.patch(
      { ...object, spec: { ...object.spec, replicas: 6 } }, undefined, undefined, 'objects', true, k8s.PatchStrategy.ServerSideApply);
    assert.equal(applied.spec.replicas, 6);
    assert.equal((await api.list('apps/v1', 'Deployment', namespace)).items.length, 1);
    await api.delete(object);
    await refused(404, 'NotFound', api.read(object));
  },

  async pages(namespace) {
    for (let i = 0; i < 7; i++) await core.createNamespacedConfigMap({ namespace, body: configMap(`c${i}`) });
    const sizes = [];
    let _continue;
    do {
      const page = await core.listNamespacedConfigMap({ namespace, limit: 3, _continue });
      sizes.push(page.items.length);
      _continue = page.metadata._continue;
    } while (_continue);
    assert.deepEqual(sizes, [3, 3, 1]);
  },

  async delete_collection(namespace) {
    for (let i = 0; i < 4; i++) await core.createNamespacedConfigMap({ namespace, body: configMap(`c${i}`, { parity: `${i % 2}` }) });
    await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'parity=1' });
    const left = await core.listNamespacedConfigMap({ namespace });
    assert.deepEqual(left.items.map((each) => each.metadata.name), ['c0', 'c2']);
  },

  async watch(namespace) {
    const start = (await core.listNamespacedConfigMap({ namespace })).metadata.resourceVersion;
    const events = new Events();
    const ended = new Events();
    const request = await new k8s.Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`, { resourceVersion: start, allowWatchBookmarks: true },
      (type, object) => events.add(`${type} ${object.metadata.name}`), (error) => ended.add(error));
    await core.createNamespacedConfigMap({ namespace, body: configMap('c') });
    await core.patchNamespacedConfigMap({ name: 'c', namespace, body: { data: { key: 'new' } } }, options(k8s.PatchStrategy.MergePatch));
    await core.deleteNamespacedConfigMap({ name: 'c', namespace });
    await events.reach(3);
    request.abort();
    await ended.reach(1);
    assert.deepEqual(events.seen, ['ADDED c', 'MODIFIED c', 'DELETED c']);
  },

  async informer(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: configMap('first') });
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
    const events = new Events();
    for (const verb of ['add', 'update', 'delete']) informer.on(verb, (object) => events.add(`${verb} ${object.metadata.name}`));
    informer.on('error', (error) => events.add(`error ${error}`));
    await informer.start();
    try {
      await core.createNamespacedConfigMap({ namespace, body: configMap('second') });
      await events.reach(2);
      await core.patchNamespacedConfigMap({ name: 'second', namespace, body: { data: { key: 'new' } } }, options(k8s.PatchStrategy.MergePatch));
      await events.reach(3);
      assert.equal(informer.get('second', namespace).data.key, 'new');
      await core.deleteNamespacedConfigMap({ name: 'second', namespace });
      await events.reach(4);
      assert.deepEqual(events.seen, ['add first', 'add second', 'update second', 'delete second']);
      assert.equal(informer.list().length, 1);
    } finally {
      await informer.stop();
    }
  },
};

async function main() {
  const chosen = Object.keys(steps).filter((name) => process.argv.length < 3 || process.argv.slice(2).includes(name));
  let code = 0;
  for (const name of chosen) {
    const namespace = `javascript-${name.replaceAll('_', '-')}`;
    try {
      await core.createNamespace({ body: { metadata: { name: namespace } } });
      await steps[name](namespace);
      console.log(`ok ${name}`);
    } catch (error) {
      code = 1;
      console.log(`FAIL ${name}: ${(error.stack ?? String(error)).split('\n').slice(0, 12).join(' | ')}`);
    }
  }
  console.log(`steps: ${chosen.length}`);
  process.exit(code);
}

await main();
