import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT_CODE_FLAG, setListExitCode} from '../../features/lists/list-flags.js';
import {POD_SELECTION_FLAGS} from '../../features/pods/pod-selection-flags.js';
import {formatObjects, sortByPath} from '../../features/pods/pod-text.js';
import {listVolumes} from '../../features/volumes/list-volumes.js';
import {namespaceOf, volumeColumns, volumeObject, volumeTitle} from '../../features/volumes/volume-table.js';
import {GrowingTable} from '../../format/growing-table.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

export default class GetVolumes extends BaseCommand {
  static override summary = 'List the volumes of the node';
  static override description =
    'Lists the volumes of all pods of this machine with their kind, CSI driver, state and usage; the wide table adds claims, ' +
    'paths and the causes of errors. It reads the root directory of kcri and /var/lib/kubelet, so it also shows the ' +
    'volumes of other kubelets, volumes that are staged for no pod, those of claims that no pod uses, and ' +
    'directories of pods that do not exist anymore.\n\n' +
    'States: mounted; published (mounted by a CSI driver); staged (prepared, but not mounted for the pod); pending; error; ' +
    'orphaned (its pod does not exist); unused; released (kept by the reclaim policy Retain, until "kcri delete pv/NAME"). As in a kubelet, hostPath volumes are not measured. A filesystem that does not answer ' +
    'within a second is an error.';
  static override usage = 'get volumes [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get volumes',
    '<%= config.bin %> get volumes web -o wide',
    '<%= config.bin %> get volumes -o jsonpath=\'{.items[?(@.state=="error")].message}\'',
  ];
  static override flags = {
    ...POD_SELECTION_FLAGS,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'List volumes of all namespaces, and show the namespaces.',
    }),
    'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
    'sort-by': Flags.string({
      helpValue: 'JSONPATH',
      description: 'Sort by a field, such as .usage.usedBytes. [default: the pods of the volumes]',
    }),
    ...EXIT_CODE_FLAG,
    ...outputFlags(FORMATS),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetVolumes);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {out, report} = this;
    const listed = await listVolumes(this.services, argv as string[], flags);
    if (listed === undefined) return;
    const volumes = await sortByPath(listed, volumeObject, flags['sort-by']);
    setListExitCode(report, flags, volumes.length);
    if (form.kind === 'name') {
      out.printAll(volumes, (row) => `${volumeTitle(row)}\n`);
      return;
    }
    if (form.kind !== 'table' && form.kind !== 'wide') {
      out.printData(await formatObjects(form, volumes.map(volumeObject), false));
      return;
    }
    if (volumes.length === 0 && !flags['exit-code']) report.info('No resources found');
    const isElsewhere = volumes.some(({volume}) => (namespaceOf(volume) ?? 'default') !== 'default');
    const namespace = flags['all-namespaces'] || (flags.namespace === undefined && isElsewhere);
    const columns = volumeColumns({wide: form.kind === 'wide', namespace});
    out.printText(new GrowingTable(columns, {header: !flags['no-headers']}).text(volumes));
  }
}
