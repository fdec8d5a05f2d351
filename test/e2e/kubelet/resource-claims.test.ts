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
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
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
  const claimsOf = async (name: string): Promise<readonly unknown[]> =>
    (await statusOf(name))?.resourceClaimStatuses ?? [];
  const schedulingOf = async (name: string): Promise<string | undefined> =>
    (await statusOf(name))?.conditions?.find(({type}) => type === 'PodScheduled')?.message;
  const events = async (): Promise<string> =>
    (await testbed.podTestbed.runtime.kcri(['get', 'events'])).stdout;
  const restart = async (): Promise<void> => {
    daemon.kcri.kill('SIGKILL');
    await daemon.kcri.exited;
    daemon = await testbed.start();
  };

  test('pods wait for their driver and for devices, keep them across kills of the kubelet, and give them back', async () => {
    await testbed.put('objects', objects);
    await testbed.put('slots-user', pod);
    await until(async () => (await events()).includes('DRA driver slots.example.com is not registered'));
    driver = await startDriver();
    expect(await slotsOf('slots-user')).toBe('slot-0 slot-1');
    await until(async () => (await claimsOf('slots-user')).length === 1);
    await testbed.put('second', pod.replace('slots-user', 'second'));
    await until(async () => (await schedulingOf('second'))?.includes('2 allocated already') === true);

    const id = await running('slots-user');
    await restart();
    await until(async () => (await statusOf('slots-user'))?.phase === 'Running');
    expect(await running('slots-user')).toBe(id);
    expect(await claimsOf('slots-user')).toHaveLength(1);
    expect(await running('second')).toBeUndefined();

    await driver.kill();
    await testbed.withdraw('slots-user');
    await until(async () => (await running('slots-user')) === undefined);
    const [claim = ''] = await claims();
    await restart();
    await until(async () => (await schedulingOf('second'))?.includes('2 allocated already') === true);
    expect(await claims()).toEqual([claim]);
    driver = await startDriver();
    expect(await slotsOf('second')).toBe('slot-0 slot-1');
    expect(driver.output()).toContain('unprepared default/slots-user-n1-slots-');
    expect(await claims()).not.toContain(claim);

    await testbed.withdraw('objects');
    await testbed.withdraw('second');
    await until(async () => (await claims()).length === 0);
    expect(driver.output()).toContain('unprepared default/second-n1-slots-');
    expect((await readdir(CDI_DIR)).filter((name) => name.includes(claim.replace('.json', '')))).toEqual([]);
  });
});
