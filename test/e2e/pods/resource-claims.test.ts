import {existsSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {startExample, type ExampleProcess} from '../harness/example-process.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const MANIFEST = fileURLToPath(new URL('../../../examples/dra-driver/pod.yaml', import.meta.url));
/** A directory in which every runtime looks for descriptions of devices. */
const CDI_DIR = '/var/run/cdi';

describe.each(newestRuntime)('devices of a DRA driver without a cluster: $name', (which) => {
  let testbed: PodTestbed;
  let driver: ExampleProcess;
  let manifest: string;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    driver = await startDriver();
    manifest = await readFile(MANIFEST, 'utf8');
  });
  afterAll(async () => {
    for (const name of ['slots-user', 'second']) await testbed.delete(name).catch(() => undefined);
    await driver[Symbol.asyncDispose]();
    await testbed[Symbol.asyncDispose]();
  });

  const startDriver = async (): Promise<ExampleProcess> =>
    await startExample(
      'dra-driver/driver.ts',
      [testbed.runtime.rootDir, CDI_DIR],
      'serving slots.example.com',
    );
  const run = async (pod: string, command: string): Promise<string> => {
    const {containers} = await testbed.pod(pod);
    const running = containers.find(({state}) => state === 'CONTAINER_RUNNING');
    return await testbed.exec(containerId(running?.id ?? ''), 'sh', '-c', command);
  };
  const claims = async (): Promise<readonly string[]> => {
    const directory = join(testbed.runtime.rootDir, 'kcri/resource-claims');
    return existsSync(directory) ? (await readdir(directory)).filter((name) => name.endsWith('.json')) : [];
  };
  const described = async (): Promise<readonly string[]> => {
    const uids = (await claims()).map((name) => name.replace('.json', ''));
    return (await readdir(CDI_DIR)).filter((name) => uids.some((uid) => name.includes(uid)));
  };

  // Proves: PodSpec.resourceClaims, PodResourceClaim.name, PodResourceClaim.resourceClaimTemplateName,
  //   ResourceRequirements.claims, ResourceClaim.name
  test('a container has the devices that its claim was given, until the pod is deleted', async () => {
    expect(await testbed.sync(manifest, ['--timeout', '2m'])).toMatchObject({exitCode: 0});
    expect(await run('slots-user', 'echo $SLOT_ANY $SLOT_FAST; head -c 4 /dev/slot-1 | wc -c')).toBe(
      'slot-0 slot-1\n4',
    );
    expect(await described()).toHaveLength(1);

    const second = manifest.replace('slots-user', 'second');
    const waiting = testbed.startSync(second, ['-o', 'json']);
    await waiting.waitForOutput(
      /request fast needs 1 device of class slots\.example\.com: 3 devices on this node, 2 allocated already, 1 chosen for another request/,
    );
    waiting.kill('SIGINT');
    expect(await waiting.exited).toMatchObject({exitCode: 130});
    await testbed.delete('second');

    const [claim = ''] = await claims();
    await driver[Symbol.asyncDispose]();
    const refused = await testbed.delete('slots-user');
    expect(refused).toMatchObject({exitCode: 1});
    expect(refused.stderr).toContain('DRA driver slots.example.com is not registered');
    expect(await claims()).toEqual([claim]);

    driver = await startDriver();
    expect(await testbed.delete('slots-user')).toMatchObject({exitCode: 0});
    expect(await claims()).toEqual([]);
    expect(driver.output()).toContain('unprepared default/slots-user-slots-');
    expect((await readdir(CDI_DIR)).filter((name) => name.includes(claim.replace('.json', '')))).toEqual([]);
  });
});
