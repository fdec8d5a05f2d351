import * as Flags from '@oclif/core/flags';
import type {ChalkInstance} from 'chalk';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {FILENAME_FLAG, PRUNE_FLAGS} from '../features/manifests/manifest-flags.js';
import {nodeOptions, POD_FLAGS, type PodFlagValues} from '../features/manifests/pod-flags.js';
import {kubeletRootDir} from '../features/kubelet/kubelet-defaults.js';
import {EXIT} from '../cli/process/exit-codes.js';
import {exitCodeOf} from '../cli/output/render-error.js';
import {hasChanges} from '../features/plan/plan-summary.js';
import {planData, planText, planYaml} from '../features/plan/plan-text.js';
import {
  parsePruneScope,
  requireInScope,
  selectPrunedPods,
  type PruneFlagValues,
} from '../features/sync/prune-scope.js';
import {fetchKubeletReport} from '../features/node/kubelet-reports.js';
import {readCommandNode} from '../features/manifests/read-command-node.js';
import {
  loadPods,
  type LoadedPods,
  type LoadedServices,
  type ManifestFlagValues,
} from '../features/manifests/load-pods.js';
import type {NodeAndRuntime, PodPlan, PodRecord} from '../kubelet/index.js';

/** Flags that only concern manifests. */
const OF_MANIFESTS = [
  'offline',
  'static',
  'lenient',
  'strict',
  'replicas',
  'namespace',
  'image',
  'set-image',
  'filename',
  'prune',
  'selector',
] as const;

const TAKEOVER = /^--takeover(?:=true)?$/;

/** Flags of plan that also apply to a takeover, in addition to those of a kubelet. */
const TAKEOVER_FLAGS = {
  takeover: Flags.boolean({
    description: 'Show what would happen if kcri took the place of the kubelet of the root directory.',
  }),
  output: Flags.custom<'text' | 'json' | 'yaml'>({options: ['text', 'json', 'yaml'], default: 'text'})({
    char: 'o',
    helpValue: 'FORMAT',
    description:
      'Output format: text, json or yaml. JSON and YAML use the field names of the .proto file. ' +
      '[default: text]',
  }),
};

/** Values of the flags. */
interface PlanFlagValues extends ManifestFlagValues, PruneFlagValues {
  readonly filename?: readonly string[] | undefined;
  readonly offline: boolean;
  readonly diff: boolean;
  readonly explain: boolean;
  readonly all: boolean;
  readonly kubeconfig?: string | undefined;
  readonly output: 'text' | 'json' | 'yaml';
}

