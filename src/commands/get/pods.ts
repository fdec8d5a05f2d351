import {checkExitCodeFlag} from '../../features/lists/list-flags.js';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {getFlags} from '../../features/get/get-flags.js';
import {parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {POD_FORMATS, PodListing} from '../../features/get/pod-listing.js';
import {hasSeveralNodes, requireOneNode} from '../../features/pods/pods-of-nodes.js';
import {PodReader} from '../../features/pods/pod-reader.js';
import {selectPodsToShow} from '../../features/get/watch-pods.js';

export default class GetPods extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'List pods with their status';
  static override description =
    'Lists what "kubectl get pods" lists: ready containers, status, restarts and age. Pods created by kcri ' +
    'are shown in full; if their runtime is unavailable, with their last known state and a warning. Of other ' +
    'pods of the runtime, what the runtime reports is shown, and a running container counts as ready.\n\n' +
    'The manager of a pod is kcri, a kubelet (also kcri with another root directory), or <none> for pods of ' +
    'crictl and other CRI clients. Of a remote node, kcri has no records: its pods are shown as the runtime knows them. ' +
    'Of several nodes, running or saved ones, the first column and the field "node" name the node of each pod.';
  static override usage = 'get pods [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get pod/web -o wide --watch',
    '<%= config.bin %> get pods deployment/web --show-labels',
    "<%= config.bin %> get pods -l app=web -o jsonpath='{.items[*].status.podIP}'",
  ];
  static override flags = {
    ...getFlags(POD_FORMATS, 'Watch for changes of the listed pods.'),
    'show-labels': Flags.boolean({description: 'Show the labels of each pod in the last column.'}),
    'sort-by': Flags.string({
      helpValue: 'JSONPATH',
      description: 'Sort by a field, such as .metadata.creationTimestamp. [default: namespace and name]',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetPods);
    checkExitCodeFlag(flags);
    const form = await parseOutputFormat(flags, POD_FORMATS, this.services);
    const options = {
      form,
      header: !flags['no-headers'],
      exitCode: flags['exit-code'],
      sortBy: flags['sort-by'],
      labels: flags['show-labels'],
    };
    if (hasSeveralNodes(this.services)) {
      requireOneNode(flags, ['watch']);
      const {listPodsOfNodes} = await import('../../features/get/list-pods-of-nodes.js');
      await listPodsOfNodes(this.services, argv as string[], flags, options);
      return;
    }
    const reader = new PodReader(this.services);
    const selected = await selectPodsToShow(reader, argv as string[], flags);
    if (selected === undefined) return;
    const listing = new PodListing(this.services, reader, selected, options);
    await (flags.watch ? listing.watch() : listing.print());
  }
}
