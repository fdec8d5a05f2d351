import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {listFlag, nonEmptyFlags} from '../../cli/flags/flag-types.js';
import {PodReader} from '../../features/pods/pod-reader.js';
import {createImageReservations} from '../../features/prune/image-reservations.js';
import {parseUntilFilter} from '../../features/prune/parse-image-filters.js';
import {CONFIRMATION_FLAGS} from '../../features/prune/prune-flags.js';
import {pruneSystem, readPrunablePods} from '../../features/prune/prune-system.js';
import {checkConfirmable} from '../../cli/terminal/confirm.js';
import {parseSince} from '../../operations/logs/parse-since.js';
import {ImagePruner} from '../../operations/prune/image-pruner.js';
import {planPrune} from '../../operations/prune/plan-prune.js';

export default class SystemPrune extends BaseCommand {
  static override summary = 'Remove exited containers, stopped pods and unused images';
  static override description =
    'Removes exited containers with their logs, pods that are not ready or whose kcri run has ended, and images without a tag, or with --all ' +
    'all unused images. Pods that kcri or a kubelet manages are left alone. Pinned images, and images that ' +
    'a container in any state or a pod of kcri uses, are kept. What would be removed is listed ' +
    'first, and everything is checked again just before it is removed.\n\nThe runtime reports only sizes of whole ' +
    'images; layers that images share make the freed space a range.';
  static override usage = 'system prune [FLAGS]';
  static override examples = [
    '<%= config.bin %> system prune --dry-run',
    '<%= config.bin %> system prune --all --until=24h --yes',
  ];
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'Remove all unused images, not only those without a tag.'}),
    ...CONFIRMATION_FLAGS,
    ...nonEmptyFlags({
      until: Flags.string({
        helpValue: 'TIME',
        description:
          'Remove only containers and pods created, and images built, before this time, such as 24h or 2026-11-20.',
      }),
      filter: listFlag({helpValue: 'until=TIME', description: 'The same as --until, as in docker.'}),
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(SystemPrune);
    const {services, signal, context} = this;
    checkConfirmable(context, flags);
    const until = flags.until ?? parseUntilFilter(flags.filter ?? []);
    const before = until === undefined ? undefined : parseSince(until, context.clock.now(), 'until');
    const connection = await this.cri();
    const listed = await new PodReader(services).select([], {});
    const plan = planPrune(readPrunablePods(listed), before);
    const containers = [
      ...plan.containers.map(({container}) => container),
      ...plan.sandboxes.flatMap((each) => each.containers),
    ];
    const pruner = new ImagePruner(connection, {
      all: flags.all,
      builtBeforeMs: before === undefined ? undefined : Number(before / 1_000_000n),
      reservedBy: createImageReservations(listed),
      removedContainers: new Set(containers.map(({id}) => id)),
      signal,
    });
    await pruneSystem(services, {connection, plan, pruner, flags});
  }
}
