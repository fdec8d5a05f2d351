import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG} from '../cli/flags/flag-types.js';
import {POD_SELECTION_FLAGS} from '../features/pods/pod-selection-flags.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {formatPods} from '../features/pods/pod-text.js';
import {describePods} from '../features/describe/describe-pods.js';
import {hasSeveralNodes, requireOneNode} from '../features/pods/pods-of-nodes.js';
import {PodReader} from '../features/pods/pod-reader.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Describe extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Show details and events of pods';
  static override description =
    'Shows what "kubectl describe pod" shows: containers and their states, conditions, volumes, and ' +
    'recent events. A workload, such as deployment/web, stands for its pods. Without names, describes all pods that match the flags. Of pods that kcri did not ' +
    'create, what the runtime reports is shown. The mounts of volumes follow the events: state, paths, times and failures.\n\nFor a pod that a running ' +
    'kubelet manages, it also shows probe results, back-offs, and the last and next sync. If the ' +
    'runtime of a pod is unavailable, the last known state is shown with a warning. Of several nodes, running or saved ones, the pods of each follow a line with its name.';
  static override usage = 'describe [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> describe web',
    '<%= config.bin %> describe -l app=web',
    '<%= config.bin %> describe web -o yaml',
  ];
  static override flags = {
    ...POD_SELECTION_FLAGS,
    explain: Flags.boolean({
      description:
        'Show the config that the runtime received for the sandbox and each container, and where each of its values comes ' +
        'from: the manifest, a default, a fact of the node or the configuration. What is not known is said to be unknown.',
    }),
    ...FROM_FLAG,
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Describe);
    const words = argv as string[];
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    if (hasSeveralNodes(this.services)) {
      requireOneNode(flags, ['explain']);
      const {describePodsOfNodes} = await import('../features/describe/describe-pods-of-nodes.js');
      await describePodsOfNodes(this.services, form, words, flags);
      return;
    }
    const reader = new PodReader(this.services);
    const listed = await reader.select(words, flags);
    reader.requireRuntime();
    if (words.length > 0 && listed.length === 0) return;
    const observed = await reader.observe(listed);
    reader.requireRuntime();
    if (flags.explain) {
      const {explainPods} = await import('../features/describe/explain-pods.js');
      const explained = await explainPods(this.services, observed);
      if (form.kind !== 'table') {
        this.out.printData(await explained.data(form.kind));
        return;
      }
      // Escaped, except for its colors.
      this.out.stdout.write(explained.text());
      return;
    }
    if (form.kind !== 'table') {
      const pods = observed.map(({pod}) => pod);
      this.out.printData(await formatPods(form, pods, words.length === 1 && pods.length === 1));
      return;
    }
    if (observed.length === 0) this.report.info('No resources found');
    this.out.printText((await describePods(this.services, reader, observed)).join('\n\n'));
  }
}
