import type {ISCSIVolumeSource} from '../../../../../api/types/v1-attached-volumes.js';
import {isObject} from '../../../../../base/is-object.js';
import type {PossibleNames} from '../../../../contract/volumes/csi-volumes.js';
import {createPlace, type DiskPlace} from '../disks/disk-place.js';

/** A LUN of an iSCSI target, and how the node gets to it. */
export interface IscsiDisk {
  /** Name of the volume in the pod, or of the PersistentVolume. */
  readonly volume: string;
  /** Addresses with ports, each once; the first one is that of the source. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  /** Interface of the source, from which one with another initiator name is copied. */
  readonly sourceInterface: string;
  /** Interface of the sessions. */
  readonly interface: string;
  /** Empty to use that of the interface. */
  readonly initiatorName: string;
}

const DEFAULT_PORT = 3260;

/** Returns the disk of a volume (createISCSIDisk). */
export function iscsiDiskOf(volume: string, source: Omit<ISCSIVolumeSource, 'secretRef'>): IscsiDisk {
  const {targetPortal, portals = [], iqn, lun, iscsiInterface = '', initiatorName = ''} = source;
  const all = [...new Set([targetPortal, ...portals].map(withPort))];
  const sourceInterface = iscsiInterface === '' ? 'default' : iscsiInterface;
  const own = `${all[0]}:${volume}`;
  return {
    ...{volume, portals: all, iqn, lun, sourceInterface, initiatorName},
    interface: initiatorName === '' ? sourceInterface : own,
  };
}

function withPort(portal: string): string {
  return portal.includes(':') ? portal : `${portal}:${DEFAULT_PORT}`;
}

/** Returns the place of a disk (MakeGlobalPDName, MakeGlobalVDPDName). Throws SystemError if it cannot have one. */
export function iscsiPlace(disk: IscsiDisk, isBlock: boolean): DiskPlace {
  const {portals, iqn, lun} = disk;
  return createPlace('iscsi', isBlock, [`iface-${disk.interface}`, `${portals[0]}-${iqn}-lun-${lun}`]);
}

/** Returns the name of a volume in the status of the node (GetVolumeName). */
export function iscsiUniqueName({
  targetPortal,
  iqn,
  lun,
}: Pick<ISCSIVolumeSource, 'targetPortal' | 'iqn' | 'lun'>): string {
  return `kubernetes.io/iscsi/${targetPortal}:${iqn}:${lun}`;
}

/** Returns the names that the volumes at a place can have: the place has a port, even if their source has none. */
export function iscsiNamesOfPlace(place: DiskPlace): PossibleNames {
  const {portals = [], iqn = '', lun = 0} = diskOfPlace(place) ?? {};
  const [portal = ''] = portals;
  const written = [portal, portal.replace(new RegExp(`:${DEFAULT_PORT}$`), '')];
  return [...new Set(written)]
    .filter((each) => withPort(each) === portal)
    .map((targetPortal) => iscsiUniqueName({targetPortal, iqn, lun}));
}

/** Returns what the place of a disk tells about it (extractPortalAndIqn); undefined if it is not one of an iSCSI disk. */
export function diskOfPlace({names}: DiskPlace): IscsiDisk | undefined {
  const [interfaceName = '', name = ''] = names;
  const [, own] = /^iface-(.+)$/.exec(interfaceName) ?? [];
  const [, portal, iqn, lun] = /^(.+?)-((?:iqn|eui|naa)\..+)-lun-(\d+)$/.exec(name) ?? [];
  if (own === undefined || portal === undefined || iqn === undefined) return undefined;
  return {
    ...{volume: '', portals: [portal], iqn, lun: Number(lun)},
    ...{sourceInterface: own, interface: own, initiatorName: ''},
  };
}

