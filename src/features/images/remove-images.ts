import {
  createImageUsageCheck,
  listImageUsage,
  removeImage,
  type ImageUsage,
} from '../../operations/images/remove-image.js';
import type {CommandContext, ReportContext} from '../../cli/command/contexts.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly rmi: RemoveImagesStrategy;
  }
}

/** Values of the flags of `rmi`. */
export interface RmiFlags {
  readonly all: boolean;
  readonly prune: boolean;
  readonly force: boolean;
}

/** Images to remove, and options of the removal. */
export interface ImageRemoval {
  readonly refs: readonly string[];
  /** True if the images must be removed one after the other. */
  readonly isSerial: boolean;
  /** Removes an image and returns its former names. Rejects with KcriError. */
  readonly remove: (ref: string) => Promise<readonly string[]>;
}

/** Returns the images to remove for a command line. Rejects with KcriError. */
export type RemoveImagesStrategy = (
  services: CommandContext,
  named: readonly string[],
  flags: RmiFlags,
) => Promise<ImageRemoval>;

/** kcri's removal: images in use stay unless forced. */
export const planImageRemoval: RemoveImagesStrategy = async (services, named, flags) => {
  const {connections, report, signal} = services;
  const connection = await connections.default();
  const swept = flags.all || flags.prune ? await listImageUsage(connection, signal) : [];
  const refs = [...unusedImages(services, swept, flags), ...named];
  if (refs.length === 0) report.info('No images to remove');
  const usageCheck =
    flags.force || named.length === 0 ? undefined : await createImageUsageCheck(connection, signal);
  const removed = new Set<string>();
  const remove = async (ref: string): Promise<readonly string[]> => {
    if (removed.has(ref)) return [];
    const names = await removeImage(connection, ref, {signal, usageCheck});
    for (const name of names) removed.add(name);
    return names;
  };
  // Named images can be tags of one image, of which only the last one takes the image with it.
  return {refs, remove, isSerial: named.length > 0};
};

/** Returns the IDs of the images to remove; --all reports the others. */
function unusedImages(
  {report}: ReportContext,
  swept: readonly ImageUsage[],
  {all, prune, force}: RmiFlags,
): readonly string[] {
  const stays = ({inUseReason}: ImageUsage): boolean => inUseReason !== undefined && !(all && force);
  if (!prune)
    for (const {image, inUseReason} of swept.filter(stays))
      report.info(`kept ${image.repoTags[0] ?? image.id}: ${inUseReason ?? ''}`);
  return swept.filter((usage) => !stays(usage)).map(({image}) => image.id);
}
