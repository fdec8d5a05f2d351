import * as Flags from '@oclif/core/flags';
import {atLeastOne, imageArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {removeImage, sweepImages} from '../operations/remove-images.js';
import type {Target} from '../operations/resolve.js';

const AT_ONCE = 16;

export default class Rmi extends BaseCommand {
  static override summary = 'Remove images';
  static override description =
    'The CRI removes images, not tags: naming one tag of an image removes the image with all its tags.';
  static override usage = 'rmi IMAGE... [OPTIONS]';
  static override args = imageArgs;
  static override flags = {
    all: Flags.boolean({
      char: 'a',
      description: 'Remove all images but those that are pinned or in use by a container, and name these.',
    }),
    prune: Flags.boolean({char: 'q', description: 'Remove all unused images.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rmi);
    const {signal} = this;
    const sweeping = flags.all || flags.prune;
    const named = args.image ?? [];
    const refs = sweeping ? [...(await this.#unused(flags.all)), ...named] : atLeastOne(named);
    if (refs.length === 0) this.note('No images to remove');
    const services = await this.cri();
    const targets = [...new Set(refs)].map((ref): Target<string> => ({kind: 'found', ref, id: ref}));
    const remove = async (ref: string): Promise<void> => {
      const onSeveralTags = (tags: readonly string[]): void => {
        this.warn(
          `Image "${ref}" has multiple tags. Removing this image will delete all of the following tags: ${tags.join(' ')}`,
        );
      };
      const names = await removeImage(services, ref, {signal, onSeveralTags});
      this.printAll(names, (name) => `Deleted: ${name}\n`);
    };
    await this.forEachTarget(targets, remove, AT_ONCE);
  }

  async #unused(tellKept: boolean): Promise<readonly string[]> {
    const {unused, kept} = await sweepImages(await this.cri(), this.signal);
    if (tellKept)
      for (const {image, reason} of kept) this.note(`kept ${image.repoTags[0] ?? image.id}: ${reason}`);
    return unused.map(({id}) => id);
  }
}
