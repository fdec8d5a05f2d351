import type {ExpandableVolume, ExpandOptions} from '../../../contract/volumes/csi-volumes.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';

/**
 * Enlarges a PersistentVolume with `expandOnNode`, if its controller has enlarged it. `plugin` is the name of its plugin. Resolves and
 * rejects like CsiVolumes.expandOther.
 */
export async function expandOnNode(
  {csi}: Pick<VolumeHost, 'csi'>,
  {pod, name, readOnly = false, expansion}: PodVolume<unknown>,
  {plugin, options, expand}: ExpandCall,
): Promise<boolean> {
  if (expansion === undefined || csi?.expandOther === undefined) return true;
  const uniqueName = `${plugin}/${name}`;
  const volume = {pod, name, plugin, readOnly, expansion, uniqueName, expandOnNode: expand};
  return await csi.expandOther(volume, options);
}

/** Plugin of a volume, and its way to enlarge one. */
interface ExpandCall {
  readonly plugin: string;
  readonly options: ExpandOptions;
  readonly expand: ExpandableVolume['expandOnNode'];
}
