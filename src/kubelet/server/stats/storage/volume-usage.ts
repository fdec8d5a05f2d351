import {join} from 'node:path';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Volume} from '../../../../api/types/v1-volumes.js';
import type {Clock} from '../../../../base/clock.js';
import {treeUsage} from '../../../../base/fs/disk-usage.js';
import {validatePathSegment} from '../../../../base/fs/files.js';
import {SystemError} from '../../../../base/errors.js';
import {podDir, type NodeFacts} from '../../../contract/node-facts.js';
import {podRef} from '../../../contract/pod-ref.js';
import {ClaimUsageReader, VOLUME_BOUNDS} from './claim-usage.js';
import {FilesystemStats} from './filesystem-stats.js';
import type {VolumeUsage} from './measured-volume.js';
import type {ServedKubelet} from '../../served-kubelet.js';

/** Directories of the plugins whose volumes are measured, by volume type. */
const DIRECTORIES: Readonly<Record<string, string>> = {
  configMap: 'kubernetes.io~configmap',
  downwardAPI: 'kubernetes.io~downward-api',
  emptyDir: 'kubernetes.io~empty-dir',
  projected: 'kubernetes.io~projected',
  secret: 'kubernetes.io~secret',
};

/** Time that a request may spend on measurements; later requests continue. */
const BUDGET_MS = 1000;

/** Options of VolumeUsageReader. */
export interface VolumeUsageOptions {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly clock: Clock;
  /** volumeStatsAggPeriod. */
  readonly volumeStatsPeriodMs: number;
}

interface Measurement {
  readonly atMs: number;
  readonly volumes: readonly VolumeUsage[];
}

/**
 * Measures the volumes of pods when they are requested, and again after a period (volumeStatCalculator). A pod that was
 * not measured yet has none.
 */
export class VolumeUsageReader {
  readonly #node: Pick<NodeFacts, 'rootDir'>;
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #volumes: ServedKubelet['volumes'];
  readonly #claims: ClaimUsageReader;
  readonly #measured = new Map<string, Measurement>();

  /** A negative period measures nothing. */
  constructor({node, clock, volumeStatsPeriodMs}: VolumeUsageOptions, volumes: ServedKubelet['volumes']) {
    this.#node = node;
    this.#clock = clock;
    this.#periodMs = volumeStatsPeriodMs;
    this.#volumes = volumes;
    this.#claims = new ClaimUsageReader(clock);
  }

  /**
   * Returns the usage of the volumes of the pods by UID; measures only those of wanted pods. Rejects with the system's
   * error.
   */
  async read(
    pods: readonly Pod[],
    isWanted: (pod: Pod) => boolean = () => true,
  ): Promise<ReadonlyMap<string, readonly VolumeUsage[]>> {
    if (this.#periodMs < 0) return new Map();
    const startMs = this.#clock.monotonic();
    const byUid = new Map(pods.map((pod): [string, Pod] => [podRef(pod).uid, pod]));
    for (const uid of this.#measured.keys()) if (!byUid.has(uid)) this.#measured.delete(uid);
    const asked: Promise<void>[] = [];
    for (const [uid, pod] of byUid) {
      const nowMs = this.#clock.monotonic();
      const {atMs = -Infinity} = this.#measured.get(uid) ?? {};
      if (nowMs - startMs > BUDGET_MS) break;
      if (nowMs < atMs + this.#periodMs || !isWanted(pod)) continue;
      const own = await this.#measureOwn(pod, this.#clock.now());
      asked.push(this.#ask(pod, {atMs: nowMs, volumes: own}, this.#clock.now()));
    }
    await Promise.all(asked);
    return new Map([...this.#measured].map(([uid, {volumes}]) => [uid, volumes]));
  }

  /** Measures the volumes whose files kcri writes or that are on the filesystem of the root directory. */
  async #measureOwn(pod: Pod, nowMs: number): Promise<readonly VolumeUsage[]> {
    const found: VolumeUsage[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      const usage = await this.#measureVolume(pod, volume, nowMs);
      if (usage !== undefined) found.push(usage);
    }
    return found;
  }

  /** Adds the other volumes, all of which are asked for at once: one that hangs delays no other. */
  async #ask(pod: Pod, own: Measurement, nowMs: number): Promise<void> {
    const others = this.#volumes(pod).filter(
      ({claim, measure, isFilesystem}) => (claim ?? measure ?? isFilesystem) !== undefined,
    );
    const usages = await Promise.all(
      others.map(async (volume) => this.#claims.measure(podRef(pod).namespace, volume, nowMs)),
    );
    const found = usages.filter((usage) => usage !== undefined);
    this.#measured.set(podRef(pod).uid, {...own, volumes: [...own.volumes, ...found]});
  }

  async #measureVolume(pod: Pod, volume: Volume, nowMs: number): Promise<VolumeUsage | undefined> {
    const {name, ...sources} = volume;
    const [kind = 'emptyDir'] = Object.keys(sources);
    const directory = DIRECTORIES[kind];
    if (directory === undefined) return undefined;
    try {
      const own = podDir(this.#node, podRef(pod).uid);
      const path = join(own, 'volumes', directory, validatePathSegment('volume name', name));
      const {bytes, inodes} = await treeUsage(path, VOLUME_BOUNDS);
      if (inodes === 0n) return undefined;
      return {
        name,
        timeNanos: BigInt(nowMs) * 1_000_000n,
        isEphemeral: kind === 'configMap' || (kind === 'emptyDir' && (sources.emptyDir?.medium ?? '') === ''),
        usedBytes: bytes,
        inodesUsed: inodes,
        capacity: await new FilesystemStats().capacity(path),
      };
    } catch (error) {
      if (error instanceof SystemError) return undefined;
      throw error;
    }
  }
}
