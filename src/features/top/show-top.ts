import {anySignal} from '../../base/async/any-signal.js';
import {ConfigError} from '../../base/errors.js';
import {formatJson, type Json} from '../../format/json.js';
import type {
  CommandContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {formatListTable} from '../lists/list-flags.js';
import {parsePodManager, type PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import {lastTopEvents, topColumns, topEventLines, topPods, topRows} from './metrics/top-table.js';
import {formatSorted, type OutputFormat} from '../../cli/output/parse-output-format.js';
import {canRedraw, repeatSample, tableScreen} from '../../cli/output/watch-screen.js';
import {parseLabelSelector} from '../pods/label-selector.js';
import {failureText, TopNodes, type SampledNodes} from './metrics/top-nodes.js';
import {TOP_EVENTS, type TopSelection} from './metrics/top-sampler.js';
import {isTerminalInput} from '../../cli/terminal/terminal-input.js';

/** Output format of `top`. */
type TopForm = OutputFormat<'table' | 'json' | 'yaml'>;

/** Options of showTop. */
interface TopOptions extends TopSelection {
  readonly flags: PodSelectionFlagValues & {readonly 'no-headers'?: boolean};
  /** True if one sample is printed, rather than a screen redrawn until Ctrl-C. */
  readonly once: boolean;
  readonly form: TopForm;
}

/**
 * Shows pods with their usage and recent events. Resolves immediately, with errors reported, if all named pods are
 * missing.
 */
export async function showTop(services: CommandContext, options: TopOptions): Promise<void> {
  const {flags, once} = options;
  // Mistakes in the flags end the command; later errors are those of a node.
  parseLabelSelector(flags.selector ?? '');
  parsePodManager(flags.manager);
  const nodes = await TopNodes.open(services, options);
  if (!(await nodes.havePods())) return;
  if (once) await printTable(services, nodes, options);
  else if (!canFillScreen(services)) await showTable(services, nodes, options);
  else {
    const {runTopScreen} = await import('./run-top-screen.js');
    await runTopScreen(services, nodes, options);
  }
}

/** Prints one table. Rejects with the error of a single node; of several nodes, those that fail are reported. */
async function printTable(
  services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
  nodes: TopNodes,
  {words, flags, pauseMs, form}: TopOptions,
): Promise<void> {
  const {context, out, report, signal} = services;
  await nodes.sample({isPatient: true});
  // CPU usage requires two samples.
  await context.clock.sleep(pauseMs, signal);
  const last = await nodes.sample({isPatient: true});
  const sampled = {
    ...last,
    samples: last.samples.filter(({node, isStale}) => node === undefined || !isStale),
  };
  const {nodeError} = await import('../nodes/query-all-nodes.js');
  for (const {node, error} of sampled.failures) {
    if (node !== undefined) report.fail(nodeError(node, error));
    else if (nodes.remoteName !== undefined) throw error;
  }
  if (nodes.areSeveral && words.length > 0 && sampled.samples.every(({pods}) => pods.length === 0))
    report.fail(new ConfigError(`no node has a pod ${words.map((word) => `"${word}"`).join(' or ')}`));
  if (form.kind !== 'table') out.printData(await documentOf(form, sampled));
  else out.printText(textOf(services, nodes, sampled, flags['no-headers'] === true));
}

/** Redraws a table until Ctrl-C. */
async function showTable(
  services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
  nodes: TopNodes,
  {flags, pauseMs}: TopOptions,
): Promise<void> {
  const {context, out, report} = services;
  using either = anySignal(services.signal, out.stdout.closed);
  const {signal} = either;
  const warnings = new Set<string>();
  // They would garble the screen elsewhere.
  if (canRedraw(out, context))
    report.redirectWarnings((text) => {
      warnings.add(text);
    });
  const screen = tableScreen(out, {context, warn: report.warn});
  const sample = async () => await nodes.sample({isPatient: false});
  try {
    for await (const sampled of repeatSample(sample, {clock: context.clock, pauseMs, signal})) {
      screen.show({
        text: textOf(services, nodes, sampled, flags['no-headers'] === true),
        warnings: [...warnings, ...nodeWarnings(nodes, sampled)],
      });
      await out.stdout.ready(signal);
    }
  } catch (error) {
    // Ctrl-C ends a watch normally.
    if (!signal.aborted) throw error;
  } finally {
    screen.end();
    report.redirectWarnings(undefined);
  }
}

/** Returns warnings about nodes that failed. The reader of pods warns about the runtime of this machine. */
function nodeWarnings({areSeveral, remoteName}: TopNodes, {failures}: SampledNodes): readonly string[] {
  return areSeveral || remoteName !== undefined ? failures.map(failureText) : [];
}

function textOf(
  {out}: OutputContext,
  {areSeveral}: TopNodes,
  {samples, nowMs}: SampledNodes,
  bare: boolean,
): string {
  const pods = samples.flatMap(topPods);
  const table = formatListTable(topColumns(pods, {hasNodes: areSeveral}), topRows(pods), {
    'no-headers': bare,
    narrow: true,
    forTerminal: out.shouldEscapeControls,
  }).toString();
  const events = topEventLines(lastTopEvents(samples, TOP_EVENTS), nowMs);
  return events.length === 0 ? table : `${table}\n${events.join('\n')}\n`;
}

/** Formats a sample; of rows, each pod is one. */
async function documentOf(form: Exclude<TopForm, {kind: 'table'}>, {samples}: SampledNodes): Promise<string> {
  const document = {pods: samples.flatMap(topPods), events: lastTopEvents(samples, TOP_EVENTS)};
  const {pods, events} = JSON.parse(JSON.stringify(document)) as Record<'pods' | 'events', readonly Json[]>;
  if (form.kind === 'rows') return form.render(pods);
  return form.kind === 'json' ? `${formatJson({pods, events})}\n` : await formatSorted(form, {pods, events});
}

/** Terminals without an alternate screen, or with too few characters. */
const PLAIN_TERMINALS: ReadonlySet<string> = new Set(['', 'dumb', 'linux', 'unknown', 'cons25', 'emacs']);

/** Reports whether the terminal can show a view that fills the screen: it takes keys and has an alternate screen. */
function canFillScreen({context: {env, stdin}, out}: EnvironmentContext & OutputContext): boolean {
  return out.stdout.isTerminal && isTerminalInput(stdin) && !PLAIN_TERMINALS.has(env['TERM'] ?? '');
}
