import {crc32} from 'node:zlib';
import {corruptCheckpoint} from '../../../resources/checkpoint/checkpoint.js';
import {
  goInteger,
  goMap,
  goPointer,
  goSlice,
  goString,
  goStruct,
  readGoJson,
} from '../../../resources/checkpoint/go-type.js';
import type {ClaimDevice, ClaimState} from './claim-info.js';

/** Name of the checkpoint of the DRA manager in the root directory (draManagerStateFileName). */
export const DRA_CHECKPOINT = 'dra_manager_state';

const text = goString();
const texts = goSlice('[]string', text);

const deviceType = goStruct<ClaimDevice>('state.Device', {
  poolName: {name: 'PoolName', type: text, json: 'PoolName'},
  deviceName: {name: 'DeviceName', type: text, json: 'DeviceName'},
  shareId: {name: 'ShareID', type: goPointer(goString('types.UID')), json: 'ShareID'},
  requestNames: {name: 'RequestNames', type: texts, json: 'RequestNames'},
  cdiDeviceIds: {name: 'CDIDeviceIDs', type: texts, json: 'CDIDeviceIDs'},
});

interface DriverState {
  readonly devices: readonly ClaimDevice[] | undefined;
}

const driverType = goStruct<DriverState>('state.DriverState', {
  devices: {name: 'Devices', type: goSlice('[]state.Device', deviceType), json: 'Devices'},
});

type Empty = Readonly<Record<string, never>>;

/** A claim in the file. */
interface Entry {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly podUids: ReadonlyMap<string, Empty> | undefined;
  readonly drivers: ReadonlyMap<string, DriverState> | undefined;
}

const entryType = goStruct<Entry>('state.ClaimInfoState', {
  uid: {name: 'ClaimUID', type: goString('types.UID'), json: 'ClaimUID'},
  name: {name: 'ClaimName', type: text, json: 'ClaimName'},
  namespace: {name: 'Namespace', type: text, json: 'Namespace'},
  podUids: {
    name: 'PodUIDs',
    type: goMap('sets.Set[string]', text, goStruct<Empty>('sets.Empty', {})),
    json: 'PodUIDs',
  },
  drivers: {
    name: 'DriverState',
    type: goMap('map[string]state.DriverState', text, driverType),
    json: 'DriverState',
  },
});

interface Data {
  readonly kind: string;
  readonly apiVersion: string;
  readonly claims: readonly Entry[] | undefined;
}

const dataType = goStruct<Data>('state.CheckpointData', {
  kind: {name: 'Kind', type: text, omitEmpty: true},
  apiVersion: {name: 'APIVersion', type: text, omitEmpty: true},
  claims: {
    name: 'ClaimInfoStateList',
    type: goSlice('state.ClaimInfoStateList', entryType),
    json: 'ClaimInfoStateList',
  },
});

interface File {
  readonly data: string;
  readonly checksum: number;
}

const fileType = goStruct<File>('state.Checkpoint', {
  data: {name: 'Data', type: text, json: 'Data'},
  checksum: {name: 'Checksum', type: goInteger('uint32'), json: 'Checksum'},
});

const TYPE = {kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1'};

/**
 * Returns the text of a checkpoint, byte by byte as a kubelet writes it; the order of claims is random there. Undefined claims are
 * those of a kubelet that has never had any.
 */
export function formatDraCheckpoint(claims: readonly ClaimState[] | undefined): string {
  const data = dataType.toJson({...TYPE, claims: claims?.map(toEntry)});
  return fileType.toJson({data, checksum: crc32(data)});
}

function toEntry({podUids, drivers, ...identity}: ClaimState): Entry {
  return {
    ...identity,
    podUids: new Map([...podUids].map((uid) => [uid, {}])),
    drivers: new Map([...drivers].map(([driver, devices]) => [driver, {devices}])),
  };
}

/** Reads the text of a checkpoint. Throws SystemError if it is not one, or if its checksum is wrong. */
export function parseDraCheckpoint(content: string): readonly ClaimState[] {
  const {data, checksum} = readGoJson(fileType, content, fileType.zero);
  if (checksum !== crc32(data)) throw corruptCheckpoint();
  const {claims = []} = readGoJson(dataType, data, dataType.zero);
  return claims.map(({podUids, drivers, ...identity}) => ({
    ...identity,
    podUids: new Set(podUids?.keys()),
    drivers: new Map([...(drivers ?? [])].map(([driver, {devices}]) => [driver, devices])),
  }));
}
