import {expect, test} from 'vitest';
import {abortable} from '../../../../../../src/base/async/abortable.js';
import {systemClock} from '../../../../../../src/base/clock.js';
import type {CsiClaims} from '../../../../../../src/kubelet/contract/volumes/csi-cluster.js';
import type {ExpandableVolume} from '../../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import type {ResizedClaim} from '../../../../../../src/kubelet/contract/volumes/resized-claim.js';
import {NO_OBJECTS} from '../../../../../../src/kubelet/contract/api-objects.js';
import {createManifestCsi} from '../../../../../../src/kubelet/managers/volumes/csi/manifest-csi.js';
import {createCsi} from '../../../../../../src/kubelet/managers/volumes/csi/start-csi.js';
import {until} from '../../../../../base/until.js';
import {fakeManagerServices} from '../../../../../fakes/fake-manager-services.js';
import {GOLDEN_NODE} from '../../../../../golden/golden-cases.js';
import {aClaimPod} from '../../claim-fixtures.js';

const NEVER = new AbortController().signal;
const PENDING = {
  capacity: {storage: '1Mi'},
  allocatedResources: {storage: '2Mi'},
  allocatedResourceStatuses: {storage: 'NodeResizePending'},
};

/** The claim of a shared volume, which every node may enlarge, and the volumes of a kubelet. */
function anExpandableNode(status: ResizedClaim['status'], expandOnNode: ExpandableVolume['expandOnNode']) {
  let claim: ResizedClaim = {
    metadata: {namespace: 'default', name: 'c', uid: 'c1', resourceVersion: '1'},
    spec: {accessModes: ['ReadWriteMany'], resources: {requests: {storage: '2Mi'}}},
    status: status!,
  };
  const claims: CsiClaims = {
    claim: async () => claim,
    patchClaim: async (_claim, {status: changed}, signal) => {
      signal.throwIfAborted();
      claim = {...claim, status: changed};
      return claim;
    },
    claimEvent: () => undefined,
  };
  const end = new AbortController();
  const csiCluster = createManifestCsi(NO_OBJECTS, claims);
  const {volumes} = createCsi(
    fakeManagerServices({node: GOLDEN_NODE, clock: systemClock, csiCluster}),
    end.signal,
  );
  const expand = async (
    {
      uid,
      isMounted,
      claimSize,
    }: {readonly uid: string; readonly isMounted: boolean; readonly claimSize: string},
    signal = NEVER,
  ): Promise<boolean> => {
    const volume: ExpandableVolume = {
      ...{
        pod: aClaimPod({}, uid),
        name: 'pv',
        readOnly: false,
        plugin: 'p',
        uniqueName: 'p/pv',
        expandOnNode,
      },
      expansion: {claim: {namespace: 'default', name: 'c'}, size: '2Mi', claimSize},
    };
    return await volumes.expandOther(volume, {isMounted, signal});
  };
  return {
    expand,
    stop: () => {
      end.abort();
    },
    status: () => claim.status,
  };
}

/** An expansion that goes on until it is finished. */
function aSlowExpansion() {
  const calls = {count: 0};
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const expandOnNode = async (): Promise<void> => {
    calls.count += 1;
    await finished;
  };
  return {calls, finish, expandOnNode};
}

test('a volume that was being enlarged for a pod that ends is not enlarged again for another one', async () => {
  const slow = aSlowExpansion();
  const {expand, status} = anExpandableNode(PENDING, slow.expandOnNode);
  const end = new AbortController();
  const first = expand({uid: 'a', isMounted: true, claimSize: '1Mi'}, end.signal);
  await until(() => slow.calls.count > 0);
  const second = expand({uid: 'b', isMounted: true, claimSize: '1Mi'});
  end.abort();
  slow.finish();
  expect(await Promise.all([first, second])).toEqual([true, true]);
  expect(slow.calls.count).toBe(1);
  expect(status()).toMatchObject({capacity: {storage: '2Mi'}});
});

test('a pod that waits for the expansion of another one ends at once', async () => {
  const slow = aSlowExpansion();
  const {expand} = anExpandableNode(PENDING, slow.expandOnNode);
  const first = expand({uid: 'a', isMounted: true, claimSize: '1Mi'});
  await until(() => slow.calls.count > 0);
  const end = new AbortController();
  const second = expand({uid: 'b', isMounted: true, claimSize: '1Mi'}, end.signal);
  end.abort(new Error('ended'));
  await expect(second).rejects.toThrow('ended');
  slow.finish();
  expect(await first).toBe(true);
});

test('a volume whose claim has the size, which was not known when it was mounted, is not enlarged', async () => {
  let calls = 0;
  const expandOnNode = async (): Promise<void> => void (calls += 1);
  const {expand} = anExpandableNode(
    {capacity: {storage: '2Mi'}, allocatedResources: {storage: '2Mi'}},
    expandOnNode,
  );
  expect(await expand({uid: 'a', isMounted: false, claimSize: '1Mi'})).toBe(true);
  expect(await expand({uid: 'a', isMounted: true, claimSize: '2Mi'})).toBe(true);
  expect(calls).toBe(0);
});

test('a driver that hangs in an expansion is not waited for when the kubelet ends', async () => {
  let calls = 0;
  const {expand, stop} = anExpandableNode(PENDING, async (_sizes, signal) => {
    calls += 1;
    await abortable(new Promise<never>(() => undefined), signal);
  });
  const expanding = expect(expand({uid: 'a', isMounted: true, claimSize: '1Mi'})).rejects.toThrow(
    'the kubelet is stopping',
  );
  await until(() => calls > 0);
  stop();
  await expanding;
});
