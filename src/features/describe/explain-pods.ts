import {omit} from '../../base/omit.js';
import type {ChalkInstance} from 'chalk';
import {Chalk} from 'chalk';
import type {
  ConnectionContext,
  EnvironmentContext,
  OutputContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {escapeControlsAsJson, escapeToLine} from '../../format/escape-controls.js';
import {explainRunningPod, lacksSpec, type ExplainedConfig} from '../../kubelet/index.js';
import {readCommandNode} from '../manifests/read-command-node.js';
import {explainedYaml, explanationData, messageLines} from '../plan/explained-fields.js';
import type {ListedPod, ShownPod} from '../pods/listed-pod.js';
import {formatPodTitle} from '../pods/pod-title.js';

type Context = ConnectionContext & EnvironmentContext & OutputContext & SettingsContext & SignalContext;

/** Explained configs of a pod. */
export interface ExplainedPod extends Pick<ListedPod, 'namespace' | 'name' | 'uid'> {
  readonly configs: readonly ExplainedConfig[];
}

/** Explanations of pods as text and as data. */
export interface ExplainedPods {
  text(): string;
  data(kind: string): Promise<string>;
}

/** Reads the configs of pods from the runtime, and explains them. Rejects with CriError. */
export async function explainPods(services: Context, shown: readonly ShownPod[]): Promise<ExplainedPods> {
  const pods: ExplainedPod[] = [];
  for (const {listed} of shown) pods.push(await explainPod(services, listed));
  return presentExplanations(services, pods);
}

/** Returns explained configs as text and as data. */
export function presentExplanations(services: OutputContext, pods: readonly ExplainedPod[]): ExplainedPods {
  const chalk = new Chalk({level: services.out.colors ? 1 : 0});
  return {
    text: () => `${pods.map((pod) => podText(pod, chalk)).join('\n\n')}\n`,
    data: async (kind) => (kind === 'yaml' ? await podsYaml(pods) : podsJson(pods)),
  };
}

/**
 * Explains the configs of a pod, or of one of its sandboxes or containers; of a pod without a record the manifest is unknown.
 * Rejects with CriError.
 */
export async function explainPod(services: Context, listed: ListedPod, id?: string): Promise<ExplainedPod> {
  const {namespace, name, uid, record} = listed;
  const connection = record === undefined ? undefined : await services.connections.open(record.endpoint);
  const node = await readCommandNode(services, {}, connection);
  const pod = record === undefined || lacksSpec(record) ? undefined : record.pod;
  const placed = record === undefined ? node : {...node, node: {...node.node, ...record.place}};
  const configs = await explainRunningPod(placed, {ref: {namespace, name, uid}, pod, id}, services.signal);
  return {namespace, name, uid, configs};
}

function podText(pod: ExplainedPod, chalk: ChalkInstance): string {
  const title = chalk.bold(escapeToLine(`pod ${formatPodTitle(pod)} (uid ${pod.uid})`));
  if (pod.configs.length === 0) return `${title}: the runtime does not report the configs`;
  return [title, ...pod.configs.flatMap((config) => configLines(config, chalk))].join('\n');
}

/** Returns the lines of a config with its explanations. */
function configLines(
  {target, config, fields, unverified}: ExplainedConfig,
  chalk: ChalkInstance,
): readonly string[] {
  const note = unverified === undefined ? '' : ` (not compared with the manifest: ${unverified})`;
  return [
    `  ${escapeToLine(`${target}${note}`)}:`,
    ...messageLines(config, fields, chalk).map((line) => `    ${line}`),
  ];
}

function podsJson(pods: readonly ExplainedPod[]): string {
  const data = pods.map(({configs, ...pod}) => ({
    ...pod,
    configs: configs.map(({fields, ...config}) => ({...config, explanations: explanationData(fields)})),
  }));
  return `${escapeControlsAsJson(JSON.stringify(data, undefined, 2))}\n`;
}

async function podsYaml(pods: readonly ExplainedPod[]): Promise<string> {
  const data = pods.map(({configs, ...pod}) => ({
    ...pod,
    configs: configs.map((config) => omit(config, 'fields')),
  }));
  const parts = pods.flatMap(({configs}, pod) =>
    configs.map(({fields}, index) => ({at: [pod, 'configs', index, 'config'], fields})),
  );
  return `${await explainedYaml(data, parts)}\n`;
}
