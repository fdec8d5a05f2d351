import {translateInlineVolume} from '../../../../api/csi-migration/migrated-volume.js';
import type {Volume} from '../../../../api/types/v1-volumes.js';
import {rethrowUnexpected} from '../../../../base/errors.js';
import {volumeDirName} from '../csi/csi-paths.js';
import type {VolumePod} from './node-volume.js';

/** Kinds of the Pod API by the names of their plugins. */
const KINDS: Readonly<Record<string, string>> = {
  configmap: 'configMap',
  'downward-api': 'downwardAPI',
  'empty-dir': 'emptyDir',
  'host-path': 'hostPath',
  'local-volume': 'local',
};

/** Kinds that are directories of the pod, without a mount of a device or a server. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  'configMap',
  'downwardAPI',
  'emptyDir',
  'gitRepo',
  'git-repo',
  'projected',
  'secret',
]);

/** Returns the kind of a plugin: `emptyDir` of `kubernetes.io/empty-dir`, and `flexVolume` of a FlexVolume driver. */
export function kindOfPlugin(plugin: string): string {
  const [vendor = '', name = ''] = plugin.split('/');
  if (plugin === '' || vendor === 'kcri') return plugin;
  return vendor === 'kubernetes.io' ? (KINDS[name] ?? name) : 'flexVolume';
}

/** Returns the driver of a FlexVolume, which is its plugin; undefined for another plugin. */
export function flexDriverOfPlugin(plugin: string): string | undefined {
  return kindOfPlugin(plugin) === 'flexVolume' ? plugin : undefined;
}

/** Returns the kind of a volume in the spec of a pod. */
export function kindOfVolume(volume: Volume): string {
  const kind = Object.entries(volume).find(([key, value]) => key !== 'name' && value !== undefined)?.[0];
  return kind ?? 'emptyDir';
}

/** Reports whether a kind is a directory of the pod. */
export const isDirectoryKind = (kind: string): boolean => DIRECTORIES.has(kind);

/** Reports whether a volume of the spec is a claim, whose directory has the name of the PersistentVolume. */
export const isClaim = (kind: string): boolean => kind === 'persistentVolumeClaim' || kind === 'ephemeral';

/** Returns the claim of a volume as `namespace/name` (VolumeClaimName). */
export function claimOf({namespace, name}: Pick<VolumePod, 'namespace' | 'name'>, volume: Volume): string {
  return `${namespace}/${volume.persistentVolumeClaim?.claimName ?? `${name}-${volume.name}`}`;
}

/** A volume of the spec that a CSI driver mounts although it is of another kind. */
export interface MigratedVolume {
  readonly driver: string;
  /** Name of its directory. */
  readonly directory: string;
}

/** Returns a volume that a CSI driver mounts in place of Kubernetes; undefined for others, and if it cannot. */
export function migratedVolume(
  volume: Volume,
  {namespace}: Pick<VolumePod, 'namespace'>,
): MigratedVolume | undefined {
  try {
    const migrated = translateInlineVolume(volume, namespace);
    return migrated && {driver: migrated.source.driver, directory: volumeDirName(migrated.name)};
  } catch (error) {
    rethrowUnexpected(error);
    return undefined;
  }
}
