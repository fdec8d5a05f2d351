import {pause} from '../../base/async/pause.js';
import {isExpectedError} from '../../base/errors.js';
import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {ApiObjects} from '../contract/api-objects.js';
import type {ProvisionedVolume} from '../managers/volumes/provisioning/provisioned-volume-store.js';
import type {VolumeProvisioner} from '../managers/volumes/provisioning/volume-provisioner.js';

/** Period in which volumes of claims that are gone are looked for, in ms. */
const PERIOD_MS = 10_000;

/** Options of {@link runVolumeReclaim}. */
export interface VolumeReclaimOptions {
  readonly provisioner: Pick<VolumeProvisioner, 'reclaim'>;
  /** Objects of the manifests. */
  readonly objects: ApiObjects;
  readonly allSourcesReady: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Has CSI drivers delete the volumes of claims that the manifests have no longer, until the signal aborts. Only a claim that this
 * process has seen can be gone: a daemon that starts with another or an empty directory must not delete the data of a node. It must
 * be missing twice in a row: a file that is replaced may be missing for a moment.
 */
export async function runVolumeReclaim(
  {provisioner, objects, allSourcesReady, clock, logger}: VolumeReclaimOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = logger.forFile('run-volume-reclaim.ts');
  const seen = new Set<string>();
  let missing: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    await pause(clock, PERIOD_MS, signal).catch(() => undefined); // aborted
    if (isAborted(signal) || !allSourcesReady()) continue;
    const before = missing;
    const now = new Set<string>();
    const isWanted = ({claim, manager, ownerUid}: ProvisionedVolume): boolean => {
      if (ownerUid !== undefined) return false;
      const [namespace = '', name = ''] = claim.split('/');
      const isPresent = objects.claimSpec?.(namespace, name) !== undefined;
      if (isPresent) seen.add(claim);
      if (manager !== 'kubelet' || isPresent || !seen.has(claim)) return true;
      now.add(claim);
      return !before.has(claim);
    };
    try {
      const {reclaimed, errors} = await provisioner.reclaim(isWanted, signal);
      for (const {name, claim, isRetained} of reclaimed)
        log.info(isRetained ? 'Retained the volume of a claim' : 'Deleted the volume of a claim', {
          PVC: claim,
          PV: name,
        });
      for (const error of errors) log.error(error, 'Failed to delete the volume of a claim');
    } catch (error) {
      if (isAborted(signal)) return;
      if (!isExpectedError(error)) throw error;
      log.error(error, 'Failed to look for volumes without a claim');
    }
    missing = now;
  }
}

/** Reads the signal again after a wait. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
