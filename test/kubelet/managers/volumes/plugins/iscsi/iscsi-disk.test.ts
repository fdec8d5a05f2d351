import {expect, test} from 'vitest';
import {portalsToLeave} from '../../../../../../src/kubelet/managers/volumes/plugins/iscsi/detach-iscsi.js';
import {
  copiedParameters,
  diskOfPlace,
  findDiskLink,
  iscsiDiskOf,
  iscsiPlace,
  nextAttachStep,
  readDisk,
  transportOf,
  writeDisk,
} from '../../../../../../src/kubelet/managers/volumes/plugins/iscsi/iscsi-disk.js';

const INTERFACE = `# BEGIN RECORD 2.1.8
iface.iscsi_ifacename = default
iface.net_ifacename = <empty>
iface.transport_name = tcp
# END RECORD
`;

const IQN = 'iqn.2026-01.com.example:disk';
const disk = iscsiDiskOf('data', {
  targetPortal: '192.0.2.1',
  portals: ['192.0.2.1:3260', '192.0.2.2'],
  iqn: IQN,
  lun: 1,
});

test('the port of a portal is 3260 unless it has one, and each portal counts once', () => {
  expect(disk.portals).toEqual(['192.0.2.1:3260', '192.0.2.2:3260']);
});

test('the file of a disk is that of a kubelet, and is read again', () => {
  const text = writeDisk(disk);
  expect(text).toBe(
    '{"VolName":"data","Portals":["192.0.2.1:3260","192.0.2.2:3260"],"Iqn":"iqn.2026-01.com.example:disk","Lun":"1",' +
      '"InitIface":"default","Iface":"default","InitiatorName":"","MetricsProvider":null}\n',
  );
  expect(readDisk(text, iscsiPlace(disk, false))).toEqual(disk);
});

test.each([
  ['a torn file', '{"VolName":"da'],
  ['the file of another disk', writeDisk({...disk, lun: 2})],
  ['no text', ''],
])('%s does not describe a disk', (_title, text) => {
  expect(readDisk(text, iscsiPlace(disk, false))).toBeUndefined();
});

test('the place of a disk tells its target and LUN', () => {
  const place = iscsiPlace(disk, true);
  expect(place.names).toEqual(['iface-default', `192.0.2.1:3260-${IQN}-lun-1`]);
  expect(diskOfPlace(place)).toMatchObject({
    portals: ['192.0.2.1:3260'],
    iqn: IQN,
    lun: 1,
    interface: 'default',
  });
  expect(diskOfPlace({...place, names: ['iface-default', 'other']})).toBeUndefined();
});

test('an interface that is copied keeps its parameters but its name', () => {
  expect(transportOf(INTERFACE)).toBe('tcp');
  expect(transportOf(INTERFACE.replace('= tcp', '= <empty>'))).toBe('tcp');
  expect(transportOf('')).toBeUndefined();
  expect(copiedParameters(INTERFACE, 'iqn.x')).toEqual([
    ['iface.initiatorname', 'iqn.x'],
    ['iface.transport_name', 'tcp'],
  ]);
  expect(copiedParameters('iface.transport_name', 'iqn.x')).toBeUndefined();
});

test('the link to a disk has its portal, target and LUN, and begins with a PCI device for other transports', () => {
  const wanted = `ip-192.0.2.1:3260-iscsi-${IQN}-lun-1`;
  const names = [`${wanted}0`, `pci-1-${wanted}`, `${wanted}-part1`, wanted];
  const find = (portal: string, transport: string) => findDiskLink(names, disk, {portal, transport});
  expect(find('192.0.2.1:3260', 'tcp')).toBe(wanted);
  expect(find('192.0.2.1:3260', 'be2iscsi')).toBe(`pci-1-${wanted}`);
  expect(find('192.0.2.3:3260', 'tcp')).toBeUndefined();
});

test.each([
  [1, 0, 3, 'failed'],
  [1, 3, 3, 'done'],
  [1, 2, 3, 'again'],
  [2, 2, 3, 'done'],
  [4, 1, 3, 'again'],
  [5, 1, 3, 'done'],
] as const)('attempt %i that got %i of %i paths: %s', (attempt, found, portals, step) => {
  expect(nextAttachStep(attempt, {found, portals})).toBe(step);
});

test('a session stays while another volume needs its portal or its disk', () => {
  const sessions = [{host: 0, portals: ['b:1'], disks: new Map([[7, 'sdc']])}];
  const mine = {portals: ['a:1', 'b:1'], lun: 1};
  expect(portalsToLeave(mine, [], sessions)).toEqual(['a:1', 'b:1']);
  expect(portalsToLeave(mine, [{portals: ['a:1'], lun: 3}], sessions)).toEqual(['b:1']);
  expect(portalsToLeave(mine, [{portals: ['c:1'], lun: 7}], sessions)).toEqual(['a:1']);
});
