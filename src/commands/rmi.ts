import * as Flags from '@oclif/core/flags';
import {atLeastOneOrHelp, imageArgs, noWordsBesideAll} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {imageJudge, judgeImages, removeImage, type JudgedImage} from '../operations/remove-images.js';

const AT_ONCE = 16;

interface RmiFlags {
  readonly all: boolean;
  readonly prune: boolean;
  readonly force: boolean;
}

export default class Rmi extends BaseCommand {
  static override summary = 'Remove images';
  static override description =
    'The CRI removes images, not tags: an image goes with all its tags. So one with other tags than the one that is ' +
    'named is only removed with --force, and neither is one that the runtime has pinned or that a container uses.';
  static override usage = 'rmi IMAGE... [OPTIONS]';
  static override examples = [
    '<%= config.bin %> rmi docker.io/library/nginx:1.27',
    '<%= config.bin %> rmi --prune',
    '<%= config.bin %> rmi --all',
    '<%= config.bin %> rmi --force 120940cca8359',
  ];
  static override args = imageArgs;
  static override flags = {
    all: Flags.boolean({
      char: 'a',
      description: 'Remove all images but those that are pinned or in use by a container, and name these.',
    }),
    prune: Flags.boolean({char: 'q', description: 'Remove all unused images, without naming the others.'}),
    force: Flags.boolean({
      char: 'f',
      description: 'Remove images with all their tags, also pinned ones and those that containers use.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rmi);
    const named = args.image ?? [];
    if (!this.compat) noWordsBesideAll(named, flags);
    if (!flags.all && !flags.prune) atLeastOneOrHelp(named);
    await (this.compat ? this.#runAsCrictl(named, flags) : this.#run(named, flags));
  }

  async #run(named: readonly string[], flags: RmiFlags): Promise<void> {
    const {signal} = this;
    const services = await this.cri();
    const swept = flags.all || flags.prune ? await judgeImages(services, signal) : [];
    const refs = [...this.#goingOf(swept, flags), ...named];
    if (refs.length === 0) this.note('No images to remove');
    const judge = flags.force || named.length === 0 ? undefined : await imageJudge(services, signal);
    await this.#remove(refs, async (ref) => await removeImage(services, ref, {signal, judge}));
  }

  /** The ids of the images that a sweep takes; the others are named where the user said all. */
  #goingOf(swept: readonly JudgedImage[], {all, prune, force}: RmiFlags): readonly string[] {
    const stays = ({need}: JudgedImage): boolean => need !== undefined && !(all && force);
    if (!prune)
      for (const {image, need} of swept.filter(stays))
        this.note(`kept ${image.repoTags[0] ?? image.id}: ${need ?? ''}`);
    return swept.filter((each) => !stays(each)).map(({image}) => image.id);
  }

  async #runAsCrictl(refs: readonly string[], {all, prune}: RmiFlags): Promise<void> {
    const {crictlRemovals, crictlRemoveImage} = await import('../cli/compat/remove-images.js');
    const {signal} = this;
    const services = await this.cri();
    const telling = {
      signal,
      warn: (text: string) => void this.warn(text),
      complain: (text: string) => {
        this.complain(text);
      },
    };
    const ids = await crictlRemovals(services, {refs, all, prune}, telling);
    if (ids === undefined) this.note('No images to remove');
    await this.#remove(ids ?? [], (ref) => crictlRemoveImage(services.images, ref, {prune, ...telling}));
  }

  async #remove(refs: readonly string[], remove: (ref: string) => Promise<readonly string[]>): Promise<void> {
    const targets = [...new Set(refs)].map((ref) => ({kind: 'found', ref, id: ref}) as const);
    const removeOne = async (ref: string): Promise<void> => {
      this.printAll(await remove(ref), (name) => `Deleted: ${name}\n`);
    };
    await this.forEachTarget(targets, removeOne, AT_ONCE);
  }
}
