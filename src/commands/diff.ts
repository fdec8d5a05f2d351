import * as Args from '@oclif/core/args';
import {BaseCommand} from '../cli/command/base-command.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {POD_CONTAINER_FLAG} from '../features/containers/select-containers.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Diff extends BaseCommand {
  static override summary = 'Show files of a container that differ from its image';
  static override description =
    'Prints added (A), changed (C) and deleted (D) files, as docker diff does, without the volumes of the ' +
    'container. The container need not run.\n\nReads the upper directory of the overlay filesystem, so the ' +
    'runtime must use one. Must run as root on the machine of the container.';
  static override usage = 'diff CONTAINER [FLAGS]';
  static override examples = [
    '<%= config.bin %> diff shop/web',
    "<%= config.bin %> diff main -o json | jq -r '.changes[].path'",
  ];
  static override args = {
    container: Args.string({
      ignoreStdin: true,
      description: 'ID, ID prefix, name, or POD/NAME of the container; or a pod.',
    }),
  };
  static override flags = {...outputFlags(FORMATS), ...NO_HEADERS_FLAG, ...POD_CONTAINER_FLAG};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Diff);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {printDiff} = await import('../features/files/print-diff.js');
    await printDiff(this.services, args.container, {form, container: flags.container});
  }
}
