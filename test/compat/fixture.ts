import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {systemClock} from '../../src/base/clock.js';
import {FakeRuntime, aContainer, aSandbox, anImage, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {BAD_CONFIGS, CONTAINER_CONFIGS, CRICTL_CONFIGS, LOGS, POD_CONFIGS} from './fixture-files.js';

/** Initial state of a recorded command line: a runtime with many kinds of objects, or an empty one. */
export type FixtureName = 'full' | 'empty' | 'old';

/** The constant time of the runtime. */
const NOW_MS = Date.UTC(2026, 4, 1, 12);
const at = (...date: Parameters<typeof Date.UTC>): bigint => BigInt(Date.UTC(...date)) * 1_000_000n;

/** Starts the runtime of a fixture. Its containers have their logs in `directory`. */
export async function startFixture(fixture: FixtureName, directory: string): Promise<FakeRuntime> {
  const runtime = await FakeRuntime.start(fixture === 'empty' ? EMPTY : fullFixture(directory));
  if (fixture !== 'old') return runtime;
  for (const rpc of ['GetContainerEvents', 'RuntimeConfig', 'CheckpointContainer'] as const)
    runtime.injectError(rpc, {code: 'UNIMPLEMENTED', message: `unknown method ${rpc}`});
  return runtime;
}

const BASE = {
  clock: {...systemClock, now: () => NOW_MS},
  runtimeName: 'containerd',
  runtimeVersion: '2.1.9+unknown',
} as const;
const EMPTY: FakeRuntimeOptions = {...BASE, images: [], runtimeHandlers: []};

function fullFixture(directory: string): FakeRuntimeOptions {
  const log = (name: string): string => join(directory, 'logs', name);
  return {
    ...BASE,
    runtimeHandlers: ['runc', 'kata'],
    images: IMAGES,
    registry: [anImage({name: 'localhost:5000/new:1'})],
    sandboxes: Object.values(PODS),
    containers: [
      aContainer({
        sandbox: PODS.web,
        name: 'nginx',
        image: 'localhost:5000/nginx:1.27',
        createdAt: at(2026, 3, 1),
        labels: {app: 'web'},
        annotations: {note: '<b>&"quoted"</b>'},
        logPath: log('nginx/1.log'),
        attempt: 1,
      }),
      aContainer({
        sandbox: PODS.web,
        name: 'sidecar',
        createdAt: at(2026, 2, 1),
        logPath: log('sidecar.json'),
      }),
      aContainer({
        sandbox: PODS.web,
        name: 'init',
        state: 'CONTAINER_EXITED',
        createdAt: at(2026, 1, 1),
        logPath: log('init.log'),
      }),
      aContainer({sandbox: PODS.api, name: 'api', attempt: 2, createdAt: at(2025, 5, 1)}),
      aContainer({
        sandbox: PODS.api,
        name: 'api',
        attempt: 1,
        state: 'CONTAINER_EXITED',
        exitCode: 137,
        reason: 'OOMKilled',
        message: 'killed\nby the kernel',
        createdAt: at(2025, 4, 1),
        logPath: log('bad.log'),
      }),
      aContainer({sandbox: PODS.api, name: 'fresh', state: 'CONTAINER_CREATED', createdAt: at(2025, 6, 1)}),
      aContainer({sandbox: PODS.job, name: 'lost', state: 'CONTAINER_UNKNOWN', createdAt: at(2023, 1, 1)}),
      aContainer({
        sandbox: PODS.job,
        name: 'gone',
        state: 'CONTAINER_EXITED',
        exitCode: 3,
        createdAt: at(2022, 12, 1),
        logPath: log('gone.log'),
      }),
    ],
  };
}

const PODS = {
  web: aSandbox({
    name: 'web',
    attempt: 1,
    createdAt: at(2026, 2, 15),
    labels: {app: 'web', tier: 'front'},
    annotations: {zone: 'a'},
  }),
  api: aSandbox({name: 'api', namespace: 'prod', runtimeHandler: 'kata', createdAt: at(2025, 3, 1)}),
  job: aSandbox({name: 'job', namespace: 'batch', state: 'SANDBOX_NOTREADY', createdAt: at(2022, 11, 1)}),
};

const IMAGES = [
  anImage(),
  anImage({
    name: 'localhost:5000/nginx:1.27',
    repoTags: ['localhost:5000/nginx:1.27', 'localhost:5000/nginx:latest'],
    size: 72_950_123,
    user: '101',
  }),
  anImage({name: 'registry.example/pause:3.10', size: 320_000, pinned: true}),
  anImage({name: 'registry.example/untagged:1', repoTags: [], size: 5_000_000_000, user: 'nobody'}),
  anImage({name: 'registry.example/nameless:1', repoTags: [], repoDigests: [], size: 999}),
];

/** IDs that the command lines refer to as `{NAME}`. */
export const NAMES: Readonly<Record<string, string>> = (() => {
  const {containers = [], images = []} = fullFixture('/');
  const [nginx, sidecar, init, api, api1, fresh, lost, gone] = containers.map(({id}) => id);
  const [busybox, nginxImage, pause, untagged, nameless] = images.map(({id}) => id);
  const named = {nginx, sidecar, init, api, api1, fresh, lost, gone};
  const imageIds = {busybox, nginxImage, pause, untagged, nameless};
  const pods = {web: PODS.web.id, apiPod: PODS.api.id, job: PODS.job.id};
  return Object.fromEntries(
    Object.entries({...named, ...imageIds, ...pods}).map(([name, id]) => [name, id ?? '']),
  );
})();

/** Writes the files that the command lines refer to, and the logs of the containers. */
export async function writeFixtureFiles(directory: string): Promise<void> {
  const folders = {'': {...CONTAINER_CONFIGS, ...POD_CONFIGS, ...CRICTL_CONFIGS, ...BAD_CONFIGS}, logs: LOGS};
  for (const [folder, files] of Object.entries(folders)) {
    for (const [name, text] of Object.entries(files)) {
      const path = join(directory, folder, name);
      await mkdir(join(path, '..'), {recursive: true});
      await writeFile(path, text);
    }
  }
}
