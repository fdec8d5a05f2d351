import type {Container, Pod} from '../../api/v1.js';
import type {Volume} from '../../api/v1-volumes.js';
import {KcriError, messageOf, SystemError} from '../../base/errors.js';
import {MountError} from '../container/mount-error.js';
import type {MountedVolumes, PlannedFile} from '../container/pod-filesystem.js';
import {bindVolume, type BoundVolume} from './plugins.js';
import type {VolumeHost} from './volume-plugin.js';

/** What a mount of the pod's volumes would give, and write. */
export interface PlannedVolumes {
  readonly volumes: MountedVolumes;
  /** Those whose content isn't on the node yet; a volume with one of them is written whole. */
  readonly files: readonly PlannedFile[];
}

/**
 * Where the pod's volumes are once they are mounted and what would be written, touching nothing: of the volumes that a
 * container mounts; the kubelet never sets up others. Rejects with SystemError like mountVolumes, as far as what a
 * volume is made from is concerned.
 */
export async function planVolumes(pod: Pod, host: VolumeHost): Promise<PlannedVolumes> {
  const bound = boundVolumes(pod);
  const files: PlannedFile[] = [];
  for (const [name, volume] of bound)
    try {
      files.push(...(await volume.plan(host)));
    } catch (cause) {
      throw mountError(name, cause);
    }
  return {volumes: mountedVolumes(bound, host), files};
}

/**
 * Mounts the volumes that the pod's containers use, in the Pod's order, and brings what kcri has written into them up to
 * date; what is mounted already stays mounted, so that it can be called again at any time, also after a crash. A volume
 * that fails doesn't keep the others from it. Stops between two volumes when the signal aborts. Rejects with MountError,
 * whose failures have the messages of the kubelet's FailedMount events.
 */
export async function mountVolumes(pod: Pod, host: VolumeHost, signal: AbortSignal): Promise<MountedVolumes> {
  const bound = boundVolumes(pod);
  const mounted = mountedVolumes(bound, host);
  const failures: SystemError[] = [];
  for (const [name, volume] of bound) {
    signal.throwIfAborted();
    try {
      await volume.setUp(host);
    } catch (cause) {
      failures.push(mountError(name, cause));
    }
  }
  const [first, ...others] = failures;
  if (first !== undefined) throw new MountError([first, ...others]);
  return mounted;
}

/** By name, in the Pod's order. */
type BoundVolumes = readonly (readonly [name: string, volume: BoundVolume])[];

function boundVolumes(pod: Pod): BoundVolumes {
  return usedVolumes(pod).map((volume) => [volume.name, bindVolume(pod, volume)]);
}

function mountedVolumes(bound: BoundVolumes, {node}: VolumeHost): MountedVolumes {
  return new Map(
    bound.map(([name, volume]) => [name, {hostPath: volume.path(node), readOnly: volume.readOnly}]),
  );
}

function mountError(name: string, cause: unknown): SystemError {
  return new SystemError(`MountVolume.SetUp failed for volume "${name}" : ${messageOf(cause)}`, {
    cause,
    hint: cause instanceof KcriError ? cause.hint : undefined,
  });
}

function usedVolumes({spec}: Pod): readonly Volume[] {
  const all: readonly Container[] = [
    ...spec.containers,
    ...(spec.initContainers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  const used = new Set(all.flatMap(({volumeMounts = []}) => volumeMounts.map(({name}) => name)));
  return (spec.volumes ?? []).filter(({name}) => used.has(name));
}
