import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import {
  imageArgs,
  rejectArgumentsWithAll,
  requireArgumentsOrHelp,
} from '../cli/flags/positional-arguments.js';
import {planImageRemoval} from '../features/images/remove-images.js';

/** Number of images removed concurrently. */
const PARALLELISM = 16;

export default class Rmi extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Remove images';
  static override description =
    'Removing an image removes all its tags, except on CRI-O, where a tag is removed alone if the image ' +
    'has others. Without --force, an image is kept if it has other tags than the given one, is pinned, or ' +
    'is used by a container.';
  static override aliases = ['image rm', 'image remove'];
  static override usage = 'rmi IMAGE... [FLAGS]';
  static override examples = [
    '<%= config.bin %> rmi docker.io/library/nginx:1.27',
    '<%= config.bin %> rmi --prune',
    '<%= config.bin %> rmi --force 120940cca8359',
  ];
  static override args = imageArgs;
  static override flags = {
    all: Flags.boolean({
      char: 'a',
      description: 'Remove all images, except pinned and used ones, and report those.',
    }),
    prune: Flags.boolean({char: 'q', description: 'Remove all unused images, without reporting the others.'}),
    force: Flags.boolean({
      char: 'f',
      description: 'Remove images with all their tags, even if they are pinned or used by containers.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rmi);
    const named = args.image ?? [];
    this.dialect.checkUsage(() => {
      rejectArgumentsWithAll(named, flags);
    });
    if (!flags.all && !flags.prune) requireArgumentsOrHelp(named, 'image');
    const plan = await this.dialect.strategy('rmi', planImageRemoval);
    const {refs, remove, isSerial} = await plan(this.services, named, flags);
    const targets = [...new Set(refs)].map((ref) => ({kind: 'found', ref, id: ref}) as const);
    const removeOne = async (ref: string): Promise<void> => {
      this.out.printAll(await remove(ref), (name) => `Deleted: ${name}\n`);
    };
    await forEachTarget(this.services, targets, removeOne, isSerial ? 1 : PARALLELISM);
  }
}
