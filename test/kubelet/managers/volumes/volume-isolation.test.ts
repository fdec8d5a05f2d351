import {expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import type {MountedVolume} from '../../../../src/kubelet/contract/pod-filesystem.js';
import type {
  ControllerAttachments,
  CsiVolumes,
} from '../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {mountVolumes} from '../../../../src/kubelet/managers/volumes/volume-manager.js';
import type {VolumeHost} from '../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {VolumeOperations} from '../../../../src/kubelet/managers/volumes/volume-operations.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {aClaimPod, aNode} from './claim-fixtures.js';
import {aHost, aPodWith} from './volume-fixtures.js';

const {signal} = new AbortController();
const inline = (name: string) => ({name, csi: {driver: `${name}.example.com`}});

/** Outcome of a call of a driver. */
type Mount = (signal: AbortSignal) => Promise<void>;

/** Hangs until the signal aborts. */
const hang: Mount = async (during) =>
  new Promise((_, reject) => {
    during.addEventListener('abort', () => {
      reject(during.reason as Error);
    });
  });

const fail: Mount = () => Promise.reject(new SystemError('broken'));

/** Creates a host whose drivers behave as in `mounts`, by the name of the volume. */
async function aCsiHost(mounts: Readonly<Record<string, Mount>>, isRepublished = false) {
  const clock = new FakeClock();
  const calls: string[] = [];
  const events: string[] = [];
  const csi: Pick<CsiVolumes, 'mount' | 'isRepublished' | 'isAttaching' | 'exceedsLimit' | 'hasMountLabel'> =
    {
      mount: async ({name}, during) => {
        calls.push(name);
        await mounts[name]?.(during);
      },
      isRepublished: () => isRepublished,
      exceedsLimit: async () => false,
      hasMountLabel: () => false,
      isAttaching: (_uid, name) => name === 'attaching',
    };
  const host = {
    ...aHost(await aNode()),
    ...{clock, csi: csi as CsiVolumes},
    events: ({message}: {readonly message: string}) => {
      events.push(message);
    },
  };
  return {clock, calls, events, host};
}

test('a driver that hangs delays neither the other volumes of its pod nor their next attempts', async () => {
  let attempts = 0;
  const flaky: Mount = async (during) => {
    if (attempts++ < 3) await fail(during);
  };
  const {clock, calls, events, host} = await aCsiHost({stuck: hang, flaky});
  const mounted = new Map<string, MountedVolume>();
  const pod = aPodWith([inline('stuck'), inline('flaky'), {name: 'e', emptyDir: {}}]);
  const sync = mountVolumes(pod, host, signal, mounted).catch((error: unknown) => error);
  await until(() => mounted.has('e') && events.length === 1);
  for (const [delayMs, tries] of [
    [500, 2],
    [1000, 3],
    [2000, 4],
  ] as const) {
    await clock.advance(delayMs - 1);
    expect(attempts).toBe(tries - 1);
    await clock.advance(1);
    await until(() => attempts === tries && (tries === 4 || events.length === tries));
  }
  await until(() => mounted.has('flaky'));
  expect(calls.filter((name) => name === 'stuck')).toHaveLength(1);
  expect(new Set(events)).toEqual(new Set(['MountVolume.SetUp failed for volume "flaky" : broken']));
  await clock.advance(123_000);
  expect(await sync).toMatchObject({
    message:
      'Unable to attach or mount volumes: unmounted volumes=[stuck], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
    retryAt: undefined,
  });
  expect(events).toHaveLength(4);
});

test('a volume that is not attached in time is named as such, and its operation continues in the next sync', async () => {
  let attach = (): void => undefined;
  const attaching: Mount = async () =>
    new Promise((resolve) => {
      attach = resolve;
    });
  const {clock, calls, host} = await aCsiHost({attaching});
  const operations = new VolumeOperations(clock);
  const mounted = new Map<string, MountedVolume>();
  const pod = aPodWith([inline('attaching')]);
  const sync = mountVolumes(pod, {...host, operations}, signal, mounted);
  sync.catch(() => undefined); // seen below
  await until(() => calls.length === 1);
  await clock.advance(123_000);
  await expect(sync).rejects.toThrow(
    'unmounted volumes=[attaching], unattached volumes=[attaching], failed to process volumes=[]: context deadline exceeded',
  );
  const next = mountVolumes(pod, {...host, operations}, signal, mounted);
  attach();
  expect([...(await next).volumes.keys()]).toEqual(['attaching']);
  expect(calls).toEqual(['attaching']);
});

test.each([
  ['of a CSI driver', inline('attaching'), 'kubectl get volumeattachments'],
  [
    'of another plugin, for which there is no VolumeAttachment,',
    {name: 'attaching', fc: {targetWWNs: ['50a0'], lun: 1}},
    'look into the log of kube-controller-manager, which lists the volumes that it has attached in "kubectl get node ',
  ],
])('the hint about a volume %s that is not attached names what shows why', async (_kind, volume, hint) => {
  let isWaiting = false;
  const wait: Mount = async (during) => {
    isWaiting = true;
    await hang(during);
  };
  const {clock, host} = await aCsiHost({attaching: wait});
  const attachments: ControllerAttachments = {
    use: () => undefined,
    untilAttached: async (_name, _pod, during) => (await wait(during), ''),
    release: async () => undefined,
  };
  const csi: CsiVolumes = {...host.csi, attachesVolumes: true, attachments};
  const operations = new VolumeOperations(clock);
  const sync = mountVolumes(aPodWith([volume]), {...host, csi, operations}, signal);
  const failed = sync.catch((error: unknown) => error);
  await until(() => isWaiting);
  await clock.advance(123_000);
  expect(await failed).toMatchObject({hint: expect.stringContaining(hint) as string});
});

test('a sync before its time does not call the driver of a failed volume again', async () => {
  const {clock, calls, events, host} = await aCsiHost({v: fail});
  const operations = new VolumeOperations(clock);
  const sync = async (): Promise<unknown> =>
    mountVolumes(aPodWith([inline('v')]), {...host, operations}, signal).catch((error: unknown) => error);
  expect(await sync()).toMatchObject({retryAt: 500});
  expect(await sync()).toMatchObject({message: events[0], retryAt: 500});
  expect([calls.length, events.length]).toEqual([1, 1]);
  await clock.advance(500);
  expect(await sync()).toMatchObject({retryAt: 1500});
  expect([calls.length, events.length]).toEqual([2, 2]);
});

test('a driver that hangs when a volume is published again holds up the pod for two seconds, once', async () => {
  const {clock, calls, host} = await aCsiHost({v: hang}, true);
  const operations = new VolumeOperations(clock);
  const mounted = new Map([['v', {hostPath: '/v', readOnly: false}]]);
  const sync = mountVolumes(aPodWith([inline('v')]), {...host, operations}, signal, mounted);
  await until(() => calls.length === 1);
  await clock.advance(2000);
  expect(await sync).toMatchObject({failures: []});
  const again = mountVolumes(aPodWith([inline('v')]), {...host, operations}, signal, mounted);
  await clock.advance(2000);
  expect((await again).volumes.size).toBe(1);
  expect(calls).toHaveLength(1);
  await operations.end();
  expect(operations.isRunning('v')).toBe(false);
});

test('aborting ends the operations before the sync rejects', async () => {
  const {calls, host} = await aCsiHost({v: hang});
  const operations = new VolumeOperations(host.clock);
  const stop = new AbortController();
  const sync = mountVolumes(aPodWith([inline('v')]), {...host, operations}, stop.signal);
  sync.catch(() => undefined); // seen below
  await until(() => calls.length === 1);
  stop.abort(new Error('stopped'));
  await expect(sync).rejects.toThrow('stopped');
  expect(operations.isRunning('v')).toBe(false);
});

test('a volume that its driver mounted with a SELinux label keeps it', async () => {
  const {host} = await aCsiHost({v: async () => undefined});
  const labeled = {...host, csi: {...host.csi, hasMountLabel: () => true}};
  const {volumes} = await mountVolumes(aPodWith([inline('v')]), labeled, signal);
  expect(volumes.get('v')).toMatchObject({keepsLabels: true});
});

test('an attempt whose expansion fails is one failure in the history of the volume', async () => {
  const {clock, host} = await aCsiHost({pv: async () => undefined});
  const steps: string[] = [];
  let expansions = 0;
  const expand = async (): Promise<boolean> => {
    expansions += 1;
    return expansions > 3 ? true : fail(signal).then(() => false);
  };
  const csi: CsiVolumes = {...host.csi, expand};
  const volume = {
    metadata: {name: 'pv'},
    spec: {
      csi: {driver: 'd', volumeHandle: 'h'},
      capacity: {storage: '2Gi'},
      claimRef: {namespace: 'default', name: 'c'},
    },
  };
  const objects = {
    ...host.objects,
    claimedVolume: () => ({volume, readOnly: false, isOnNode: true, claimSize: '1Gi'}),
  };
  const onVolume: NonNullable<VolumeHost['onVolume']> = ({step}) => void steps.push(step);
  const expanding = {...host, objects, csi, onVolume};
  const mounted = new Map<string, MountedVolume>();
  const operations = new VolumeOperations(clock);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await mountVolumes(aClaimPod(), {...expanding, operations}, signal, mounted).catch(() => undefined);
    await clock.advance(60_000);
  }
  expect(steps).toEqual(['Failed', 'Failed', 'Failed', 'Mounted']);
});
