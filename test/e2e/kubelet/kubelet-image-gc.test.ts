import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createCtrClient} from '../../../src/private-runtime/containerd/ctr-client.js';
import {until} from '../../base/until.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {startImageRegistry, type ImageRegistry} from '../harness/image-registry.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {mountSmallDisk, type SmallDisk} from '../harness/small-disk.js';

const NODE = 'gc-node';
/** Size of each of the four pod images in addition to busybox: 8 MiB in total, stored compressed and unpacked. */
const OWN_BYTES = 6 * 1024 * 1024;
/** A zero would be the default of two minutes. */
const ANY_AGE = '1ms';
const COLLECTED = '"Image garbage collection (?:succeeded|failed)';
/** Size of the disk; one image takes 6 % of it. */
const DISK_MIB = 128;

const manifest = (name: string, image: string): string =>
  aManifest(name, {
    hostNetwork: true,
    terminationGracePeriodSeconds: 0,
    containers: [aContainer('main', {image, command: ['sleep', '3600']})],
  });

describe.each(newestRuntime)('image garbage collection on a nearly full disk: $name', (which) => {
  let disk: SmallDisk;
  let registry: ImageRegistry;
  let kubelet: KubeletTestbed;
  let daemon: ServingDaemon;
  let configuration: string;
  let reloads = 0;
  /** True if the runtime reports pinned images, which older versions of containerd do not. */
  let pins: boolean;

  const configFile = (): string => join(kubelet.podTestbed.runtime.rootDir, 'kubelet.yaml');
  /** Makes the daemon reload these fields and collect images. */
  const collect = async (fields: Readonly<Record<string, number | string>>): Promise<void> => {
    const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
    await writeFile(configFile(), configuration + lines.join(''));
    daemon.kcri.kill('SIGHUP');
    reloads += 1;
    // The periodic collections do not count.
    await daemon.kcri.waitForOutput(new RegExp(`^(?:[^]*?"Received SIGHUP){${reloads}}[^]*?${COLLECTED}`));
  };
  const images = async () => (await kubelet.podTestbed.runtime.connection.images.listImages()).images;
  /** Returns the repositories of all images, without their registry. */
  const left = async (): Promise<readonly string[]> =>
    (await images()).map(({repoTags}) => /([^/]+):[^:]*$/.exec(repoTags[0] ?? '')?.[1] ?? '').toSorted();
  const runs = async (pod: string, image: string): Promise<void> => {
    await kubelet.put(pod, manifest(pod, image));
    await until(async () => {
      const found = await kubelet.podTestbed.find(`${pod}-${NODE}`);
      return found?.containers[0]?.state === 'CONTAINER_RUNNING';
    });
  };

  beforeAll(async () => {
    disk = await mountSmallDisk(DISK_MIB);
    registry = await startImageRegistry();
    kubelet = await startKubeletTestbed(which, NODE, disk.path);
    daemon = await kubelet.start('', ['--v=4']);
    configuration = await readFile(configFile(), 'utf8');
    await daemon.kcri.waitForOutput(new RegExp(COLLECTED));
    pins = (await images()).some(({pinned}) => pinned);
  });
  afterAll(async () => {
    try {
      await kubelet[Symbol.asyncDispose]();
    } finally {
      await registry[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    }
  });

  test('removes images in the order of their use, no more than necessary, and no used or pinned ones', async () => {
    const own = ['first', 'second', 'used', ...(pins ? ['pinned'] : [])];
    const others = ['busybox', 'pause'];
    for (const name of own) await runs(`gc-${name}`, await registry.pushUnique(name, '1', OWN_BYTES));
    if (pins) {
      await kubelet.remove('gc-pinned');
      const {endpoint} = kubelet.podTestbed.runtime;
      const client = createCtrClient(
        join(which.folder ?? '', 'ctr'),
        endpoint.replace('unix://', ''),
        'overlayfs',
      );
      const label = 'io.cri-containerd.pinned=pinned';
      await client.labelImage(`${registry.host}/pinned:1`, label, AbortSignal.timeout(300_000));
      await until(async () => (await images()).filter(({pinned}) => pinned).length === 2);
    }
    await collect({});
    await kubelet.remove('gc-first');
    await collect({});
    await kubelet.remove('gc-second');
    expect(await left()).toEqual([...own, ...others].toSorted());

    const full = await disk.usedPercent();
    const thresholds = {imageGCHighThresholdPercent: full, imageGCLowThresholdPercent: full - 4};
    await collect({...thresholds, imageMinimumGCAge: '1h'});
    expect(await left()).toContain('first');
    await collect({...thresholds, imageMinimumGCAge: ANY_AGE});
    // The imported busybox was never used.
    expect(await left()).toEqual([...own, 'pause'].filter((name) => name !== 'first').toSorted());
    expect(await disk.usedPercent()).toBeLessThan(full - 4);
  });

  test('reports a node event if it cannot free enough space', async () => {
    const words = (freed: string): string =>
      "Insufficient free disk space on the node's image filesystem \\(\\d+% of 128\\.0 MiB used\\)\\. Failed to free " +
      `sufficient space by deleting unused images \\(freed ${freed} bytes\\)\\. Investigate disk usage, as it could ` +
      'be used by active images, logs, volumes, or other data\\.';
    const event = (reason: string, message: string): string =>
      `"Event occurred" object="${NODE}" fieldPath="" kind="Node" apiVersion="v1" type="Warning" reason="${reason}" ` +
      `message="${message}"`;
    const failed = (how: string, message: string): string =>
      `"Image garbage collection failed ${how}" err="${message}"`;
    const says = async (...texts: readonly string[]): Promise<void> => {
      for (const text of texts) await daemon.kcri.waitForOutput(new RegExp(text));
    };
    const thresholds = {imageGCHighThresholdPercent: 10, imageGCLowThresholdPercent: 5};

    await collect({...thresholds, imageMinimumGCAge: ANY_AGE});
    expect(await left()).toEqual(['pause', ...(pins ? ['pinned'] : []), 'used']);
    const some = words('[1-9]\\d*');
    await says(event('FreeDiskSpaceFailed', some), failed('once\\..*', some));
    await collect({...thresholds, imageMinimumGCAge: ANY_AGE});
    const none = words('0');
    await says(failed('multiple times in a row', none), event('ImageGCFailed', none));
    const {containers} = await kubelet.podTestbed.pod(`gc-used-${NODE}`);
    expect(containers[0]?.state).toBe('CONTAINER_RUNNING');
  });

  test('removes images unused for longer than imageMaximumGCAge, regardless of disk usage', async () => {
    await kubelet.remove('gc-used');
    const off = {imageGCHighThresholdPercent: 100, imageMinimumGCAge: ANY_AGE};
    await collect({...off, imageMaximumGCAge: '1h'});
    expect(await left()).toContain('used');
    await until(async () => {
      await collect({...off, imageMaximumGCAge: '100ms'});
      return !(await left()).includes('used');
    });
    expect(await left()).toEqual(['pause', ...(pins ? ['pinned'] : [])]);
  });
});
