import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {PodCommand} from '../cli/pod-command.js';
import {POD_FLAGS} from '../cli/pod-flags.js';
import {planData, planText} from '../cli/views/plan.js';

export default class Plan extends PodCommand {
  static override summary = 'Show the CRI calls that a sync would make now';
  static override description =
    'Looks at what runs and lists what "kcri sync" would ask of the runtime, call by call and field by field. ' +
    'Nothing is changed. Init containers are taken to succeed.';
  static override usage = 'plan [OPTIONS] FILE|DIR|-...';
  static override strict = false;
  static override examples = ['kcri plan examples/web.yaml', 'kcri plan web.yaml -o json'];
  static override flags = {
    ...POD_FLAGS,
    output: Flags.custom<'text' | 'json' | 'yaml'>({options: ['text', 'json', 'yaml'], default: 'text'})({
      char: 'o',
      description: 'text, json or yaml; requests are then in proto JSON with the names of the .proto file.',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Plan);
    if (argv.length === 0) throw new UsageError('no manifest is given');
    const {node, pods, objects} = await this.loadPods(argv as string[], flags);
    const {planPods} = await import('../kubelet/index.js');
    const plans = await planPods(
      {...node, objects},
      pods.map(({pod}) => pod),
      this.signal,
    );
    if (flags.output === 'text') this.print(planText(plans));
    else if (flags.output === 'json') this.print(JSON.stringify(planData(plans), undefined, 2));
    else {
      const {stringify} = await import('yaml');
      this.print(stringify(planData(plans)).trimEnd());
    }
  }
}