export default class Plan extends BaseCommand {
  static override summary = 'Show the CRI calls that a sync would make';
  static override description =
    'Prints a summary and every call that "kcri sync" would make, with its fields, and changes nothing. For an ' +
    'existing pod it shows what changed in the manifest and why its sandbox or containers would be ' +
    'replaced. The pods that a workload no longer wants come last: a sync deletes them when the others are ready. If the running "kcri kubelet" of the ' +
    'root directory gives containers CPUs, memory or devices of their own, a new pod is shown with those that it would get from it, or the plan fails with the reason why it would be refused.\n\nWith --kubeconfig, it shows what a kubelet would do about the pods that the API server has ' +
    'for this node: all of them, or those named by POD, NAMESPACE/POD or UID.\n\nWith --takeover and the flags of "kcri kubelet", it shows for each pod what would happen if kcri were started in ' +
    'the place of the kubelet that owns the root directory, by default /var/lib/kubelet, also while that kubelet runs. It exits with 0 if ' +
    'kcri starts and nothing restarts, is preempted or evicted, impossible or unknown, and with 1 otherwise.\n\nThe plan assumes that init containers succeed. Values from Secrets are masked.';
  static override usage =
    'plan [FLAGS] FILE|DIR|URL|-... | --kubeconfig=FILE [POD...] | --takeover [FLAGS OF KUBELET]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> plan examples/web.yaml --explain',
    '<%= config.bin %> plan --explain --kubeconfig=/etc/kubernetes/kubelet.conf',
    '<%= config.bin %> plan --takeover --kubeconfig=/etc/kubernetes/kubelet.conf',
  ];
  static override flags = {
    ...POD_FLAGS,
    ...FILENAME_FLAG,
    ...PRUNE_FLAGS,
    explain: Flags.boolean({
      description:
        'Explain why each call is made, by which rule of the kubelet, and from which field of the manifest, default, ' +
        'fact of the node or configuration each of its values comes.',
    }),
    diff: Flags.boolean({
      description:
        'Show only what changes, without the calls. Exits with 1 if there are changes, with 0 if there are none, and with 2 ' +
        'on an error, like kubectl diff.',
    }),
    all: Flags.boolean({
      description:
        'Show all calls of a changed pod, also those for a sandbox or container whose config stays equal.',
    }),
    offline: Flags.boolean({
      description: 'Plan for a new pod on an empty runtime; do not connect to a runtime or read pod records.',
    }),
    kubeconfig: Flags.string({
      helpValue: 'FILE',
      description: 'Plan the pods that the API server of this kubeconfig has for the node, not manifests.',
    }),
    ...TAKEOVER_FLAGS,
  };

  async run(): Promise<void> {
    if (this.argv.some((word) => TAKEOVER.test(word))) {
      await this.#planTakeover();
      return;
    }
    const {flags, argv} = await this.parse(Plan);
    try {
      if (flags.all && flags.diff) throw new UsageError('--all and --diff are mutually exclusive');
      const plans = await this.#plan(argv as string[], flags);
      await this.#print(plans, flags);
      if (flags.diff && hasChanges(plans)) this.report.setExitCode(EXIT.failed);
    } catch (error) {
      if (flags.diff && exitCodeOf(error) === EXIT.failed) this.report.setExitCode(EXIT.notPlanned);
      throw error;
    }
  }

  async #plan(words: readonly string[], flags: PlanFlagValues): Promise<readonly PodPlan[]> {
    return flags.kubeconfig === undefined
      ? await this.#planManifests([...words, ...(flags.filename ?? [])], flags)
      : await this.#planCluster(flags.kubeconfig, words, flags);
  }

  /** Plans a takeover, with the flags of a kubelet. */
  async #planTakeover(): Promise<void> {
    const [{default: Kubelet}, {isSeamless, planNodeTakeover}, {takeoverData, takeoverText}] =
      await Promise.all([
        import('./kubelet.js'),
        import('../features/plan/node-takeover.js'),
        import('../features/plan/takeover-text.js'),
      ]);
    const {flags} = await this.parse({flags: {...Kubelet.flags, ...TAKEOVER_FLAGS}});
    const takeover = await planNodeTakeover(this.services, flags);
    await this.#printAs(flags.output, {
      data: () => takeoverData(takeover),
      text: (chalk) => takeoverText(takeover, chalk),
    });
    if (!isSeamless(takeover)) this.report.setExitCode(EXIT.failed);
  }

  async #print(plans: readonly PodPlan[], flags: PlanFlagValues): Promise<void> {
    await this.#printAs(flags.output, {
      data: () => planData(plans, flags),
      text: (chalk) => planText(plans, {...flags, chalk}),
      yaml: async () => await planYaml(plans, flags),
    });
  }

  async #printAs(
    output: PlanFlagValues['output'],
    {
      data,
      text,
      yaml,
    }: {
      readonly data: () => unknown;
      readonly text: (chalk: ChalkInstance) => string;
      readonly yaml?: () => Promise<string>;
    },
  ): Promise<void> {
    if (output === 'text') {
      const {Chalk} = await import('chalk');
      this.out.stdout.write(`${text(new Chalk({level: this.out.colors ? 1 : 0}))}\n`);
    } else if (output === 'json') this.out.print(JSON.stringify(data(), undefined, 2));
    else if (yaml !== undefined) this.out.print(await yaml());
    else {
      const {stringify} = await import('yaml');
      this.out.print(stringify(data()).trimEnd());
    }
  }

  async #planManifests(sources: readonly string[], flags: PlanFlagValues): Promise<readonly PodPlan[]> {
    if (sources.length === 0) throw new UsageError('no manifest specified');
    const scope = parsePruneScope(sources, flags);
    const loaded = await loadPods(this.services, sources, flags, () => this.#readCommandNode(flags));
    requireInScope(loaded, scope);
    const {node, pods, objects, services} = loaded;
    const [{planDeletions, planPods}, {selectReplacedPods}, records] = await Promise.all([
      import('../kubelet/index.js'),
      import('../features/manifests/select-replaced-pods.js'),
      this.#readRecords(flags),
    ]);
    if (services !== undefined) await this.#planServices(pods, services, records);
    const options = {...node, objects, offline: flags.offline};
    const deletions = [...selectReplacedPods(records, loaded), ...selectPrunedPods(records, loaded, scope)];
    const wanted = pods.map(({pod}) => pod);
    return [
      ...(await planPods(options, wanted, this.signal)),
      ...(await planDeletions(options, deletions, this.signal)),
    ];
  }

  async #planCluster(
    kubeconfig: string,
    words: readonly string[],
    flags: PlanFlagValues,
  ): Promise<readonly PodPlan[]> {
    if (kubeconfig === '') throw new UsageError('--kubeconfig must not be empty');
    const given = OF_MANIFESTS.filter((name) => ![undefined, false].includes(flags[name] as boolean));
    if (given.length > 0) throw new UsageError(`--${given[0]} and --kubeconfig are mutually exclusive`);
    const {planCluster} = await import('../features/plan/plan-cluster.js');
    // The pods that a kubelet of this cluster has on the node.
    const rootDir = kubeletRootDir(this.settings.globals, this.context.env, {
      asKubelet: false,
      joinsCluster: true,
    });
    this.settings.addGlobals({'root-dir': rootDir});
    return await planCluster(this.services, {kubeconfig, words, flags});
  }

  /** Gives the pods placeholders of addresses, and warns about Services without pods. */
  async #planServices(
    pods: LoadedPods['pods'],
    services: LoadedServices,
    records: readonly PodRecord[],
  ): Promise<void> {
    for (const {pod} of pods) services.local.addPlanned(pod);
    const {describeIdleServices} = await import('../features/sync/sync-services.js');
    const all = [...pods, ...records].map(({pod}) => pod);
    for (const warning of describeIdleServices(services, all)) this.report.warn(warning);
  }

  async #readRecords({offline}: {readonly offline: boolean}): Promise<readonly PodRecord[]> {
    if (offline) return [];
    const {PodStore} = await import('../kubelet/index.js');
    return (await new PodStore(this.settings.rootDir).list()).records;
  }

  async #readCommandNode(flags: PodFlagValues & {readonly offline: boolean}): Promise<NodeAndRuntime> {
    const {describeOfflineNode, withReportedManagers} = await import('../kubelet/index.js');
    if (!flags.offline) {
      const [machine, kubelet] = await Promise.all([
        readCommandNode(this.services, flags),
        fetchKubeletReport(this.services, []),
      ]);
      if (kubelet?.localNode === undefined) return machine;
      return {...machine, node: withReportedManagers(machine.node, kubelet.localNode)};
    }
    const {clock, cgroupMount} = this.context;
    return await describeOfflineNode({...nodeOptions(flags, this.settings.rootDir), cgroupMount}, clock);
  }
}
