import {setVolumeOwnership, type VolumeOwnership} from '../fs-group-ownership.js';
import {timeOperation} from '../time-operation.js';
import type {VolumeHost} from './volume-plugin.js';

/** A volume whose files get the group of a pod. */
interface OwnedVolume extends VolumeOwnership {
  /** Name of its plugin in metrics. */
  readonly plugin: string;
  readonly path: string;
}

/** Gives the files of a volume the group of its pod and reports that, if the pod has one (FSGroupCompleteHook). Rejects with SystemError. */
export async function setOwnership(
  {clock, operated}: Pick<VolumeHost, 'clock' | 'operated'>,
  {plugin, path, ...ownership}: OwnedVolume,
): Promise<void> {
  if (ownership.fsGroup === undefined) return;
  const operation = {plugin, operation: 'volume_apply_access_control'} as const;
  await timeOperation(operation, {clock, report: (completed) => operated?.(completed)}, () =>
    setVolumeOwnership(path, ownership),
  );
}
