import {existsSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {startExample, type ExampleProcess} from '../harness/example-process.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const MANIFEST = fileURLToPath(new URL('../../../examples/dra-driver/pod.yaml', import.meta.url));
/** A directory in which every runtime looks for descriptions of devices. */
const CDI_DIR = '/var/run/cdi';
const NODE = 'n1';

interface ServedPod {
  readonly metadata: {readonly name: string};
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly {readonly type: string; readonly status: string; readonly message?: string}[];
    readonly resourceClaimStatuses?: readonly {readonly name: string; readonly resourceClaimName?: string}[];
  };
}

describe.each(newestRuntime)('devices of a DRA driver under a kubelet without a cluster: $name', (which) => {
  let testbed: KubeletTestbed;
  let daemon: ServingDaemon;
  let driver: ExampleProcess | undefined;
  let objects: string;
  let pod: string;
  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
    const documents = (await readFile(MANIFEST, 'utf8')).split(/^---$/m);
    pod = documents.at(-1) ?? '';
    objects = documents.slice(0, -1).join('---');
    daemon = await testbed.start();
  });
  afterAll(async () => {
    await driver?.[Symbol.asyncDispose]();
    await testbed[Symbol.asyncDispose]();
  });

  const startDriver = async (): Promise<ExampleProcess> =>
    await startExample(
      'dra-driver/driver.ts',
      [testbed.podTestbed.runtime.rootDir, CDI_DIR],
      'serving slots.example.com',
    );
  const statusOf = async (name: string): Promise<ServedPod['status'] | undefined> => {
    const response = await fetch(`${daemon.urls.readOnly}/pods`);
    const {items} = (await response.json()) as {readonly items: readonly ServedPod[] | null};
    return items?.find(({metadata}) => metadata.name === `${name}-${NODE}`)?.status;
  };
  const running = async (name: string): Promise<string | undefined> => {
    const found = await testbed.podTestbed.find(`${name}-${NODE}`);
    return found?.containers.find(({state}) => state === 'CONTAINER_RUNNING')?.id;
  };
  const slotsOf = async (name: string): Promise<string> => {
    await until(async () => (await running(name)) !== undefined);
    const id = containerId((await running(name)) ?? '');
    return await testbed.podTestbed.exec(id, 'sh', '-c', 'echo $SLOT_ANY $SLOT_FAST');
  };
  const claims = async (): Promise<readonly string[]> => {
    const directory = join(testbed.podTestbed.runtime.rootDir, 'kcri/resource-claims');
    return existsSync(directory) ? (await readdir(directory)).filter((name) => name.endsWith('.json')) : [];
  };
  const why = async (name: string): Promise<string> => {
    const {stdout, stderr} = await testbed.podTestbed.runtime.kcri(['why', `${name}-${NODE}`]);
    return stdout + stderr;
  };

  test('walk', async () => {
    await testbed.put('objects', objects);
    await testbed.put('slots-user', pod);
    await until(async () => (await statusOf('slots-user'))?.phase !== undefined);
    await new Promise((r) => setTimeout(r, 5000));
    console.error('NO DRIVER', JSON.stringify(await statusOf('slots-user')), await why('slots-user'));
    driver = await startDriver();
    console.error('SLOTS', await slotsOf('slots-user'));
    console.error('RUN', JSON.stringify(await statusOf('slots-user')), await claims());
    await testbed.put('second', pod.replace('slots-user', 'second'));
    await until(async () => (await statusOf('second')) !== undefined);
    await new Promise((r) => setTimeout(r, 5000));
    console.error('SECOND', JSON.stringify(await statusOf('second')), await why('second'));
    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    const id = await running('slots-user');
    daemon = await testbed.start();
    await new Promise((r) => setTimeout(r, 8000));
    console.error('AFTER', id, await running('slots-user'), JSON.stringify(await statusOf('slots-user')), JSON.stringify(await statusOf('second')));
    console.error('DESCRIBE', (await testbed.podTestbed.runtime.kcri(['describe', `slots-user-${NODE}`])).stdout);
    // removal while the driver is away
    await driver.kill();
    await testbed.withdraw('slots-user');
    await new Promise((r) => setTimeout(r, 8000));
    console.error('REMOVED w/o driver', JSON.stringify(await statusOf('slots-user')), await running('slots-user'), await claims(), JSON.stringify(await statusOf('second')), (await testbed.podTestbed.runtime.kcri(['get', 'pods'])).stdout);
    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    daemon = await testbed.start();
    await new Promise((r) => setTimeout(r, 8000));
    console.error('RESTARTED', JSON.stringify(await statusOf('slots-user')), await claims(), JSON.stringify(await statusOf('second')), (await testbed.podTestbed.runtime.kcri(['get', 'pods'])).stdout);
    driver = await startDriver();
    console.error('SECOND RUNS', await slotsOf('second'), await claims(), driver.output());
    await new Promise((r) => setTimeout(r, 3000));
    console.error('END', (await testbed.podTestbed.runtime.kcri(['get', 'pods'])).stdout, (await testbed.podTestbed.runtime.kcri(['events'])).stdout);
    await testbed.withdraw('second');
    await testbed.withdraw('objects');
    await until(async () => (await claims()).length === 0);
    console.error('DONE', driver.output(), await readdir(CDI_DIR));
    console.error('LOG', daemon.kcri.output?.());
    expect(1).toBe(1);
  });
}, 180_000);
