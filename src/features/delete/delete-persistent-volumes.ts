import {KcriError, UsageError} from '../../base/errors.js';
import {isPathSegment} from '../../base/fs/files.js';
import type {OutputContext, RuntimeContext} from '../../cli/command/contexts.js';

/** Start of a word that names a PersistentVolume. */
const VOLUME = /^(?:pv|persistentvolumes?)\/(?=.)/;

/** Words of a command line: names of PersistentVolumes, and the others. */
export interface VolumeWords {
  readonly volumes: readonly string[];
  readonly others: readonly string[];
}

/** Divides words into PersistentVolumes, `pv/NAME`, and others. Throws UsageError for invalid names. */
export function divideVolumes(words: readonly string[]): VolumeWords {
  const names = words.filter((word) => VOLUME.test(word)).map((word) => word.replace(VOLUME, ''));
  const invalid = names.find((name) => !isPathSegment(name));
  if (invalid !== undefined)
    throw new UsageError(`invalid PersistentVolume "${invalid}"`, {hint: 'name it pv/NAME'});
  return {volumes: [...new Set(names)], others: words.filter((word) => !VOLUME.test(word))};
}

/**
 * Removes the records of PersistentVolumes that were retained after their claims, and says where their data stays. Reports those that
 * cannot be deleted, and continues with the others.
 */
export async function deletePersistentVolumes(
  {settings, out, report, signal}: RuntimeContext & OutputContext,
  names: readonly string[],
): Promise<void> {
  const {forgetReleasedVolume} = await import('../../kubelet/index.js');
  for (const name of names)
    try {
      const {volume} = await forgetReleasedVolume(settings, name, signal);
      out.print(`persistentvolume "${name}" deleted`);
      const {driver = '', volumeHandle = ''} = volume?.spec.csi ?? {};
      report.info(`its data stays with the CSI driver "${driver}" as the volume "${volumeHandle}"`);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      report.fail(error);
    }
}
