import type {VolumeMount} from '../../api/types/v1-pod.js';
import type {Volume} from '../../api/types/v1-volumes.js';
import type {Mount} from '../../cri/index.js';
import {omitUnset} from './omit-unset.js';

/** Directories of volumes in a kubelet's directory of a pod. */
const KUBELET_VOLUME = /\/pods\/[^/]+\/volumes\/kubernetes\.io~([^/]+)\/([^/]+)(?:\/(.*))?$/;
const KUBELET_SUB_PATH = /\/pods\/[^/]+\/volume-subpaths\/([^/]+)\//;
/** Files that a kubelet mounts into each container. */
const KUBELET_FILE = /\/pods\/[^/]+\/(?:etc-hosts$|containers\/[^/]+\/[^/]+$)/;
/** Volume with the token of the service account. */
const API_ACCESS = /^kube-api-access-[a-z0-9]{5}$/;
/** Paths that runtimes mount on their own, and that are in no config. */
const RUNTIME_PATHS: ReadonlySet<string> = new Set([
  '/dev/shm',
  '/etc/hostname',
  '/etc/resolv.conf',
  '/run/.containerenv',
  '/run/secrets',
]);

const PROPAGATIONS = {
  PROPAGATION_PRIVATE: undefined,
  PROPAGATION_HOST_TO_CONTAINER: 'HostToContainer',
  PROPAGATION_BIDIRECTIONAL: 'Bidirectional',
} as const;

/** Source of a mount. */
type MountSource =
  | {readonly kind: 'none'}
  /** Mount that a manifest cannot have. */
  | {readonly kind: 'unknown'; readonly reason: string}
  | {readonly kind: 'volume'; readonly name: string; readonly volume: Omit<Volume, 'name'>};

/** Volumes of a pod, collected from the mounts of its containers. */
export class VolumeCollector {
  readonly #volumes = new Map<string, Volume>();
  /** Names of volumes by their content. */
  readonly #names = new Map<string, string>();
  readonly #note: (text: string) => void;

  /** `note` receives what cannot be in a manifest. */
  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  get volumes(): readonly Volume[] {
    return [...this.#volumes.values()];
  }

  /** Returns the volumeMounts of a container. */
  mountsOf(mounts: readonly Mount[]): readonly VolumeMount[] {
    return mounts.flatMap((mount) => {
      const source = sourceOf(mount);
      if (source.kind === 'unknown') this.#note(source.reason);
      if (source.kind !== 'volume') return [];
      return [
        omitUnset<VolumeMount>({
          name: this.#add(source.name, source.volume),
          mountPath: mount.containerPath,
          readOnly: mount.readonly && source.volume.image === undefined,
          mountPropagation: PROPAGATIONS[mount.propagation],
        }),
      ];
    });
  }

  /** Adds a volume unless there is an equal one; returns its name. */
  #add(wish: string, content: Omit<Volume, 'name'>): string {
    // Two emptyDir volumes are different volumes.
    const key = content.emptyDir === undefined ? JSON.stringify(content) : `emptyDir ${wish}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const label = toDnsLabel(wish.replace(/^.*\/(?=[^/])/, ''));
    const base = label === '' ? 'volume' : label;
    let name = base;
    for (let count = 2; this.#volumes.has(name); count += 1) name = `${base}-${count}`;
    this.#names.set(key, name);
    this.#volumes.set(name, {name, ...content});
    return name;
  }
}

function sourceOf(mount: Mount): MountSource {
  const {hostPath, containerPath} = mount;
  const reference = imageReference(mount);
  if (reference !== '') return {kind: 'volume', name: containerPath, volume: {image: {reference}}};
  if (KUBELET_FILE.test(hostPath) || isOfRuntime(mount)) return {kind: 'none'};
  return kubeletVolume(mount) ?? {kind: 'volume', name: hostPath, volume: {hostPath: {path: hostPath}}};
}

function imageReference({image}: Mount): string {
  const {image: resolved = '', userSpecifiedImage = ''} = image ?? {};
  return userSpecifiedImage === '' ? resolved : userSpecifiedImage;
}

function isOfRuntime({hostPath, containerPath}: Mount): boolean {
  return RUNTIME_PATHS.has(containerPath) && /\/(?:sandboxes|containers|userdata)\//.test(hostPath);
}

/** Returns the source of a mount below a kubelet's directory of a pod; undefined for any other mount. */
function kubeletVolume({hostPath, containerPath}: Mount): MountSource | undefined {
  const [, plugin, volume, subPath] = KUBELET_VOLUME.exec(hostPath) ?? [];
  const name = volume ?? KUBELET_SUB_PATH.exec(hostPath)?.[1];
  if (name === undefined) return undefined;
  if (plugin === 'empty-dir' && subPath === undefined) return {kind: 'volume', name, volume: {emptyDir: {}}};
  const part = plugin === undefined || plugin === 'empty-dir' ? 'subPath' : 'source';
  return {kind: 'unknown', reason: unknownVolume(name, containerPath, part)};
}

function unknownVolume(name: string, path: string, part: string): string {
  if (API_ACCESS.test(name)) return `the token of the service account at "${path}" is left out`;
  return `volume "${name}" at "${path}" is left out: the runtime does not know its ${part}`;
}

/** Returns the nearest DNS label, empty if there is none. */
export function toDnsLabel(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
}