/** Returns the file with which the disk is detached, as a kubelet writes it (persistISCSIFile). */
export function writeDisk(disk: IscsiDisk): string {
  const {volume, portals, iqn, lun, sourceInterface, initiatorName} = disk;
  const fields = {
    ...{VolName: volume, Portals: portals, Iqn: iqn, Lun: String(lun), InitIface: sourceInterface},
    ...{Iface: disk.interface, InitiatorName: initiatorName, MetricsProvider: null},
  };
  return `${JSON.stringify(fields)}\n`;
}

/** Returns the disk that a file describes; undefined unless it is that of the place. */
export function readDisk(text: string, place: DiskPlace): IscsiDisk | undefined {
  const value = parse(text);
  if (!isObject(value)) return undefined;
  const {VolName, Portals, Iqn, Lun, InitIface, Iface, InitiatorName} = value;
  const texts = [VolName, Iqn, Lun, InitIface, Iface, InitiatorName];
  if (!texts.every((each) => typeof each === 'string') || !isTexts(Portals)) return undefined;
  const [volume = '', iqn = '', lun = '', sourceInterface = '', own = '', initiatorName = ''] =
    texts as readonly string[];
  const disk = {
    ...{volume, iqn, lun: Number(lun), sourceInterface, interface: own, initiatorName},
    portals: [...new Set(Portals.filter((portal) => portal !== ''))],
  };
  const found = `iface-${own}/${disk.portals[0]}-${iqn}-lun-${lun}`;
  return /^\d+$/.test(lun) && found === place.names.join('/') ? disk : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a killed kubelet has not finished it
  }
}

/** Returns the transport of an interface as iscsiadm(8) prints it; undefined if it prints none (extractTransportname). */
export function transportOf(output: string): string | undefined {
  const transport = /^iface\.transport_name = (.*)$/m.exec(output)?.[1];
  return transport === '<empty>' ? 'tcp' : transport;
}

/**
 * Returns the parameters of a copy of an interface with another initiator name, by name (parseIscsiadmShow, cloneIface);
 * undefined if the output is not that of iscsiadm(8).
 */
export function copiedParameters(
  output: string,
  initiatorName: string,
): readonly (readonly [name: string, value: string])[] | undefined {
  const parameters = new Map<string, string>();
  for (const line of output.split('\n')) {
    if (!line.startsWith('iface.') || line.includes('<empty>')) continue;
    const [, name, value] = /^(\S+)\s+=\s+(\S+)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    parameters.set(name, value);
  }
  // The name of an interface cannot be changed.
  parameters.delete('iface.iscsi_ifacename');
  parameters.set('iface.initiatorname', initiatorName);
  return [...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Returns the name of the link to a disk among those in /dev/disk/by-path; undefined if there is none. With a transport other than
 * tcp, it begins with the address of a PCI device; the first one is taken.
 */
export function findDiskLink(
  names: readonly string[],
  {iqn, lun}: Pick<IscsiDisk, 'iqn' | 'lun'>,
  {portal, transport}: {readonly portal: string; readonly transport: string},
): string | undefined {
  const wanted = `ip-${portal.replaceAll(/[[\]]/g, '')}-iscsi-${iqn}-lun-${lun}`;
  if (transport === 'tcp') return names.find((name) => name === wanted);
  return names.toSorted().find((name) => name.startsWith('pci-') && name.endsWith(`-${wanted}`));
}

/** Number of attempts after which two paths, or one, are enough (minAttachAttempts, maxAttachAttempts). */
const ENOUGH_FOR_TWO = 2;
const ENOUGH_FOR_ONE = 5;

/** Returns whether an attempt to get to a disk through all its portals is followed by another one (AttachDisk). */
export function nextAttachStep(
  attempt: number,
  {found, portals}: {readonly found: number; readonly portals: number},
): 'failed' | 'done' | 'again' {
  if (found === 0) return 'failed';
  const isEnough = found >= portals || (found >= 2 && attempt >= ENOUGH_FOR_TWO) || attempt >= ENOUGH_FOR_ONE;
  return isEnough ? 'done' : 'again';
}
