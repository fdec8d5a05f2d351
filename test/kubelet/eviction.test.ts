import {rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Pod} from '../../src/api/v1.js';
import {judge} from '../../src/kubelet/foreground/judge.js';
import {BUSYBOX} from '../fakes/fake-runtime.js';
import {aLocalPod, aPodGround, type PodGround} from './pod-ground.js';

const signal = new AbortController().signal;
const MESSAGE = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';

function aPodWithLimit(fields: object = {}, emptyDir: object = {sizeLimit: '1024Ki'}): Pod {
  const volumeMounts = [{name: 'data', mountPath: '/data'}];
  const containers = [{name: 'main', image: BUSYBOX, command: ['sleep', '1'], volumeMounts}];
  return aLocalPod({containers, volumes: [{name: 'data', emptyDir}], ...fields});
}

/** The pod runs, and has written so much into its volume. */
async function runAndFill({pods, node}: PodGround, pod: Pod, bytes: number): Promise<void> {
  await pods.syncer(pod).sync(signal);
  const volumes = join(node.rootDir, 'pods', pod.metadata.uid!, 'volumes/kubernetes.io~empty-dir');
  await writeFile(join(volumes, 'data/file'), Buffer.alloc(bytes, 1));
}

test("a pod whose volume takes more than it may is ended in the kubelet's words", async () => {
  const ground = await aPodGround();
  const pod = aPodWithLimit();
  await runAndFill(ground, pod, 2 * 1024 * 1024);

  const syncer = ground.pods.syncer(pod);
  const pass = await syncer.sync(signal);

  expect(pass.status).toMatchObject({phase: 'Failed', reason: 'Evicted', message: MESSAGE});
  expect(ground.events.filter(({type}) => type === 'Warning')).toMatchObject([
    {reason: 'Evicted', message: MESSAGE, pod: {metadata: {uid: pod.metadata.uid}}},
  ]);
  expect(ground.runtime.containers.map(({state}) => state)).toEqual(['CONTAINER_EXITED']);
  expect(judge(pod, pass, {wait: 'ready', retry: false})).toMatchObject({
    kind: 'complete',
    problem: `Evicted: ${MESSAGE.trim()}`,
  });
  // It stays so: nothing starts it again, and it is told once.
  const later = await syncer.sync(signal);
  expect(later.status).toMatchObject({phase: 'Failed', reason: 'Evicted', message: MESSAGE});
  expect(ground.runtime.callsTo('CreateContainer')).toHaveLength(1);
  expect(ground.events.filter(({reason}) => reason === 'Evicted')).toHaveLength(1);
});

test.each<[string, Pod, number]>([
  ['a volume within its limit', aPodWithLimit(), 512 * 1024],
  ['a volume without a limit', aPodWithLimit({}, {}), 2 * 1024 * 1024],
  ['a limit of 0, which is none', aPodWithLimit({}, {sizeLimit: '0'}), 2 * 1024 * 1024],
  ['a critical pod', aPodWithLimit({priority: 2_000_000_000}), 2 * 1024 * 1024],
])('%s lets the pod run on', async (_title, pod, bytes) => {
  const ground = await aPodGround();
  await runAndFill(ground, pod, bytes);
  expect((await ground.pods.syncer(pod).sync(signal)).status).toMatchObject({phase: 'Running'});
  expect(ground.runtime.callsTo('StopContainer')).toEqual([]);
});

test('a volume that can not be measured lets the pod run on', async () => {
  const ground = await aPodGround();
  const pod = aPodWithLimit();
  await ground.pods.syncer(pod).sync(signal);
  const volumes = join(ground.node.rootDir, 'pods', pod.metadata.uid!, 'volumes/kubernetes.io~empty-dir');
  await rm(join(volumes, 'data'), {recursive: true});
  await symlink('/', join(volumes, 'data'));
  expect((await ground.pods.syncer(pod).sync(signal)).status).toMatchObject({phase: 'Running'});
});

test('volumes are measured every ten seconds, not with every pass', async () => {
  let measured = 0;
  const {pods} = await aPodGround({}, (real) =>
    Object.assign(real, {
      exceededVolume: async () => {
        measured++;
      },
    }),
  );
  const syncer = pods.syncer(aPodWithLimit());
  for (let pass = 0; pass < 4; pass++) await syncer.sync(signal);
  expect(measured).toBe(1);
});
