import {humanSize} from '../../format/human-size.js';
import type {JsonObject} from '../../format/json.js';
import type {Column} from '../../format/table.js';
import type {NodeVolumeUsage} from '../../kubelet/index.js';
import type {ListedVolume} from './list-volumes.js';

const NONE = '<none>';

/** Returns the columns of `get volumes`. */
export function volumeColumns({
  wide,
  namespace,
}: {
  readonly wide: boolean;
  readonly namespace: boolean;
}): readonly Column<ListedVolume>[] {
  return [
    ...(namespace
      ? [{header: 'NAMESPACE', value: ({volume}: ListedVolume) => namespaceOf(volume) ?? NONE}]
      : []),
    {header: 'POD', value: ({volume: {pod}}) => pod?.name ?? (pod === undefined ? NONE : `uid ${pod.uid}`)},
    {header: 'VOLUME', value: ({volume}) => volume.name},
    {header: 'KIND', value: ({volume}) => `${volume.kind}${volume.isBlock ? ' (block)' : ''}`},
    {header: 'DRIVER', value: ({volume}) => volume.driver ?? NONE},
    {header: 'STATE', value: ({volume}) => volume.state},
    {header: 'USED', value: (row) => sizeText(usageOf(row)?.usedBytes)},
    {header: 'CAPACITY', value: (row) => sizeText(usageOf(row)?.capacityBytes)},
    ...(wide ? WIDE : []),
  ];
}

const WIDE: readonly Column<ListedVolume>[] = [
  {header: 'CLAIM', value: ({volume}) => volume.claim ?? NONE},
  {header: 'PERSISTENT VOLUME', value: ({volume}) => volume.persistentVolume ?? NONE},
  // What is mounted of a block volume is the file of its device.
  {header: 'FILESYSTEM', value: ({volume}) => (volume.isBlock ? NONE : (volume.mount?.fileSystem ?? NONE))},
  {header: 'PATH', value: ({volume}) => volume.path ?? NONE},
  {header: 'STAGING PATH', value: ({volume}) => volume.stagingPath ?? NONE},
  {header: 'MESSAGE', value: ({volume}) => volume.message ?? ''},
];

/** Returns the name of a volume for `-o name`: `volume/POD/NAME`. */
export function volumeTitle({volume: {pod, name}}: ListedVolume): string {
  return ['volume', ...(pod === undefined ? [] : [pod.name ?? pod.uid]), name].join('/');
}

/** Returns the namespace of the pod or of the claim. */
export function namespaceOf({pod, claim}: ListedVolume['volume']): string | undefined {
  return pod === undefined ? claim?.slice(0, claim.indexOf('/')) : pod.namespace;
}

/** Returns a volume as an object; sizes are numbers of bytes. */
export function volumeObject(row: ListedVolume): JsonObject {
  const {volume} = row;
  const {name, kind, pod, isBlock, mount, state} = volume;
  const usage = usageOf(row);
  const namespace = namespaceOf(volume);
  const optional = {
    driver: volume.driver,
    volumeHandle: volume.handle,
    persistentVolume: volume.persistentVolume,
    claim: volume.claim,
    message: volume.message,
    path: volume.path,
    stagingPath: volume.stagingPath,
  };
  return {
    kind: 'Volume',
    metadata: {name, ...(namespace !== undefined && {namespace})},
    ...(pod !== undefined && {pod: {...pod}}),
    type: kind,
    volumeMode: isBlock ? 'Block' : 'Filesystem',
    state,
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined),
    ) as JsonObject),
    ...(mount !== undefined && {mount: {fileSystem: mount.fileSystem, source: mount.source}}),
    ...(usage !== undefined && {
      usage: Object.fromEntries(Object.entries(usage).map(([key, value]) => [key, Number(value)])),
    }),
  };
}

function usageOf({measured}: ListedVolume): NodeVolumeUsage | undefined {
  return measured !== undefined && 'usage' in measured ? measured.usage : undefined;
}

function sizeText(bytes: bigint | undefined): string {
  return bytes === undefined ? '-' : humanSize(bytes);
}
