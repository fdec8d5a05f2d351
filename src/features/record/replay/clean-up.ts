import {messageOf} from '../../../base/errors.js';
import type {Connection, PodSandboxId} from '../../../cri/index.js';
import type {ReplayImages} from './replay-images.js';
import {removeCgroups, removeReplayDirectory} from './replay-place.js';

/** Pods, images, files and cgroups that a replay has created. */
export interface ReplayRemains {
  /** UIDs of its pods, which no other pod has. */
  readonly uids: ReadonlySet<string>;
  readonly images: Pick<ReplayImages, 'pulled' | 'remove'>;
  readonly directory: string;
  /** Mount point of cgroups, undefined without one, and name of the replay's directory in them. */
  readonly cgroupMount: string | undefined;
  readonly cgroups: string;
}

/** Removes the pods, images, files and cgroups of a replay, whatever fails. Returns messages of failures. */
export async function cleanUp(
  {runtime}: Pick<Connection, 'runtime'>,
  remains: ReplayRemains,
): Promise<readonly string[]> {
  const failures: string[] = [];
  const attempt = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    await act().catch((error: unknown) => failures.push(`${what}: ${messageOf(error)}`));
  };
  await attempt('listing pods', async () => {
    const {items} = await runtime.listPodSandbox({});
    for (const {id, metadata} of items)
      if (remains.uids.has(metadata?.uid ?? ''))
        await attempt(`removing pod ${id}`, () => removePod(runtime, id));
  });
  for (const image of remains.images.pulled)
    await attempt(`removing image ${image}`, () => remains.images.remove(image));
  await attempt('removing files', () => removeReplayDirectory(remains.directory));
  const {cgroupMount} = remains;
  if (cgroupMount !== undefined)
    await attempt('removing cgroups', () => removeCgroups(cgroupMount, remains.cgroups));
  return failures;
}

async function removePod(runtime: Connection['runtime'], podSandboxId: PodSandboxId): Promise<void> {
  await runtime.stopPodSandbox({podSandboxId});
  await runtime.removePodSandbox({podSandboxId});
}
