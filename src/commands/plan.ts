import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {PodCommand} from '../cli/pod-command.js';
import {nodeOptions, POD_FLAGS, type PodFlagValues} from '../cli/pod-flags.js';
import type {Connection} from '../cri/index.js';
import type {DescribedNode} from '../kubelet/index.js';
import {planData, planText} from '../cli/views/plan.js';

export default class Plan extends PodCommand {
  static override summary = 'Show the CRI calls that a sync would make now';
  static override description =
    'Looks at what runs and lists what "kcri sync" would ask of the runtime, call by call and field by field. For a ' +
    'pod that is there already it shows what would change and why: in the manifest, and in what its sandbox and ' +
    'containers are made from. Nothing is changed. Init containers are taken to succeed. Values from Secrets are not ' +
    'shown.';
  static override usage = 'plan [OPTIONS] FILE|DIR|-...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> plan examples/web.yaml',
    '<%= config.bin %> plan web.yaml --explain',
    '<%= config.bin %> plan web.yaml --offline -o json',
  ];
  static override flags = {
    ...POD_FLAGS,
    explain: Flags.boolean({
      description: "Say of each call why it is made, and by which rule of the kubelet's.",
    }),
    offline: Flags.boolean({
      description:
        'Plan for an empty runtime and a new pod; nothing is connected to, and no pod of kcri looked at.',
    }),
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
      {...node, objects, offline: flags.offline},
      pods.map(({pod}) => pod),
      this.signal,
    );
    if (flags.output === 'text') this.print(planText(plans, flags));
    else if (flags.output === 'json') this.print(JSON.stringify(planData(plans, flags), undefined, 2));
    else {
      const {stringify} = await import('yaml');
      this.print(stringify(planData(plans, flags)).trimEnd());
    }
  }

  protected override async describeNode(
    flags: PodFlagValues & {readonly offline?: boolean} = {},
    connection?: Connection,
  ): Promise<DescribedNode> {
    if (flags.offline !== true) return await super.describeNode(flags, connection);
    const {describeOfflineNode} = await import('../kubelet/index.js');
    const {clock, cgroupMount} = this.context;
    return await describeOfflineNode({...nodeOptions(flags, this.rootDir), cgroupMount}, clock);
  }
}
