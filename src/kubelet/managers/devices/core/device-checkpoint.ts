import {decodeAllocation, encodeAllocation} from '../../../../plugin-api/device-messages.js';
import {checksumOf, corruptCheckpoint, goChecksum} from '../../../resources/checkpoint/checkpoint.js';
import {
  goBytes,
  goInteger,
  goMap,
  goSlice,
  goString,
  goStruct,
  readGoJson,
} from '../../../resources/checkpoint/go-type.js';
import type {OwnedAllocation} from './pod-devices.js';

/** Content of a checkpoint. */
export interface DeviceCheckpoint {
  readonly allocations: readonly OwnedAllocation[];
  /** IDs of healthy devices by resource. */
  readonly registered: ReadonlyMap<string, readonly string[]>;
}

/** What was read of a checkpoint. */
export interface ReadDeviceCheckpoint extends DeviceCheckpoint {
  /** Allocations whose answer of the plugin cannot be read; they are left out. */
  readonly unreadable: readonly Omit<OwnedAllocation, 'response' | 'devices'>[];
}

const text = goString();
const texts = goSlice('[]string', text);

const entryFields = {
  uid: {name: 'PodUID', type: text, json: 'PodUID'},
  container: {name: 'ContainerName', type: text, json: 'ContainerName'},
  resource: {name: 'ResourceName', type: text, json: 'ResourceName'},
  devices: {
    name: 'DeviceIDs',
    type: goMap('checkpoint.DevicesPerNUMA', goInteger('int64'), texts),
    json: 'DeviceIDs',
  },
  response: {name: 'AllocResp', type: goBytes(), json: 'AllocResp'},
};

/** An allocation in the file. */
interface Entry {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
  readonly devices: ReadonlyMap<number, readonly string[] | undefined> | undefined;
  readonly response: Uint8Array | undefined;
}

interface Data {
  readonly entries: readonly Entry[] | undefined;
  readonly registered: ReadonlyMap<string, readonly string[] | undefined> | undefined;
}

const dataType = goStruct<Data>('checkpoint.checkpointData', {
  entries: {
    name: 'PodDeviceEntries',
    type: goSlice('[]checkpoint.PodDevicesEntry', goStruct<Entry>('checkpoint.PodDevicesEntry', entryFields)),
    json: 'PodDeviceEntries',
  },
  registered: {
    name: 'RegisteredDevices',
    type: goMap('map[string][]string', text, texts),
    json: 'RegisteredDevices',
  },
});

interface File {
  readonly data: Data;
  readonly checksum: number;
}

const fileType = goStruct<File>('checkpoint.Data', {
  data: {name: 'Data', type: dataType, json: 'Data'},
  checksum: {name: 'Checksum', type: goChecksum, json: 'Checksum'},
});

const NOTHING: File = {data: {entries: [], registered: new Map()}, checksum: 0};

/** Returns the text of a checkpoint, byte by byte as a kubelet writes it. Only the data has a checksum. */
export function formatDeviceCheckpoint({allocations, registered}: DeviceCheckpoint): string {
  const entries = allocations.map(({response, ...rest}) => ({...rest, response: encodeAllocation(response)}));
  // A kubelet has a nil slice without any.
  const data = {entries: entries.length === 0 ? undefined : entries, registered};
  return fileType.toJson({data, checksum: checksumOf(dataType, data)});
}

/** Reads the text of a checkpoint. Throws SystemError if it is not one, or if its checksum is wrong. */
export function parseDeviceCheckpoint(content: string): ReadDeviceCheckpoint {
  const {data, checksum} = readGoJson(fileType, content, NOTHING);
  if (checksum !== checksumOf(dataType, data)) throw corruptCheckpoint();
  const read = (data.entries ?? []).map((entry) => ({entry, allocation: readEntry(entry)}));
  return {
    allocations: read.flatMap(({allocation}) => allocation ?? []),
    registered: withoutNil(data.registered),
    unreadable: read
      .filter(({allocation}) => allocation === undefined)
      .map(({entry: {uid, container, resource}}) => ({uid, container, resource})),
  };
}

function readEntry({response, devices, ...owner}: Entry): OwnedAllocation | undefined {
  const decoded = decodeAllocation(response ?? new Uint8Array());
  return decoded && {...owner, devices: withoutNil(devices), response: decoded};
}

function withoutNil<K>(
  map: ReadonlyMap<K, readonly string[] | undefined> | undefined,
): ReadonlyMap<K, readonly string[]> {
  return new Map([...(map ?? [])].map(([key, list]) => [key, list ?? []]));
}
