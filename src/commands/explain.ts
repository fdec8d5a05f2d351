import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';

export default class Explain extends BaseCommand {
  static override summary = 'Show the fields of a manifest, and whether kcri honors them';
  static override description =
    'Lists the fields of an object, or of the object in a field, with their types and values, as "kubectl explain" does, ' +
    'but without descriptions. Of the fields of a Pod it also tells which ones kcri ignores, because they have no effect ' +
    'on any node, and which ones it rejects; all others are honored. No runtime is needed.';
  static override usage = 'explain KIND[.FIELD...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> explain pod.spec.containers',
    '<%= config.bin %> explain deployment.spec.template.spec.volumes --recursive',
    '<%= config.bin %> explain pod.spec.schedulingGates',
  ];
  static override args = {
    field: Args.string({
      ignoreStdin: true,
      description: 'Kind of an object, such as pod or deployment, and fields, separated by dots.',
    }),
  };
  static override flags = {
    recursive: Flags.boolean({description: 'List the fields of all objects below, too.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Explain);
    const [kind = '', ...path] = (args.field ?? '').split('.');
    if (kind === '')
      throw new UsageError('no field specified', {hint: 'name one, such as pod.spec.containers'});
    const [{explainField}, {findSchema}, {FIELD_RULES}] = await Promise.all([
      import('../features/explain/explain-field.js'),
      import('../features/explain/explained-objects.js'),
      import('../kubelet/index.js'),
    ]);
    // kubectl accepts the brackets of a list, and a dot at the end.
    const names = path.map((name) => name.replace(/\[\d*\]$/, '')).filter((name) => name !== '');
    this.out.printText(
      explainField(findSchema(kind), names, {rules: FIELD_RULES, recursive: flags.recursive}),
    );
  }
}
