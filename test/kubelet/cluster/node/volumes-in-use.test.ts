import {expect, test} from 'vitest';
import type {Node} from '../../../../src/api/types/v1-node.js';
import {VolumesInUse} from '../../../../src/kubelet/cluster/node/volumes-in-use.js';

const NAME = 'kubernetes.io/csi/disk.example.com^h1';
const ATTACHED = {volumesInUse: [NAME], volumesAttached: [{name: NAME, devicePath: '/dev/x'}]};

function aNode(version: number, status: object): Node {
  return {metadata: {name: 'n1', resourceVersion: String(version)}, spec: {}, status} as Node;
}

/** Volumes of a node that the watch shows as `watched`, of which the last computed status has the volume. */
function aReport(watched: Node | undefined) {
  const shown = {watched};
  let updates = 0;
  const volumes = new VolumesInUse({watched: () => shown.watched, statusChanged: () => (updates += 1)});
  volumes.computed([NAME]);
  return {volumes, shown, updates: () => updates};
}

/** Returns the device of a volume if it counts as attached now; otherwise undefined. */
async function deviceNow(volumes: VolumesInUse): Promise<string | undefined> {
  const signal = AbortSignal.abort(new Error('waits'));
  return await volumes.untilAttached(NAME, signal).catch(() => undefined);
}

test('a volume is attached when the API server has stored it in use, and a controller as attached', async () => {
  const {volumes, updates} = aReport(aNode(5, ATTACHED));
  expect([await deviceNow(volumes), volumes.isComplete, updates()]).toEqual([undefined, false, 1]);
  volumes.stored(aNode(6, ATTACHED));
  expect([await deviceNow(volumes), volumes.isComplete, updates()]).toEqual(['/dev/x', true, 1]);
});

test.each([
  ['the computed status lacks it', []],
  ['a later one has it again', [NAME]],
])('a volume does not count as attached after a status without it was computed: %s', async (_title, next) => {
  const {volumes} = aReport(aNode(5, ATTACHED));
  volumes.stored(aNode(5, ATTACHED));
  volumes.computed([]);
  volumes.computed(next);
  expect(await deviceNow(volumes)).toBeUndefined();
});

const INSTEAD: readonly [
  title: string,
  watched: Node | undefined,
  stored: Node,
  device: string | undefined,
][] = [
  [
    'the stored Node does not have it as attached, and the watch is older',
    aNode(5, ATTACHED),
    aNode(6, {volumesInUse: [NAME]}),
    undefined,
  ],
  ['the stored Node has it as attached, and the watch is older', aNode(5, {}), aNode(6, ATTACHED), '/dev/x'],
  ['the watch shows it as attached later', aNode(7, ATTACHED), aNode(6, {volumesInUse: [NAME]}), '/dev/x'],
  ['the watch shows it as detached later', aNode(7, {volumesInUse: [NAME]}), aNode(6, ATTACHED), undefined],
  [
    'somebody else has removed it from those in use',
    aNode(7, {volumesAttached: ATTACHED.volumesAttached}),
    aNode(6, ATTACHED),
    undefined,
  ],
  ['the API server has not stored it in use', aNode(6, ATTACHED), aNode(6, {}), undefined],
  ['the Node was deleted', undefined, aNode(6, ATTACHED), undefined],
];

test.each(INSTEAD)('the newest Node counts: %s', async (_title, watched, stored, device) => {
  const {volumes} = aReport(watched);
  volumes.stored(stored);
  expect(await deviceNow(volumes)).toBe(device);
});

test('a waiting pod sees a change of the watched Node, and a report', async () => {
  const {volumes, shown} = aReport(aNode(5, {}));
  const attached = volumes.untilAttached(NAME, new AbortController().signal);
  volumes.stored(aNode(6, {volumesInUse: [NAME]}));
  shown.watched = aNode(7, ATTACHED);
  volumes.changed();
  expect(await attached).toBe('/dev/x');
  const again = aReport(aNode(5, {}));
  const reported = again.volumes.untilAttached(NAME, new AbortController().signal);
  again.volumes.stored(aNode(6, ATTACHED));
  expect(await reported).toBe('/dev/x');
});
